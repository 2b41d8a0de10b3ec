"""Ops that rearrange elements or take windows of them."""
