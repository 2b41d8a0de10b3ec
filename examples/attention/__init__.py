"""Attention with online softmax: the program, and a command that runs it on a real model's first layer."""
