"""``@prim_func`` and ``@intrinsic``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import overload

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir import tir
from tilefoundry.ir.verify import verify_prim_function
from tilefoundry.python.members import Authored, the_function
from tilefoundry.python.names import Resolver, enclosing_names, is_class_body
from tilefoundry.python.parser import Session
from tilefoundry.python.prim.function import Options, parse_prim_func
from tilefoundry.python.prim.intrinsics import Intrinsic
from tilefoundry.python.prim.members import PrimMember
from tilefoundry.python.sites import at
from tilefoundry.python.source import function_source
from tilefoundry.target import Target


@overload
def prim_func(function: Callable[..., object], /) -> tir.PrimFunction: ...
@overload
def prim_func(
    *, target: Target | None = None, output_count: int = 1, inplace: Mapping[str, str] | None = None
) -> Callable[[Callable[..., object]], tir.PrimFunction]: ...
def prim_func(
    function: Callable[..., object] | None = None,
    /,
    *,
    target: Target | None = None,
    output_count: int = 1,
    inplace: Mapping[str, str] | None = None,
    **unknown: object,
) -> object:
    """Turns a Python function into a PrimFunction: a kernel, or a host function that launches kernels.

    Args:
        target: what it is written for; the Module's when left out.
        output_count: how many of the last parameters are written.
        inplace: outputs that are an input, updated in place: from the output's name to the input's.

    Raises:
        VerifyError: the program is malformed; located in the author's file.
        WrongTypeError: what is decorated is not a plain function, or an argument is unknown or of the wrong type.
    """
    frame = sys._getframe(1)
    with at(frame):
        for name in unknown:
            raise WrongTypeError(
                f"@prim_func: unexpected argument '{name}'",
                remedy="@prim_func takes target, output_count and inplace; @module declares topologies",
            )
        options = _options(target, output_count, inplace)
        if function is not None:
            return _prim_func(function, frame, options)

    def decorate(decorated: object) -> object:
        frame = sys._getframe(1)
        with at(frame):
            return _prim_func(decorated, frame, options)

    return decorate


def _options(target: object, output_count: object, inplace: object) -> Options:
    if target is not None and not isinstance(target, Target):
        raise WrongTypeError(
            f"@prim_func: target must be a Target, got {target!r}",
            remedy='write an instance, such as CudaTarget("nvidia.h200_sxm") or CpuTarget()',
        )
    if isinstance(output_count, bool) or not isinstance(output_count, int):
        raise WrongTypeError(f"@prim_func: output_count must be an int, got {output_count!r}", remedy="write a number")
    pairs = inplace if inplace is not None else {}
    if not isinstance(pairs, Mapping) or not all(isinstance(n, str) for pair in pairs.items() for n in pair):
        raise WrongTypeError(
            f"@prim_func: inplace must map output names to input names, got {inplace!r}",
            remedy='write inplace={"out": "x"}',
        )
    return Options(target, output_count, dict(pairs))


def _prim_func(decorated: object, frame: FrameType, options: Options) -> tir.PrimFunction | PrimMember:
    function = the_function("@prim_func", decorated)
    definition = Authored(function, enclosing_names(frame))
    if is_class_body(frame):
        known = frame.f_locals.get(function.__name__)
        if known is not None and known is not function:
            raise WrongValueError(
                f"the class has a member '{function.__name__}' already",
                span=definition.span,
                remedy="give each member a name of its own",
            )
        return PrimMember(definition, options)
    parsed = parse_prim_func(function, Resolver(function, enclosing=definition.enclosing), Session(), options)
    verify_prim_function(parsed)
    return parsed


def intrinsic(function: Callable[..., object], /) -> Intrinsic:
    """Makes a statement of the author's own for kernels: calling it in a ``@prim_func`` writes out its body there.

    The parameters have no annotations: they stand for what the call gives, tensors, scalars or compile-time values.

    Raises:
        WrongTypeError: what is decorated is not a plain function, or a parameter is variadic or has a default.
    """
    frame = sys._getframe(1)
    with at(frame):
        definition = Authored(the_function("@intrinsic", function), enclosing_names(frame))
        source = function_source(definition.function)
        a = source.node.args
        for extra in (a.vararg, a.kwarg):
            if extra is not None:
                raise WrongTypeError(
                    f"@intrinsic: parameter '{extra.arg}' is variadic",
                    span=source.span(extra),
                    remedy="declare plain parameters",
                )
        for default in (*a.defaults, *(d for d in a.kw_defaults if d is not None)):
            raise WrongTypeError(
                "@intrinsic: a parameter with a default value",
                span=source.span(default),
                remedy="declare plain parameters; capture constants by name",
            )
    return Intrinsic(definition)
