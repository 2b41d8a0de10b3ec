"""Programs as text."""

from tilefoundry.ir.text.module import canonical_module_text

__all__ = ["canonical_module_text"]
