"""Kernels in a C++ program."""
