"""Whole programs, compiled where they run, beside what torch has for the same."""
