"""Lowerings of the ops of convolution."""
