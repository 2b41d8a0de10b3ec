"""Lowerings of the reduce ops."""
