"""Ops on placements."""
