"""Lowerings of the ops that read or write elements at positions given by an index tensor or a scalar."""
