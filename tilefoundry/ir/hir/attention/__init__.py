"""Ops of attention."""
