"""The CUDA wrapper around a kernel body."""
