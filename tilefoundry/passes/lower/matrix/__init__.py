"""Lowerings of the matrix ops."""
