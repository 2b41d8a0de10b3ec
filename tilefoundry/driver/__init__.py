"""From a program to a callable: lower, build, compile, jit, load, and the caches.

Names are imported when they are first used: building a library ahead of time needs no loader, and so no torch.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilefoundry.driver.dump import DumpFlags as DumpFlags
    from tilefoundry.driver.dump import DumpScope as DumpScope
    from tilefoundry.driver.inputs import normalize_to_module as normalize_to_module
    from tilefoundry.driver.just_in_time import jit as jit
    from tilefoundry.driver.options import CompilerOptions as CompilerOptions
    from tilefoundry.driver.pipeline import build as build
    from tilefoundry.driver.pipeline import compile as compile
    from tilefoundry.driver.pipeline import load as load
    from tilefoundry.driver.pipeline import lower as lower
    from tilefoundry.driver.tune_report import TuneReport as TuneReport
    from tilefoundry.driver.tuning import tune as tune

# Where each name comes from; the imports above say the same to type checkers.
_HOME_OF = {
    "CompilerOptions": "tilefoundry.driver.options",
    "DumpFlags": "tilefoundry.driver.dump",
    "DumpScope": "tilefoundry.driver.dump",
    "TuneReport": "tilefoundry.driver.tune_report",
    "build": "tilefoundry.driver.pipeline",
    "compile": "tilefoundry.driver.pipeline",
    "jit": "tilefoundry.driver.just_in_time",
    "load": "tilefoundry.driver.pipeline",
    "lower": "tilefoundry.driver.pipeline",
    "normalize_to_module": "tilefoundry.driver.inputs",
    "tune": "tilefoundry.driver.tuning",
}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    """Imports a public name on first use (PEP 562)."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
