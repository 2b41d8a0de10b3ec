"""Lowerings of the ops of attention."""
