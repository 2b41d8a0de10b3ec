"""Benchmarks of the library against what people would use instead, as ratios from one run."""
