"""Tests of the runtime that need the whole library: compiled entries, and a table of its statements."""
