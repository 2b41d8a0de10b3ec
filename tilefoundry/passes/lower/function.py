"""One HIR function to one TIR kernel."""

from __future__ import annotations

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.hir import Reshard
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.tir import Item
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.depth import room_for_deep_programs
from tilefoundry.passes.lower.held_parts import with_held_parts
from tilefoundry.passes.lower.outputs import store_results
from tilefoundry.passes.names import Names
from tilefoundry.passes.results import results_of


def lower_function(
    module: Module, fn: Function, tensor_cores: bool
) -> tuple[tuple[Var, ...], tuple[Var, ...], list[Item], Names]:
    """The inputs, the outputs and the statements of the kernel of ``fn``, before pipelining and memory planning.

    Args:
        tensor_cores: whether the target may have them.

    Raises:
        VerifyError: the placement cannot be compiled; says what and where.
    """
    _check_one_body(fn)
    _check_elements(fn)
    body = fn.body
    assert body is not None
    results = tuple(map(_in_memory, with_held_parts(results_of(body))))
    ctx = Lowering(module, results, tensor_cores)
    for param in fn.params:
        ctx.names.fresh(param.name)
        ctx.remember(param, param)
    outputs = tuple(_output(ctx, result, k, len(results)) for k, result in enumerate(results))
    with room_for_deep_programs():
        store_results(ctx, results, outputs)
    return tuple(fn.params), outputs, ctx.items, ctx.names


def _check_one_body(fn: Function) -> None:
    """A kernel has one body, and serves every extent that its parameters declare."""
    for pattern in fn.specializations:
        raise VerifyError(
            f"this variant of '{fn.name}' serves '{pattern.dim_var}' in [{pattern.lo}, {pattern.hi}) only, and a "
            "kernel serves every extent that its parameters declare",
            span=fn.span,
            remedy="compile tilefoundry.ir.specialize_module(module, "
            f'{{"{pattern.dim_var}": DimVar("{pattern.dim_var}", {pattern.lo}, {pattern.hi})}}), of the prototype',
        )


def _check_elements(fn: Function) -> None:
    """An element takes whole bytes: elements below a byte have no address, in memory or in a tensor from outside."""
    assert fn.body is not None
    for expr in (*fn.params, *post_order(fn.body)):
        if isinstance(expr.type, TensorType) and expr.type.dtype is DType.f4e2m1:
            raise VerifyError(
                f"elements of {expr.type.dtype} take half a byte, and a kernel's elements take whole bytes",
                span=span_of(expr.metadata) or fn.span,
                remedy="hold them as fp8e4m3, which has all values of f4e2m1",
            )


def _in_memory(result: Expr) -> Expr:
    """A result in the memory that the caller gives, where its op leaves open which one: extents, say, and numbers."""
    type_ = tensor_type(result)
    if not type_.rank or type_.storage is not StorageKind.UMAT:
        return result
    return Call(Reshard(Layout(type_.shape), StorageKind.GMEM), (result,), metadata=result.metadata)


def _output(ctx: Lowering, result: Expr, k: int, count: int) -> Var:
    type_ = tensor_type(result)
    if type_.shape and type_.storage is not StorageKind.GMEM:  # a scalar is written from wherever it is
        ctx.refuse(
            result,
            f"a result lies in global memory, got {type_.storage}",
            remedy="end with tf.reshard(x, <layout>, 'gmem')",
        )
    name = ctx.names.fresh("out" if count == 1 else f"out{k}")
    return Var(name, TensorType(type_.shape, type_.dtype, None, StorageKind.GMEM))
