"""Lowerings of the norm ops."""
