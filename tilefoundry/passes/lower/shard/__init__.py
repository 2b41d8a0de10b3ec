"""Lowerings of the shard ops."""
