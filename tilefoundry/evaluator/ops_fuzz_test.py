"""Ops made of anything: they type and evaluate, or are refused by an error of the one family, and nothing else."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import torch

from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.dtypes import TORCH
from tilefoundry.ir.core import Call, Expr, Function, Tuple, Var, op_names, schemas_named
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, dim_add, evaluate_dim
from tilefoundry.ir.shard import Layout, Partial, ShardAttr, ShardLayout, Split, make_mesh
from tilefoundry.ir.types import StorageKind, TensorType, make_tensor_type

N = DimVar("N", 0, 9)
EXTENTS: tuple[Expr | int, ...] = (0, 1, 2, 3, N, dim_add(N, 1))
SECONDS = 8.0
OPERANDS = 0.7  # how often an operand is that of its neighbour, which is how shapes come to fit

ATTRIBUTES: list[object] = [
    0, 0, 1, 1, 2, 3, 7, -1, -2, True, None, "x", 1.5, float("nan"), 1 << 70, -(1 << 70), N, [1],
    (), (0,), (0, 1), (1, 0), (1, 1), (-1,), (2, -1), (1, 2, 3, 4), (N,), ("a",), (1 << 70,),
    "f32", "bf16", make_tensor_type((3,), "i32"), make_tensor_type((N,), "f32"),
]  # fmt: skip


def operand(rng: random.Random) -> Expr | int:
    shape = tuple(rng.choice((1, 2, 3, 4)) for _ in range(rng.choice((1, 2, 4))))
    anything = tuple(rng.choice(EXTENTS) for _ in range(rng.randint(0, 4)))
    makers: list[Callable[[], Expr | int]] = [
        lambda: Var("x", make_tensor_type(shape, rng.choice(("f32", "f32", "bf16", "i64", "bool")))),
        lambda: Var("x", make_tensor_type(shape, rng.choice(("f32", "i64")))),
        lambda: Var(
            "x", make_tensor_type(anything, rng.choice([d.name for d in TORCH]), rng.choice(("gmem", "smem", "rmem")))
        ),
        lambda: placed(rng),
        lambda: Var("i", INDEX_TYPE),
        lambda: rng.choice((0, 1, -1, 5)),
        lambda: Tuple(tuple(rng.choice((0, 0, 1, 5, -1)) for _ in range(rng.randint(0, 4)))),
    ]
    return rng.choice(makers)()


def placed(rng: random.Random) -> Expr:
    states: tuple[ShardAttr, ...] = (Split(0), rng.choice((Split(1), Partial("sum"), Partial("max"))))
    sl = ShardLayout(Layout((8, 4, 2), (0, 0, 1)), states, make_mesh((8, 4)))
    return Var("x", make_tensor_type((8, 4, 2), rng.choice(("f32", "i64")), "rmem", sl))


def attempt(rng: random.Random, name: str) -> Call | None:
    """A call of an op on anything, or None where it is refused."""
    schema = rng.choice(schemas_named("tf", name))
    given = {p.name: rng.choice(ATTRIBUTES) for p in schema.attributes if p.required or rng.random() < 0.5}
    args: list[Expr | int] = []
    for param in schema.inputs:
        for _ in range(rng.randint(0, 3) if param.variadic else 1):
            args.append(args[-1] if args and rng.random() < OPERANDS else operand(rng))
    try:
        call = Call(schema.build(**given), tuple(args))
    except TileFoundryError:
        return None
    assert hash(call.target) == hash(schema.build(**given))
    return call


def values(call: Call) -> dict[Var, torch.Tensor]:
    """An input for each parameter of a call."""
    found: dict[Var, torch.Tensor] = {}
    for arg in call.args:
        if isinstance(arg, Var):
            assert isinstance(arg.type, TensorType) and arg.type.storage is not StorageKind.HOST
            shape = tuple(evaluate_dim(d, {"N": 3}) for d in arg.type.shape)
            found[arg] = torch.randint(-1, 4, shape).to(TORCH[arg.type.dtype])
    return found


def test_ops_of_anything() -> None:
    rng, names = random.Random(20261130), op_names("tf")
    typed = evaluated = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        call = attempt(rng, rng.choice(names))
        if call is None:
            continue
        typed += 1
        inputs = values(call)
        for precision in ("declared", "f64"):
            try:
                evaluate(Function("f", tuple(inputs), call, call.type), *inputs.values(), precision=precision)
                evaluated += 1
            except TileFoundryError:
                pass
    assert typed > 100 and evaluated > 100, f"{typed} calls typed, {evaluated} values"
