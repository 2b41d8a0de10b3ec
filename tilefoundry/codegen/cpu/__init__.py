"""The CPU wrapper around a kernel body."""
