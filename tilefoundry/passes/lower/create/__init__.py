"""Lowerings of the create ops."""
