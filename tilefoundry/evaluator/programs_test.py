"""Programs against torch: windows, loops, precision, and the refusal of wrong inputs."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import DimVar, Mesh, T, Tensor, Topology, tf, tile
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.testing import assert_same, sample
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.hir import Binary, BinaryKind
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.python import func, prim_func

# -- windows


@pytest.mark.parametrize("extent", [1, 7, 8, 9, 30])
def test_tile_windows_read_zeros_and_write_nothing_beyond_the_end(extent: int) -> None:
    n = DimVar("n", 1, 100)

    @func
    def f(x: Tensor[(n, 3), "f32"], y: Tensor[(n, 3), "f32"]) -> Tensor[(n, 3), "f32"]:
        out = y
        for i in tile(n, 8):
            ones = tf.full_like(x[i], 1.0)
            out = tf.insert_slice(out, x[i + 2] - x[i + -3] + ones, (i, 0))
        return out

    x, y = torch.randn(extent, 3), torch.randn(extent, 3)
    later = torch.cat([x, torch.zeros(2, 3)])[2:]
    earlier = torch.cat([torch.zeros(3, 3), x])[:extent]
    kept = x.clone(), y.clone()
    value = evaluate(f, x, y)
    assert isinstance(value, torch.Tensor)
    assert_same(value, later - earlier + 1.0)
    assert_same(x, kept[0])
    assert_same(y, kept[1])


def test_run_time_window_out_of_range() -> None:
    n = DimVar("n", 1, 100)

    @func
    def f(x: Tensor[(n,), "f32"]) -> Tensor[(4,), "f32"]:
        y = tf.zeros(Tensor[(4,), "f32"])
        for i in range(3):
            y = y + x[i : i + 4]
        return y

    @func
    def g(x: Tensor[(n,), "f32"]) -> Tensor[(n,), "f32"]:
        y = x
        for i in range(3):
            y = tf.insert_slice(y, x[0:4], (i,))
        return y

    x = torch.arange(6.0)
    assert_same(evaluate(f, x), x[:4] + x[1:5] + x[2:6])  # type: ignore[arg-type]
    with pytest.raises(EvalError, match=r"Slice window exceeds axis 0: elements 2 to 5 of extent 5") as caught:
        evaluate(f, x[:5])
    assert caught.value.span is not None
    with pytest.raises(ValueError, match="insert_slice exceeds axis 0"):
        evaluate(g, x[:5])


def test_loops() -> None:
    n = DimVar("n", 1, 100)

    @func
    def f(x: Tensor[(n, n), "i64"], k: Tensor[(), "i64"]) -> Tensor[(n,), "i64"]:
        total = tf.zeros(Tensor[(n,), "i64"])
        count = tf.zeros(Tensor[(n,), "i64"])
        for i in range(1, n, 2):
            for j in range(i):
                total = total + x[i, :] * x[j, :] + i * 2 - j + k
                count = count + 1
        return total * count

    for size in (1, 2, 7):
        x = torch.randint(-5, 5, (size, size))
        total = torch.zeros(size, dtype=torch.int64)
        count = 0
        for i in range(1, size, 2):
            for j in range(i):
                total += x[i] * x[j] + i * 2 - j + 7
                count += 1
        assert_same(evaluate(f, x, 7), total * count)  # type: ignore[arg-type]


def test_the_last_iteration_gives_what_a_loop_without_carries_computes() -> None:
    @func
    def f(x: Tensor[(6,), "f32"]) -> Tensor[(4,), "f32"]:
        for i in tile(6, 4):
            for j in range(1, 6, 3):
                y = x[i] * x[j]
        return y

    x = torch.arange(6.0)
    value = evaluate(f, x)
    assert isinstance(value, torch.Tensor)
    assert_same(value, torch.tensor([16.0, 20.0, 0.0, 0.0]))


def test_writing_in_place_is_not_seen() -> None:
    """Loops that only write windows update one buffer; whoever else reads the values before and after keeps them."""

    @func
    def f(x: Tensor[(4, 2), "f32"]) -> tuple[Tensor[(4, 2), "f32"], Tensor[(4, 2), "f32"], Tensor[(4, 2), "f32"]]:
        base = tf.zeros(Tensor[(4, 2), "f32"])
        out = base
        for i in range(4):
            out = tf.insert_slice(out, x[i], (i, 0))
        again = out
        for i in range(2):
            row = base
            for j in range(2):  # 'base' is the same in each outer iteration
                row = tf.insert_slice(row, x[i : i + 1, j : j + 1] * 10.0, (i, j))
            again = again + row
        return base, out, again

    x = torch.arange(8.0).reshape(4, 2)
    base, out, again = evaluate(f, x)
    assert_same(base, torch.zeros(4, 2))
    assert_same(out, x)
    assert_same(again, x + torch.cat([x[:2] * 10.0, torch.zeros(2, 2)]))
    assert_same(x, torch.arange(8.0).reshape(4, 2))


def test_local_has_one_value_only_where_nothing_is_split() -> None:
    @func(topologies=(Topology("thread", 128),))
    def f(x: Tensor[(4, 2), "f32"]) -> Tensor[(4, 2), "f32"]:
        with Mesh(("thread",), (1, 128), ("a", "b")) as t:
            return tf.local(tf.reshard(x, (1 @ t.a, 4, 2), "rmem"))

    @func(topologies=(Topology("thread", 4),))
    def g(x: Tensor[(4, 2), "f32"]) -> Tensor[(1, 2), "f32"]:
        with Mesh(("thread",), (4,), ("w",)) as t:
            return tf.local(tf.reshard(x, (4 @ t.w, 2), "rmem"))

    x = torch.randn(4, 2)
    assert_same(evaluate(f, x), x)
    with pytest.raises(
        EvalError, match=r"copies disagree at element \(0, 0\): thread 0 holds .*, thread 1 holds"
    ) as caught:
        evaluate(g, x)
    assert caught.value.span is not None


# -- precision and inputs


def test_f64_neither_rounds_nor_returns_less() -> None:
    @func
    def f(x: Tensor[(64, 64), "bf16"]) -> Tensor[(64, 64), "bf16"]:
        y = tf.cast(tf.matmul(x, x, out_dtype="f32") * 0.1, "bf16")
        return tf.exp(y / 16.0) - tf.where(y > 0.3, y, -1e30)

    x = sample((64, 64), DType.bf16)
    y = (x.double() @ x.double()) * 0.1
    value = evaluate(f, x, precision="f64")
    torch.testing.assert_close(value, torch.exp(y / 16.0) - torch.where(y > 0.3, y, -1e30), rtol=1e-15, atol=0)


def test_inputs_are_validated() -> None:
    n, m = DimVar("n", 2, 10), DimVar("m", 1, 10)

    @func
    def f(x: Tensor[(n, 4), "f32"], y: Tensor[(n, m), "i32"], z: Tensor[(n * 2,), "f32"]) -> Tensor[(n, 4), "f32"]:
        return x

    good = (torch.zeros(3, 4), torch.zeros(3, 5, dtype=torch.int32), torch.zeros(6))
    assert evaluate(f, *good) is not good[0]
    bad: list[tuple[str, tuple[object, ...]]] = [
        (r"takes 3 input\(s\) \(x, y, z\), got 2", good[:2]),
        ("'x': expected dtype f32, got f64", (good[0].double(), *good[1:])),
        ("'x': expected rank 2", (torch.zeros(3), *good[1:])),
        ("'x' axis 1: expected extent 4, got 5", (torch.zeros(3, 5), *good[1:])),
        ("inconsistent binding of 'n': 3 by 'x' axis 0, 4 by 'y' axis 0", (good[0], torch.zeros(4, 5).int(), good[2])),
        (r"'z' axis 0: expected extent .* = 6, got 7", (*good[:2], torch.zeros(7))),
        (r"outside its envelope \[2, 10\)", (torch.zeros(1, 4), torch.zeros(1, 5).int(), torch.zeros(2))),
        ("expected a torch.Tensor of f32, got list", ([[0.0]], *good[1:])),
        ("more than one device: x: meta, y: cpu", (good[0].to("meta"), *good[1:])),
    ]
    for message, inputs in bad:
        with pytest.raises(EvalError, match=message):
            evaluate(f, *inputs)
    with pytest.raises(EvalError, match="more than one device"):
        evaluate(f, *good, device="meta")
    with pytest.raises(EvalError, match="unknown precision"):
        evaluate(f, *good, precision="f16")
    with pytest.raises(TypeError, match="expected a Function or a Module"):
        evaluate(lambda x: x, good[0])  # type: ignore[arg-type]


def test_kernels_are_not_evaluated() -> None:
    @prim_func
    def kernel(x: Tensor[(4,), "f32"], y: Tensor[(4,), "f32"]):
        T.copy(x, y)

    definition = kernel.entry_function() if isinstance(kernel, Module) else kernel
    for given in (definition, Module("m", (definition,), entry="kernel")):
        with pytest.raises(TypeError, match="'kernel' is a kernel in TIR, which is not evaluated"):
            evaluate(given, torch.zeros(4), torch.zeros(4))


def test_scalar_inputs() -> None:
    @func
    def f(x: Tensor[(2,), "f32"], a: Tensor[(), "f32"], n: Tensor[(), "i32"]) -> Tensor[(2,), "f32"]:
        return x * a + tf.cast(n, "f32")

    x = torch.tensor([1.0, 2.0])
    assert_same(evaluate(f, x, 0.5, 3), x * 0.5 + 3)  # type: ignore[arg-type]
    assert_same(evaluate(f, x, torch.tensor(0.5), torch.tensor(3, dtype=torch.int32)), x * 0.5 + 3)  # type: ignore[arg-type]
    with pytest.raises(EvalError, match="expected a Python int"):
        evaluate(f, x, 0.5, 3.0)


def test_a_call_is_evaluated_on_its_variables() -> None:
    x, y = (Var(name, TensorType((2,), DType.f32)) for name in "xy")
    call = Call(Binary(BinaryKind.SUB), (Call(Binary(BinaryKind.MUL), (y, y)), x))
    value = evaluate(call, torch.tensor([3.0, 4.0]), torch.tensor([1.0, 2.0]))  # y stands first
    assert_same(value, torch.tensor([8.0, 14.0]))
    with pytest.raises(EvalError, match=r"'call' takes 2 input\(s\) \(y, x\), got 1"):
        evaluate(call, torch.zeros(2))


def test_gradients_are_not_recorded() -> None:
    @func
    def f(x: Tensor[(2,), "f32"]) -> Tensor[(2,), "f32"]:
        return x * x

    value = evaluate(f, torch.ones(2, requires_grad=True))
    assert isinstance(value, torch.Tensor)
    assert not value.requires_grad
