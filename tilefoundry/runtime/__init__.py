"""Both surfaces of the runtime: what runs a Module, and how results are compared.

Names are imported when they are first used: the compiler imports `tilefoundry.runtime.abi`, and needs neither torch nor
a loader.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilefoundry.runtime.abi import EntryABI as EntryABI
    from tilefoundry.runtime.abi import ParamABI as ParamABI
    from tilefoundry.runtime.abi import entry_abi_of as entry_abi_of
    from tilefoundry.runtime.abi import param_abi_of as param_abi_of
    from tilefoundry.runtime.compiled import CompiledModule as CompiledModule
    from tilefoundry.runtime.decorator import runtime_func as runtime_func
    from tilefoundry.runtime.decorator import runtime_module as runtime_module
    from tilefoundry.runtime.function import RuntimeFunction as RuntimeFunction
    from tilefoundry.runtime.generation import Generation as Generation
    from tilefoundry.runtime.generation import Sampling as Sampling
    from tilefoundry.runtime.generation import generate as generate
    from tilefoundry.runtime.measure import PREDICATES as PREDICATES
    from tilefoundry.runtime.measure import AllClose as AllClose
    from tilefoundry.runtime.measure import Cosine as Cosine
    from tilefoundry.runtime.measure import Equal as Equal
    from tilefoundry.runtime.measure import MaxAbs as MaxAbs
    from tilefoundry.runtime.measure import MaxRel as MaxRel
    from tilefoundry.runtime.measure import NanInf as NanInf
    from tilefoundry.runtime.measure import OutputCheck as OutputCheck
    from tilefoundry.runtime.measure import Predicate as Predicate
    from tilefoundry.runtime.measure import PredicateResult as PredicateResult
    from tilefoundry.runtime.measure import RelL2 as RelL2
    from tilefoundry.runtime.measure import Report as Report
    from tilefoundry.runtime.measure import Ulp as Ulp
    from tilefoundry.runtime.measure import check as check
    from tilefoundry.runtime.module import RuntimeModule as RuntimeModule
    from tilefoundry.runtime.resource import Absolute as Absolute
    from tilefoundry.runtime.resource import DictResource as DictResource
    from tilefoundry.runtime.resource import Preprocessed as Preprocessed
    from tilefoundry.runtime.resource import RuntimeResource as RuntimeResource
    from tilefoundry.runtime.resource import SafetensorsResource as SafetensorsResource

# Where each name comes from; the imports above say the same to type checkers.
_HOMES = {
    "tilefoundry.runtime.abi": ("EntryABI", "ParamABI", "entry_abi_of", "param_abi_of"),
    "tilefoundry.runtime.compiled": ("CompiledModule",),
    "tilefoundry.runtime.decorator": ("runtime_func", "runtime_module"),
    "tilefoundry.runtime.function": ("RuntimeFunction",),
    "tilefoundry.runtime.generation": ("Generation", "Sampling", "generate"),
    "tilefoundry.runtime.measure": (
        *("PREDICATES", "AllClose", "Cosine", "Equal", "MaxAbs", "MaxRel", "NanInf", "OutputCheck"),
        *("Predicate", "PredicateResult", "RelL2", "Report", "Ulp", "check"),
    ),
    "tilefoundry.runtime.module": ("RuntimeModule",),
    "tilefoundry.runtime.resource": (
        *("Absolute", "DictResource", "Preprocessed", "RuntimeResource", "SafetensorsResource"),
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

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
