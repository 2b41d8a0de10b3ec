"""Programs as text: canonical, for keys, and as importable source."""

from tilefoundry.ir.text.module import canonical_function_text, canonical_module_text
from tilefoundry.ir.text.source import ScriptOptions, as_script

__all__ = ["ScriptOptions", "as_script", "canonical_function_text", "canonical_module_text"]
