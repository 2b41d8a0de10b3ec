"""A chain of kernels: an entry of HIR that calls placed functions becomes a host function that launches them."""

from __future__ import annotations

from collections.abc import Callable

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.hir import Reshape, TupleGetItem
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import TensorType
from tilefoundry.passes.names import Names
from tilefoundry.target import CpuTarget


def kernel_calls(fn: Function) -> tuple[Call, ...]:
    """The calls of functions that a body makes, in order; each is a kernel of its own."""
    parts = post_order(fn.body) if fn.body is not None else ()
    return tuple(e for e in parts if isinstance(e, Call) and isinstance(e.target, Function))


def called_kernels(fn: Function) -> tuple[Function, ...]:
    """The placed functions that a body calls, each once, in the order in which they first run."""
    called = {id(call.target): call.target for call in kernel_calls(fn)}
    return tuple(target for target in called.values() if isinstance(target, Function))


def lower_chain(
    fn: Function, name: str, lower_one: Callable[[Function, str], tir.PrimFunction]
) -> tuple[tir.PrimFunction, ...]:
    """The host function and its kernels, each once, in the order of their first launches.

    What a kernel writes for another lies in a global tensor of the host function; a result lies in an output.

    Args:
        fn: its body calls kernels, and does nothing else.
        name: of the host function.
        lower_one: lowers a placed function to a kernel of a name.
    """
    assert fn.body is not None
    results = fn.body.elements if isinstance(fn.body, Tuple) else (fn.body,)
    names = Names(param.name for param in fn.params)
    outputs: dict[tuple[int, int], Var] = {}
    held: dict[tuple[int, int], Var] = {}
    body: list[tir.Item] = []
    lowered = {id(kernel): lower_one(kernel, kernel.name) for kernel in called_kernels(fn)}
    for k, result in enumerate(results):
        call, part = _source(result)
        type_ = lowered[id(call.target)].outputs[part].type
        outputs[id(call), part] = Var(names.fresh("out" if len(results) == 1 else f"out{k}"), type_)
    for call in kernel_calls(fn):
        kernel = lowered[id(call.target)]
        args = [_argument(arg, held, names, body) for arg in call.args]
        for part, out in enumerate(kernel.outputs):
            var = outputs.get((id(call), part))
            if var is None:
                assert isinstance(out.type, TensorType)
                var = Var(names.fresh("between"), out.type)
                body.append(tir.Binding(var, Call(tir.AllocTensor(out.type), (), out.type)))
            held[id(call), part] = var
            args.append(var)
        launched = (tir.SymbolRef(kernel.name), Tuple(tuple(args)), Tuple(()), Tuple(()))
        body.append(tir.Evaluate(tir.Launch(), launched, metadata=call.metadata))
    params = (*fn.params, *(outputs[_key(result)] for result in results))
    host = tir.PrimFunction(name, params, tir.fold(body), len(results), CpuTarget(), metadata=fn.metadata)
    return host, *lowered.values()


def _argument(arg: Expr | int, held: dict[tuple[int, int], Var], names: Names, body: list[tir.Item]) -> Var:
    """What a kernel is launched on: a parameter, what a kernel has written, or that under other extents."""
    if isinstance(arg, Var):
        return arg
    if not (isinstance(arg, Call) and isinstance(arg.target, Reshape)):
        return held[_key(arg)]
    (memory,) = arg.args
    seen = Call(tir.TensorView(shape=arg.target.new_shape), (held[_key(memory)],))
    view = Var(names.fresh("view"), seen.type)
    body.append(tir.Binding(view, seen))
    return view


def _source(value: Expr | int) -> tuple[Call, int]:
    """The call that computes a value, and which of its values this is."""
    assert isinstance(value, Call)
    if isinstance(value.target, TupleGetItem):
        (call,) = value.args
        assert isinstance(call, Call)
        return call, value.target.index
    return value, 0


def _key(value: Expr | int) -> tuple[int, int]:
    call, part = _source(value)
    return id(call), part
