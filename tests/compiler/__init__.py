"""Tests of the compiler from end to end."""
