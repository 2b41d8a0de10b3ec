"""Names of a program as C++ identifiers."""

from __future__ import annotations

import re

# What a generated body says itself, next to the names of the program; and the keywords that Python allows as names.
_WORDS = """
Args Axes Int Layout Mesh Pipeline Shape ShardLayout Steps Stride SyncKind TopologyScope Vector WholeLayout args
bfloat16_t body cta_shared cute float_e4m3_t float_e5m2_t float_ue8m0_t global_tensor half_t int8_t int16_t int32_t
int64_t kCollective kSharedBytes kThreads make_coord make_shape make_tile_map op ops program_dim program_id
register_tensor shard shared_tensor std tilefoundry uint8_t view
and errno assert not or stdin stdout stderr
alignas alignof and_eq asm auto bitand bitor bool case catch char char8_t char16_t char32_t co_await co_return co_yield
compl concept const const_cast consteval constexpr constinit decltype default delete do double dynamic_cast enum
explicit export extern false float friend goto inline int long mutable namespace new noexcept not_eq nullptr operator
or_eq private protected public register reinterpret_cast requires short signed sizeof static static_assert static_cast
struct switch template this thread_local throw true typedef typeid typename union unsigned using virtual void volatile
wchar_t xor xor_eq
"""
_TAKEN = frozenset(_WORDS.split())


_ALIAS = re.compile(r"(Logical|Shard|Storage|ThreadMesh|Whole)\d+")


def identifier(name: str) -> str:
    """``name`` itself, or a spelling with an underscore behind it where C++ or the generated text may use that name.

    Names in capitals are macros of the C library as likely as not (NULL, INT_MAX), so they never stand as they are.
    """
    ascii_name = "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)
    taken = ascii_name in _TAKEN or ascii_name.startswith("dim_") or "__" in ascii_name
    taken = taken or bool(_ALIAS.fullmatch(ascii_name)) or (len(ascii_name) > 1 and ascii_name.isupper())
    return f"{ascii_name.replace('__', '_u_')}_" if taken or ascii_name != name else name
