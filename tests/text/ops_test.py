"""Every op prints by its surface name, with every kind of attribute."""

from __future__ import annotations

import re

import pytest

from tests.text.programs import PRELUDE
from tests.text.reading import assert_round_trip, execute
from tilefoundry import VerifyError

# Expressions over the parameters of `_SIGNATURE`.
CALLS = """\
tf.abs(x)
tf.add(x, y)
tf.add(x, 1.5)
tf.add(-0.0, x)
tf.add(1.0, 2.0)
tf.neg(2.0)
-x
-(x + y)
- -x
x - (y - x)
(x - y) - x
x - -1.5
x * (y / x)
(x + y) * -2.0
x / 3.0 / y
x @ tf.transpose(y, (1, 0))
(x * 2.0) @ (tf.transpose(y, (1, 0)) @ y)
n // -3 % 5
n % (n // 2)
x < y
(x < y) == b
b and x < 0.0
not b
tf.logical_or(b, False)
tf.pow(x, y)
tf.minimum(x, math.inf)
tf.maximum(-math.inf, x)
x + math.nan
tf.arange(Tensor[(64,), "i32"], start=3, step=-2)
tf.arange(Tensor[(M,), "i64"])
tf.argmax(x)
tf.argmin(x, axis=0)
tf.cast(x, "bf16")
tf.cast(h, DType.f64)
tf.clamp(x, -0.0, math.inf)
tf.clamp(x, min_val=-1e30, max_val=1e-30)
tf.concat(x, y, x, axis=-1)
tf.concat(x, axis=0)
tf.stack(x, y)
tf.cumsum(x, axis=1)
tf.expand(x, (3, 8, 64))
tf.flip(x, (0, 1))
tf.full_like(x, -0.0)
tf.full_like(x, math.nan)
tf.full_like(n, 3)
tf.full_like(b, True)
tf.gather(x, n, dim=1)
tf.gelu(x)
tf.gelu(x, approximate="none")
tf.index_add(x, n[0, :8], y, dim=0)
tf.index_select(x, n[0, :3], 1)
tf.layer_norm(x, y[0], x[0], axis=-1, eps=1e-12)
tf.matmul(h, tf.transpose(h, (1, 0)), out_dtype="f32")
tf.pad(x, (0, 1, 2, 0), value=-1.5)
tf.quant(x, group=32)
tf.rank(x)
tf.shape_of(z)
tf.reduce(x, (0, -1), False, ReduceKind.SUM)
tf.reduce(x, (1,))
tf.reduce(x, (1,), kind=ReduceKind.MAX)
tf.repeat_interleave(x, 2, 1)
tf.reshape(x, (4, 2, 64))
tf.reshape(z, (1, M, 64))
tf.rms_norm(x, y[0])
tf.rms_norm(x, y[0], eps=0.1)
tf.silu(x)
tf.sigmoid(x)
tf.softmax(x, axis=0)
tf.softplus(x)
tf.square(x)
tf.squeeze(x[0:1], 0)
tf.unsqueeze(x, -1)
tf.where(b, x, 1.0)
tf.where(x < 1.0, 0.5, y)
tf.zeros(Tensor[(M * 2, 3), "u8"])
tf.zeros(Tensor[(4, 4), "f16", ((4, 4), (1, 4)), "smem"])
tf.reshard(x, (8, 64), "smem")
tf.reshard(x, Layout((8, 64), (1, 8)), "gmem")
tf.transpose(x, perm=(1, 0))
z[M - 3:, 1::9]
z[1:M]
x[-1]
x[2:2]
x[:, 5:60:7]
tf.slice(x, (tf.cast(1, "i64"), tf.cast(2, "i64")), sizes=(2, 3), strides=(1, 2), drop=(), boundary=("zero", "error"))
tf.insert_slice(x, y[0], (3, 0))
tf.insert_slice(x, y[:, 0:1], (0, 7))
tf.insert_slice(z, z[0], (M - 1, 0))
tf.insert_slice(z, y[:2, 0:1], (at, n[0, 1]))
tf.attention(q, q, q)
tf.attention(q, q, q, scale=0.125, causal=True)
tf.cache_update(q, at, 3, q[:, :3])
tf.topk(x, 4)
tf.topk(x, k=3, axis=0, largest=False, sorted=False)
tf.sort(x, descending=True)
tf.split(x, axis=1, num_splits=4)
tf.rope(q, q, x[:, :32], y[:, :32], n[0:1, :8])
tf.conv2d(q, tf.zeros(Tensor[(6, 4, 1, 1), "f32"]), stride=(1, 2), padding=(1, 0), groups=2)
""".splitlines()


_SIGNATURE = """\
@func
def f(
    x: Tensor[(8, 64), "f32"], y: Tensor[(8, 64), "f32"], h: Tensor[(8, 64), "bf16"], n: Tensor[(8, 64), "i64"],
    b: Tensor[(8, 64), "bool"], z: Tensor[(M, 64), "f32"], q: Tensor[(2, 8, 4, 32), "f32"], at: Tensor[(), "i32"]
) -> {result}:
    return {call}
"""


def result_of(call: str) -> str:
    """The annotation of a call: the front end names the type of the value when it refuses another."""
    with pytest.raises(VerifyError) as caught:
        execute(PRELUDE + _SIGNATURE.format(result='Tensor[(77, 77), "u8"]', call=call))
    found = re.search(r"its value is (.*)", caught.value.message)
    assert found, caught.value
    return _annotation(found[1].splitlines()[0])


def _annotation(type_: str) -> str:
    """A printed type as an annotation that leaves the layout open."""
    tensors = re.findall(r"Tensor\[(\([^)]*\)), (\w+)", type_)
    parts = [f'Tensor[{shape}, "{dtype}"]' for shape, dtype in tensors]
    return parts[0] if len(parts) == 1 and not type_.startswith("(") else f"tuple[{', '.join(parts)}]"


@pytest.mark.parametrize("call", CALLS)
def test_a_call(call: str) -> None:
    made = execute(PRELUDE + _SIGNATURE.format(result=result_of(call), call=call))
    assert_round_trip(made["f"])  # type: ignore[arg-type]


def test_calls_that_share_and_take_apart_tuples() -> None:
    made = execute(
        PRELUDE
        + """\
@func
def f(x: Tensor[(8, 64), "f32"]) -> tuple[Tensor[(8, 4), "f32"], Tensor[(8, 4), "i64"], Tensor[(8, 32), "f32"]]:
    values, places = tf.topk(x, 4)
    again, _ = tf.sort(x, descending=True)
    values = values + again[:, :4]
    return values, places, x[:, :32]
"""
    )
    assert_round_trip(made["f"])  # type: ignore[arg-type]
