"""Programs as text: canonical, for keys, and as importable source."""

from tilefoundry.ir.text.as_script import as_script
from tilefoundry.ir.text.module import canonical_module_text

__all__ = ["as_script", "canonical_module_text"]
