// The iterator of every tensor in checking mode: an access through it is looked at before it happens.
#pragma once

#include <tilefoundry/runtime/core/numeric.h>
#include <tilefoundry/runtime/cpu/checked_call.h>
#include <tilefoundry/runtime/cpu/checked_scope.h>

#include <cute/pointer.hpp>
#include <cute/pointer_swizzle.hpp>
#include <type_traits>

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

template <class T>
class CheckedPointer;

/// One element, as a value that is read when it is used and written when it is assigned.
template <class T>
class CheckedReference {
 public:
  using value_type = std::remove_const_t<T>;

  CheckedReference(T* at, checked::Memory* memory) : at_(at), memory_(memory) {}
  CheckedReference(CheckedReference const&) = default;

  operator value_type() const {
    if (memory_) memory_->read(target::here(), address(), sizeof(T));
    return *at_;
  }

  template <class U,
            class = std::enable_if_t<std::is_arithmetic<U>::value && !std::is_same<U, value_type>::value &&
                                     !std::is_arithmetic<value_type>::value>>
  explicit operator U() const {
    return static_cast<U>(static_cast<value_type>(*this));
  }

  CheckedReference const& operator=(value_type value) const {
    if (memory_) memory_->write(target::here(), address(), &value, sizeof(T), checked::Write::plain);
    *at_ = value;
    return *this;
  }
  CheckedReference const& operator=(CheckedReference const& other) const {
    return *this = static_cast<value_type>(other);
  }
  CheckedPointer<T> operator&() const { return {at_, memory_}; }

 private:
  char* address() const { return reinterpret_cast<char*>(const_cast<value_type*>(at_)); }

  T* at_;
  checked::Memory* memory_;
};

/// A pointer into a tensor's memory; memory that checking mode does not know is not checked.
template <class T>
class CheckedPointer {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  using reference = CheckedReference<T>;

  CheckedPointer() = default;
  CheckedPointer(T* at, checked::Memory* memory) : at_(at), memory_(memory) {}
  template <class U, class = std::enable_if_t<std::is_convertible<U*, T*>::value>>
  CheckedPointer(CheckedPointer<U> const& other) : at_(other.unchecked()), memory_(other.memory()) {}

  reference operator*() const { return {at_, memory_}; }
  template <class Index>
  reference operator[](Index const& i) const {
    return *(*this + i);
  }
  template <class Index>
  CheckedPointer operator+(Index const& i) const {
    return {at_ + static_cast<int64_t>(i), memory_};
  }
  CheckedPointer operator-(int64_t i) const { return {at_ - i, memory_}; }
  friend int64_t operator-(CheckedPointer const& a, CheckedPointer const& b) { return a.at_ - b.at_; }

  explicit operator bool() const { return at_ != nullptr; }

  T* unchecked() const { return at_; }
  checked::Memory* memory() const { return memory_; }

  friend bool operator==(CheckedPointer const& a, CheckedPointer const& b) { return a.at_ == b.at_; }
  friend bool operator!=(CheckedPointer const& a, CheckedPointer const& b) { return a.at_ != b.at_; }

 private:
  T* at_ = nullptr;
  checked::Memory* memory_ = nullptr;
};

/// Drops what says where memory resides, as of a plain pointer, and keeps the checks.
template <class T>
CheckedPointer<T> raw_pointer_cast(CheckedPointer<T> const& p) {
  return p;
}

template <class To, class T>
auto recast_ptr(CheckedPointer<T> const& p) {
  using Element = cute::copy_cv_t<T, To>;
  return CheckedPointer<Element>(reinterpret_cast<Element*>(p.unchecked()), p.memory());
}

template <class To, class T>
To convert(CheckedReference<T> const& element) {
  return convert<To>(static_cast<std::remove_const_t<T>>(element));
}

namespace detail {

template <class T>
auto widen(CheckedReference<T> const& element) {
  return widen(static_cast<std::remove_const_t<T>>(element));
}

}  // namespace detail

namespace target {

/// An asynchronous copy of `valid` of `Bytes` bytes; zeroes behind them.
template <int Bytes, class T, class Source>
void async_copy(CheckedPointer<T> const& dst, Source const& src, int valid) {
  constexpr int count = Bytes / static_cast<int>(sizeof(T));
  checked::Here const self = here();
  for (int i = 0; i < count; ++i) {
    std::remove_const_t<T> value{};
    if (i * static_cast<int>(sizeof(T)) < valid) {
      value = src[i];
      if (self.cta && src.memory()) {
        auto const* from = reinterpret_cast<char const*>(src.unchecked() + i);
        self.cta->start(self.thread, from, sizeof(T), src.memory());
      }
    }
    T* const at = dst.unchecked() + i;
    if (dst.memory())
      dst.memory()->write(self, reinterpret_cast<char*>(at), &value, sizeof(T),
                          self.cta ? checked::Write::in_flight : checked::Write::plain);
    *at = value;
  }
}

template <class T>
void atomic_add(CheckedPointer<T> const& p, T value) {
  if (p.memory()) {
    char* const at = reinterpret_cast<char*>(p.unchecked());
    p.memory()->write(here(), at, &value, sizeof(T), checked::Write::atomic);
  }
  atomic_add(p.unchecked(), value);
}

}  // namespace target
}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry

namespace cute {

// For calls that name the namespace; others find the ones above by their argument.
template <class T>
auto raw_pointer_cast(tilefoundry::CheckedPointer<T> const& p) {
  return p;
}

/// The library's own finds the permuted address by way of plain pointers, which have no memory.
template <class Swizzle, class T>
struct swizzle_ptr<Swizzle, smem_ptr<tilefoundry::CheckedPointer<T>>>
    : iter_adaptor<smem_ptr<tilefoundry::CheckedPointer<T>>,
                   swizzle_ptr<Swizzle, smem_ptr<tilefoundry::CheckedPointer<T>>>> {
  using Base = iter_adaptor<smem_ptr<tilefoundry::CheckedPointer<T>>, swizzle_ptr>;
  using Base::Base;
  using reference = tilefoundry::CheckedReference<T>;

  reference operator*() const { return permuted(this->get().get()); }
  template <class Index>
  reference operator[](Index const& i) const {
    return permuted(this->get().get() + i);
  }

 private:
  static reference permuted(tilefoundry::CheckedPointer<T> const& p) {
    uintptr_t const at = Swizzle::apply(reinterpret_cast<uintptr_t>(p.unchecked()));
    return {reinterpret_cast<T*>(at), p.memory()};
  }
};

}  // namespace cute
