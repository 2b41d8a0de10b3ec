"""Passes: IR to IR. One pass, one file; none of them knows torch."""

from tilefoundry.passes.program import lower

__all__ = ["lower"]
