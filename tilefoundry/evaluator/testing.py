"""For tests: inputs, and the comparison with torch."""

from __future__ import annotations

import torch

from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.context import EvalContext
from tilefoundry.evaluator.dtypes import TORCH, torch_dtype
from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.op import schemas_named
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


def assert_same(value: torch.Tensor, expected: torch.Tensor) -> None:
    assert value.dtype == expected.dtype
    if value.dtype.is_floating_point and value.element_size() == 1:  # torch compares none of these
        value, expected = value.contiguous().view(torch.uint8), expected.contiguous().view(torch.uint8)
    torch.testing.assert_close(value, expected, rtol=0, atol=0, equal_nan=True)


def apply(name: str, *inputs: torch.Tensor, precision: str = "declared", **attributes: object) -> torch.Tensor:
    """The value of one op on these inputs."""
    names = {value: key for key, value in TORCH.items()}
    params = tuple(Var(f"x{k}", TensorType(tuple(x.shape), names[x.dtype])) for k, x in enumerate(inputs))
    body = Call(schemas_named("tf", name)[0].build(**attributes), params)
    value = evaluate(Function("f", params, body, body.type), *inputs, precision=precision)
    assert isinstance(value, torch.Tensor)
    assert isinstance(body.type, TensorType)
    assert tuple(value.shape) == body.type.shape
    assert value.dtype == (
        torch.float64 if precision == "f64" and value.is_floating_point() else torch_dtype(body.type.dtype)
    )
    return value


def apply_to_each(name: str, *inputs: torch.Tensor, **attributes: object) -> torch.Tensor:
    """One op on the inputs of several participants, along a leading axis of all of them, under vmap.

    Checks that each participant's value is what the op gives on its inputs alone.
    """
    names = {value: key for key, value in TORCH.items()}
    params = tuple(Var(f"x{k}", TensorType(tuple(x.shape[1:]), names[x.dtype])) for k, x in enumerate(inputs))
    body = Call(schemas_named("tf", name)[0].build(**attributes), params)
    ctx = EvalContext(torch.device("cpu"), False, {})
    evaluator = EVALUATORS[type(body.target)]  # type: ignore[index]  # an op
    values = torch.func.vmap(lambda *each: evaluator(ctx, body.target, body, each))(*inputs)
    assert isinstance(values, torch.Tensor)
    for k, value in enumerate(values):
        assert_same(value, apply(name, *(x[k] for x in inputs), precision="declared", **attributes))
    return values
