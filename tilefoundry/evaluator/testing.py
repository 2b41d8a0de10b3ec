"""For tests: inputs, and the comparison with torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.context import EvalContext
from tilefoundry.evaluator.dtypes import TORCH, torch_dtype
from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.op import schemas_named
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.types import DType, TensorType


def sample(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> torch.Tensor:
    """Values of moderate size, negative ones and equal ones among them where the dtype has such."""
    generator = torch.Generator().manual_seed(seed)
    if dtype is DType.f8e8m0:  # powers of two, without zero
        return torch.exp2(torch.randint(-4, 5, shape, generator=generator)).to(torch_dtype(dtype))
    if dtype is DType.bool:
        return torch.rand(shape, generator=generator) > 0.5
    low = 0 if dtype is DType.u8 else -4
    if dtype.is_integer:
        return torch.randint(low, 5, shape, generator=generator).to(torch_dtype(dtype))
    return (torch.randint(-16, 17, shape, generator=generator) / 4).to(torch_dtype(dtype))


def assert_same(value: torch.Tensor, expected: torch.Tensor, tolerance: float = 0) -> None:
    """Refuses another dtype, shape or value; the tolerance is relative to magnitudes above 1, absolute below."""
    assert value.dtype == expected.dtype
    if value.dtype.is_floating_point and value.element_size() == 1:  # torch compares none of these
        value, expected = value.contiguous().view(torch.uint8), expected.contiguous().view(torch.uint8)
    torch.testing.assert_close(value, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def results(name: str, *inputs: torch.Tensor, precision: str = "declared", **attributes: object) -> list[torch.Tensor]:
    """The values of one op on these inputs, of the shapes and dtypes that its type rule gives."""
    body = _call(name, [tuple(x.shape) for x in inputs], inputs, attributes)
    params = tuple(arg for arg in body.args if isinstance(arg, Var))
    value = evaluate(Function("f", params, body, body.type), *inputs, precision=precision)
    values = value if isinstance(value, tuple) else (value,)
    types = body.type.fields if isinstance(body.type, TupleType) else (body.type,)
    for value, type_ in zip(values, types, strict=True):
        assert isinstance(value, torch.Tensor) and isinstance(type_, TensorType)
        assert tuple(value.shape) == type_.shape
        wanted = torch.float64 if precision == "f64" and type_.dtype.is_float else torch_dtype(type_.dtype)
        assert value.dtype == wanted
    return list(values)


def apply(name: str, *inputs: torch.Tensor, precision: str = "declared", **attributes: object) -> torch.Tensor:
    """The value of one op that has one."""
    (value,) = results(name, *inputs, precision=precision, **attributes)
    return value


def apply_to_each(name: str, *inputs: torch.Tensor, tolerance: float = 0, **attributes: object) -> torch.Tensor:
    """The (first) value of one op on the inputs of several participants, along a leading axis of all, under vmap.

    Checks that each participant's values are what the op gives on its inputs alone.
    """
    body = _call(name, [tuple(x.shape[1:]) for x in inputs], inputs, attributes)
    ctx = EvalContext(torch.device("cpu"), False, {})
    evaluator = EVALUATORS[type(body.target)]  # type: ignore[index]  # an op
    together = torch.func.vmap(lambda *each: evaluator(ctx, body.target, body, each))(*inputs)
    values = together if isinstance(together, tuple) else (together,)
    for k, of_each in enumerate(values):
        for participant, value in enumerate(of_each):
            alone = results(name, *(x[participant] for x in inputs), **attributes)[k]  # type: ignore[arg-type]
            assert_same(value, alone, tolerance)
    first = values[0]
    assert isinstance(first, torch.Tensor)
    return first


def _call(
    name: str, shapes: Sequence[tuple[int, ...]], inputs: Sequence[torch.Tensor], attributes: Mapping[str, object]
) -> Call:
    dtypes = {value: key for key, value in TORCH.items()}
    types = [TensorType(shape, dtypes[x.dtype]) for shape, x in zip(shapes, inputs, strict=True)]
    return Call(schemas_named("tf", name)[0].build(**attributes), tuple(Var(f"x{k}", t) for k, t in enumerate(types)))
