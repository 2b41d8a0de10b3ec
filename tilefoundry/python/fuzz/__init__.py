"""Fuzzing of the front end: valid programs, and what is done to them."""
