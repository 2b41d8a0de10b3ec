"""The importable rendering: Python source in the surface language."""
