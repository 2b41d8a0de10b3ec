"""Ops that make tensors from nothing."""
