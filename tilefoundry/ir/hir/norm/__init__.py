"""Ops that scale a tensor by statistics of its axes."""
