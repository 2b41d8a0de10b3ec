"""The public interface: rules, macros and providers for CUDA code."""

load("//cuda/private:cuda_library.bzl", _cuda_library = "cuda_library")
load("//cuda/private:cuda_objects.bzl", _cuda_objects = "cuda_objects")
load("//cuda/private:macros.bzl", _cuda_binary = "cuda_binary", _cuda_test = "cuda_test", _requires_cuda = "requires_cuda")
load("//cuda/private:providers.bzl", _CudaInfo = "CudaInfo")
load("//cuda/private:toolchain.bzl", _cuda_toolchain = "cuda_toolchain")

CudaInfo = _CudaInfo
cuda_binary = _cuda_binary
cuda_library = _cuda_library
cuda_objects = _cuda_objects
cuda_test = _cuda_test
cuda_toolchain = _cuda_toolchain
requires_cuda = _requires_cuda
