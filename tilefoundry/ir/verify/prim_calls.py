"""Calls, launches and dispatches of kernels: symbols name one function, which takes what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NoReturn

from tilefoundry.diagnostics import SourceSpan, VerifyError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Constant, Expr, Tuple, type_of
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.shard import ShardLayout
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import TensorType
from tilefoundry.ir.types.matching import Bindings, bind_type
from tilefoundry.target import CpuTarget, CudaTarget


def resolve_symbol(
    fn: tir.PrimFunction, module: Module | None, symbol: tir.SymbolRef, span: SourceSpan | None
) -> tir.PrimFunction:
    """The function that a symbol names, among the module's and `fn`'s own callees.

    Raises:
        VerifyError: there is none, more than one, or it is no PrimFunction.
    """
    path = (symbol.name, *symbol.nested)
    holder: Module | None = module
    for child in path[:-1]:
        holder = holder.child_named(child) if holder is not None else None
    found: list[object] = list(holder.function_named(path[-1])) if holder is not None else []
    if not symbol.nested:
        found += [callee for callee in fn.callees if callee.name == symbol.name and callee not in found]
    if len(found) != 1:
        known = [f.name for f in (*(module.functions if module is not None else ()), *fn.callees)]
        raise VerifyError(
            f"symbol '{symbol}' names {'no function' if not found else f'{len(found)} functions'}",
            span=span,
            remedy=f"there are: {', '.join(sorted(set(known))) or 'none'}",
        )
    callee = found[0]
    if not isinstance(callee, tir.PrimFunction):
        raise VerifyError(
            f"symbol '{symbol}' names a function of HIR", span=span, remedy="call a @prim_func; lower the other first"
        )
    if callee.name == fn.name and callee.params == fn.params:
        raise VerifyError(f"'{fn.name}' calls itself", span=span, remedy="write the repetition as a loop")
    return callee


def check_call(
    fn: tir.PrimFunction,
    module: Module | None,
    symbol: tir.SymbolRef,
    args: Sequence[Expr | int],
    span: SourceSpan | None,
    launched: bool = False,
) -> tir.PrimFunction:
    """The function that is called on `args`, or `launched`.

    Raises:
        VerifyError: as `resolve_symbol`; a function of another target is called; the number of arguments is wrong, or
            one has another type than its parameter.
    """
    span = span_of(symbol.metadata) or span or fn.span
    callee = resolve_symbol(fn, module, symbol, span)
    if not launched and fn.target is not None and callee.target is not None and fn.target.name != callee.target.name:
        raise VerifyError(
            f"'{fn.name}' runs on {fn.target.name} and calls '{symbol}', which runs on {callee.target.name}",
            span=span,
            remedy=f"launch it: launch({symbol}, ..., grid=(1, 1, 1), block=(128, 1, 1))",
        )
    if len(args) != len(callee.params):
        names = ", ".join(p.name for p in callee.params)
        raise VerifyError(
            f"'{symbol}' takes {len(callee.params)} argument(s) ({names}), got {len(args)}",
            span=span,
            remedy="pass one argument for each parameter",
        )
    bindings: Bindings = {}
    for param, arg in zip(callee.params, args, strict=True):
        type_, wanted = type_of(arg), param.type
        scalar = isinstance(wanted, TensorType) and isinstance(type_, TensorType) and not wanted.shape
        assert isinstance(wanted, TensorType)
        if scalar and isinstance(type_, TensorType):
            fits = not type_.shape and type_.dtype == wanted.dtype  # passed by value, from whatever memory
        else:
            fits = bind_type(wanted, type_, bindings) and _same_memory(wanted, type_)
        if not fits:
            raise VerifyError(
                f"'{symbol}': parameter '{param.name}' has the type {wanted}, the argument {type_} (type mismatch)",
                span=span,
                remedy="pass a tensor of the declared shape, dtype, layout and memory",
            )
    return callee


def _same_memory(wanted: TensorType, given: object) -> bool:
    return isinstance(given, TensorType) and wanted.storage is given.storage


def check_launch(fn: tir.PrimFunction, module: Module | None, item: tir.Evaluate, span: SourceSpan | None) -> None:
    """Checks a launch: who launches, what, and on how many units.

    Raises:
        VerifyError: as `check_call`; a kernel launches, an extent is no expression over the parameters of `fn`, or the
            block is not the one that the kernel's meshes are made for.
    """
    symbol, args, grid, block = item.args
    assert isinstance(symbol, tir.SymbolRef) and isinstance(args, Tuple)  # the op's rule says so
    assert isinstance(grid, Tuple) and isinstance(block, Tuple)
    span = span or fn.span
    if isinstance(fn.target, CudaTarget):
        raise VerifyError(
            f"'{fn.name}' is written for a GPU and launches a kernel",
            span=span,
            remedy="launch from a host function: @prim_func(target=CpuTarget())",
        )
    for name, extents in (("grid", grid), ("block", block)):
        for extent in extents.elements:
            _check_extent(fn, name, extent, span_of(extents.metadata) or span)
    callee = check_call(fn, module, symbol, args.elements, span, launched=True)
    if not block.elements:
        return  # on the kernel's own meshes
    threads = _static_product(block)
    level = thread_level(callee)
    if level is not None and threads is not None and threads != level:
        raise VerifyError(
            f"launch: '{callee.name}' is written for {level} threads in a CTA, and 'block' has {threads}",
            span=span_of(block.metadata) or span,
            remedy=f"write block=({level}, 1, 1)",
        )
    if threads is not None and threads > 1024 and not isinstance(callee.target, CpuTarget):
        raise VerifyError(
            f"launch: a block of {threads} threads is above the limit 1024",
            span=span_of(block.metadata) or span,
            remedy="launch more CTAs of fewer threads",
        )


def _check_extent(fn: tir.PrimFunction, name: str, extent: Expr | int, span: SourceSpan | None) -> None:
    if not isinstance(extent, Expr):
        raise VerifyError(
            f"launch: an extent of '{name}' is the plain {extent!r}, expected an expression",
            span=span,
            remedy="write a Constant of i32",
        )
    for part in post_order(extent):
        if isinstance(part, DimVar):
            raise VerifyError(
                f"launch: '{name}' names the extent '{part.name}' itself, expected that of a parameter",
                span=span,
                remedy=f"take it from a parameter that has it on an axis: {_axis_of(fn, part)}",
            )


def _axis_of(fn: tir.PrimFunction, extent: DimVar) -> str:
    for param in fn.params:
        shape = param.type.shape if isinstance(param.type, TensorType) else ()
        if extent in shape:
            return f"{param.name}.shape[{shape.index(extent)}]"
    return "x.shape[0]"


def _static_product(extents: Tuple) -> int | None:
    product = 1
    for extent in extents.elements:
        if not isinstance(extent, Constant) or not isinstance(extent.value, int):
            return None
        product *= extent.value
    return product


def thread_level(fn: tir.PrimFunction) -> int | None:
    """How many threads of a CTA a kernel is written for: the size of the thread level of its meshes."""
    meshes = [s.mesh for s in tir.items_within(tir.unfold(fn.body)) if isinstance(s, tir.MeshScope)]
    for param in fn.params:
        layout = param.type.layout if isinstance(param.type, TensorType) else None
        meshes += [layout.mesh] if isinstance(layout, ShardLayout) else []
    for mesh in meshes:
        for level in mesh.topologies:
            if level.name == "thread" and isinstance(level.size, int):
                return level.size
    return None


def check_dispatch(fn: tir.PrimFunction, item: tir.DispatchCall) -> None:
    """Checks a dispatch: one extent, a range for each case, an Abort for the rest.

    Raises:
        VerifyError: it has another form.
    """
    name, span = item.callee_name, item.span or fn.span

    def refuse(message: str, remedy: str) -> NoReturn:
        raise VerifyError(f"dispatch of '{name}': {message}", span=span, remedy=remedy)

    if len(item.subjects) != 1 or not isinstance(item.subjects[0], tir.ShapeOf):
        refuse("expected one extent of a parameter to look at", "dispatch on x.shape[0]")
    if not item.case_patterns or len(item.case_patterns) != len(item.case_calls):
        refuse(f"{len(item.case_patterns)} pattern(s) for {len(item.case_calls)} call(s)", "give each case one of each")
    if not all(isinstance(call.callable, tir.SymbolRef) for call in item.case_calls):
        refuse("a case calls no function", "call a @prim_func in each case")
    subject = item.subjects[0]
    declared = subject.param.type.shape[subject.axis]  # type: ignore[attr-defined]  # a tensor's
    for pattern in item.case_patterns:
        if not isinstance(declared, DimVar) or pattern.dim_var != declared.name:
            refuse(f"a pattern is about '{pattern.dim_var}', and {subject} is {declared}", "match the extent's DimVar")
    ranges = sorted((pattern.lo, pattern.hi) for pattern in item.case_patterns)
    for (_, hi), (lo, _) in pairwise(ranges):
        if lo < hi:
            refuse(f"two cases serve {lo}", "let the ranges of the cases not overlap")
    if not isinstance(item.fallback, tir.Abort):
        refuse("the fallback must be an Abort", "say what is wrong with other extents")
