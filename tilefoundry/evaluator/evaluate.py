"""The entry of the evaluator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import torch

from tilefoundry.diagnostics import EvalError, WrongTypeError
from tilefoundry.evaluator.collect import check_complete, collected
from tilefoundry.evaluator.context import EvalContext, Value
from tilefoundry.evaluator.engine import Engine
from tilefoundry.evaluator.expansion import asks_for_units, bind_levels, units_of
from tilefoundry.evaluator.inputs import bind_extents, check_inputs, check_served
from tilefoundry.ir.core.execution import RunOptions
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.loaded import LoadedModule
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.unfinished import check_finished
from tilefoundry.ir.elaborate import Elaborator, called_prototypes
from tilefoundry.ir.shard import Mesh
from tilefoundry.ir.specialize import residual_dims, specialize_function
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.traverse import free_variables, post_order
from tilefoundry.ir.variants import check_variants, variant_for

PRECISIONS = ("declared", "f64")


def evaluate(
    function: Function | Module | LoadedModule | Call,
    *inputs: object,
    backend: str = "torch",
    precision: str = "declared",
    device: torch.device | str | None = None,
    mesh: Mesh | None = None,
    children: Mapping[str, Callable[..., object]] | None = None,
) -> object:
    """The value of a function on these inputs, as torch computes it.

    Of a prototype, the one variant that serves the inputs' extents is evaluated. A program that reads no mesh
    coordinate and takes no unit's own part is evaluated on logical tensors. Any other one is evaluated over the units
    of its meshes: values on which units differ have axes for the units in front.

    Args:
        function: of a Module, its entry; of a LoadedModule, its entry on the weights that were read; of a Call, the
            variables that it reaches are the parameters, in the order of the program.
        inputs: one for each declared parameter (for a LoadedModule, for each that is no weight), of exactly the
            declared dtype; all on one device.
        backend: "torch", the only one.
        precision: "declared" computes each op in its declared dtype; "f64" computes every float in f64 without
            rounding casts, and returns f64: a reference for what the program means.
        device: where to run; by default where the inputs are. It must agree with them.
        mesh: evaluate over the units of the program's meshes even where logical tensors would do, with as many units
            on each level as this mesh has. It must agree with the sizes that the program declares, and gives those
            that a launch would.
        children: what runs the entries of child modules with weights, on activations alone, by the child's name. With
            `precision` or `mesh` it gets these as the keyword `options`, a RunOptions.

    Returns:
        A tensor, or a tuple of tensors. Inputs are never modified, and results share no memory with them.

    Raises:
        EvalError: the inputs do not fit, or a run-time value lies outside what an op accepts; the units have no one
            value: copies disagree where they are collected, terms of a Partial are never summed, an element is owned
            by nobody, or several units write different values to one element.
        VerifyError: the variants of a prototype do not serve every extent once, or have other parameters.
        WrongTypeError: `function` is none of these.
    """
    if backend != "torch":
        raise EvalError(f"evaluate: unknown backend {backend!r}", remedy='use "torch"')
    if precision not in PRECISIONS:
        raise EvalError(f"evaluate: unknown precision {precision!r}", remedy=f"use one of {', '.join(PRECISIONS)}")
    if mesh is not None and not isinstance(mesh, Mesh):
        raise WrongTypeError(
            f"evaluate: mesh must be a Mesh, got {type(mesh).__name__}",
            remedy="write mesh=Mesh((Topology('cta', 132),), Layout((132,)))",
        )
    options = RunOptions(precision, mesh)
    if isinstance(function, LoadedModule):
        if device is not None or children is not None:
            raise EvalError(
                "evaluate: a LoadedModule runs where its weights are, on its own children",
                remedy="leave device and children out, or evaluate its Module with every parameter",
            )
        return function.runner(function.module.entry_function())(*inputs, options=options)
    return run_function(_function(function), inputs, device, children, options)


def _function(given: object) -> Function:
    if isinstance(given, Module):
        given = given.entry_function()
    if isinstance(given, PrimFunction):
        raise WrongTypeError(
            f"evaluate: '{given.name}' is a kernel in TIR, which is not evaluated",
            remedy="compile it, and hold it against a function of HIR: tilefoundry.check",
        )
    if isinstance(given, Call):
        params = tuple(e for e in post_order(given) if isinstance(e, Var) and e in free_variables(given)[id(given)])
        return Function("call", params, given, given.type)
    check_finished(given)
    if not isinstance(given, Function):
        raise WrongTypeError(
            f"evaluate: expected a Function or a Module, got {type(given).__name__}",
            remedy="decorate the function with @func",
        )
    if given.variants:
        check_variants(given)  # a draft of the front end is not sealed yet
    return given


def _device(given: torch.device | str | None) -> torch.device | None:
    try:
        return None if given is None else torch.device(given)
    except (RuntimeError, TypeError) as error:
        raise EvalError(
            f"evaluate: device must name one of torch's devices, got {given!r}", remedy='write e.g. "cpu" or "cuda:0"'
        ) from error


def run_function(
    function: Function,
    inputs: tuple[object, ...],
    device: torch.device | str | None,
    children: Mapping[str, Callable[..., object]] | None,
    options: RunOptions,
) -> object:
    """The value of a function on one input for each declared parameter; see `evaluate`."""
    where = _device(device)
    exact = options.precision == "f64"
    tensors = check_inputs(function, inputs, where, widened=exact and options.is_inner)
    if where is None:
        where = tensors[0].device if tensors else torch.device("cpu")
    extents = bind_extents(function, tensors)
    function = variant_for(function, extents)
    check_served(function, extents)
    function = _without_calls(function, extents)
    body = function.body
    if body is None:
        raise EvalError(f"'{function.name}' is a prototype without variants", remedy="give it a body")
    check_complete(body, f"the result of '{function.name}'")
    if options.mesh is not None:
        extents = bind_levels(function, extents, options.mesh)
    units = units_of(function, extents) if options.mesh is not None or asks_for_units(body) else None
    ctx = EvalContext(where, exact, extents, children, units, dataclasses.replace(options, is_inner=True))
    with torch.no_grad():
        given = [x.to(torch.float64) if exact and x.is_floating_point() else x for x in tensors]
        engine = Engine(ctx, body, dict(zip(function.params, given, strict=True)))
        value = engine.value(body)
        if units is not None:
            value = collected(units, value, body, f"the result of '{function.name}'")
        return _fresh(ctx, value, {x.untyped_storage().data_ptr() for x in tensors})


def _without_calls(function: Function, extents: Mapping[str, int]) -> Function:
    """The function with the values of those that it calls; of a prototype, of the variant that the extents select."""
    elaborator = Elaborator()
    inlined = elaborator.without_calls(function)
    if called_prototypes(inlined):
        open_dims = {d.name: extents[d.name] for d in residual_dims(inlined) if d.name in extents}
        inlined = elaborator.without_calls(specialize_function(inlined, open_dims))
        assert not called_prototypes(inlined)  # every extent of a call is computed from these
    return inlined


def _fresh(ctx: EvalContext, value: Value, memory: set[int]) -> object:
    """The result in memory of its own."""
    if isinstance(value, tuple):
        return tuple(_fresh(ctx, v, memory) for v in value)
    if isinstance(value, int):
        return torch.tensor(value, dtype=torch.int64, device=ctx.device)
    assert isinstance(value, torch.Tensor)
    shared = value.untyped_storage().data_ptr() in memory and value.numel()
    return value.clone() if shared else value.contiguous()
