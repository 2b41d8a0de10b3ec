"""TileFoundry: write a model once as a tensor program, run it anywhere, and compile it to fast kernels.

The public API. Names are imported when they are first used, so that `import tilefoundry` needs neither torch nor a
compiler. This file is also the composition root: it tells the IR, which knows no tensor library, who runs functions.
"""

import importlib
from typing import TYPE_CHECKING

from tilefoundry.ir.core.execution import Executor, set_executor_loader

if TYPE_CHECKING:
    from tilefoundry.diagnostics import CompileError as CompileError
    from tilefoundry.diagnostics import EvalError as EvalError
    from tilefoundry.diagnostics import LaunchError as LaunchError
    from tilefoundry.diagnostics import TileFoundryError as TileFoundryError
    from tilefoundry.diagnostics import VerifyError as VerifyError
    from tilefoundry.driver.dump import DumpFlags as DumpFlags
    from tilefoundry.driver.dump import DumpScope as DumpScope
    from tilefoundry.driver.inputs import normalize_to_module as normalize_to_module
    from tilefoundry.driver.just_in_time import jit as jit
    from tilefoundry.driver.options import CompilerOptions as CompilerOptions
    from tilefoundry.driver.pipeline import build as build
    from tilefoundry.driver.pipeline import compile as compile
    from tilefoundry.driver.pipeline import load as load
    from tilefoundry.driver.pipeline import lower as lower
    from tilefoundry.driver.tuning import tune as tune
    from tilefoundry.dsl import B as B
    from tilefoundry.dsl import Broadcast as Broadcast
    from tilefoundry.dsl import ComposedLayout as ComposedLayout
    from tilefoundry.dsl import DimVar as DimVar
    from tilefoundry.dsl import DimVarRangePat as DimVarRangePat
    from tilefoundry.dsl import DType as DType
    from tilefoundry.dsl import Dynamic as Dynamic
    from tilefoundry.dsl import Layout as Layout
    from tilefoundry.dsl import Mesh as Mesh
    from tilefoundry.dsl import P as P
    from tilefoundry.dsl import Partial as Partial
    from tilefoundry.dsl import S as S
    from tilefoundry.dsl import ShardLayout as ShardLayout
    from tilefoundry.dsl import Split as Split
    from tilefoundry.dsl import Topology as Topology
    from tilefoundry.evaluator.evaluate import evaluate as evaluate
    from tilefoundry.ir.core import Call as Call
    from tilefoundry.ir.core import Constant as Constant
    from tilefoundry.ir.core import Op as Op
    from tilefoundry.ir.core import Var as Var
    from tilefoundry.ir.shard import LayoutBase as LayoutBase
    from tilefoundry.ir.text import as_script as as_script
    from tilefoundry.ir.types import TensorType as TensorType
    from tilefoundry.ir.types import TupleType as TupleType
    from tilefoundry.ir.types import Type as Type
    from tilefoundry.passes.manager import PassManager as PassManager
    from tilefoundry.python import func as func
    from tilefoundry.python import intrinsic as intrinsic
    from tilefoundry.python import module as module
    from tilefoundry.python import prim_func as prim_func
    from tilefoundry.runtime import check as check
    from tilefoundry.viewer import view as view

# Where each name comes from; the imports above say the same to type checkers.
_HOMES = {
    "tilefoundry.diagnostics": ("CompileError", "EvalError", "LaunchError", "TileFoundryError", "VerifyError"),
    "tilefoundry.driver.dump": ("DumpFlags", "DumpScope"),
    "tilefoundry.driver.inputs": ("normalize_to_module",),
    "tilefoundry.driver.just_in_time": ("jit",),
    "tilefoundry.driver.options": ("CompilerOptions",),
    "tilefoundry.driver.pipeline": ("build", "compile", "load", "lower"),
    "tilefoundry.driver.tuning": ("tune",),
    "tilefoundry.dsl": (
        *("B", "Broadcast", "ComposedLayout", "DType", "DimVar", "DimVarRangePat", "Dynamic", "Layout", "Mesh"),
        *("P", "Partial", "S", "ShardLayout", "Split", "Topology"),
    ),
    "tilefoundry.evaluator.evaluate": ("evaluate",),
    "tilefoundry.ir.core": ("Call", "Constant", "Op", "Var"),
    "tilefoundry.ir.shard": ("LayoutBase",),
    "tilefoundry.ir.text": ("as_script",),
    "tilefoundry.ir.types": ("TensorType", "TupleType", "Type"),
    "tilefoundry.passes.manager": ("PassManager",),
    "tilefoundry.python": ("func", "intrinsic", "module", "prim_func"),
    "tilefoundry.runtime": ("check",),
    "tilefoundry.viewer": ("view",),
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
    """The public names, and what is loaded already."""
    return sorted({*globals(), *__all__})


def _executor() -> Executor:
    from tilefoundry.runtime.executor import executor

    return executor()


set_executor_loader(_executor)
