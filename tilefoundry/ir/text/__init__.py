"""Programs as text: canonical, for keys, and as importable source."""

from tilefoundry.ir.text.source import as_script
from tilefoundry.ir.text.module import canonical_module_text

__all__ = ["as_script", "canonical_module_text"]
