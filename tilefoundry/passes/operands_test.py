"""Forms of operands: which tiles have one, and which fragments tensor cores take from registers."""

from __future__ import annotations

import pytest

from tilefoundry.dsl import Mesh, Tensor, Topology, tf
from tilefoundry.ir import tir
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.shard import (
    ComposedLayout,
    Layout,
    ShardLayout,
    Split,
    Swizzle,
    apply,
    make_mesh,
    per_unit_strides,
    with_strides,
)
from tilefoundry.ir.types import StorageKind, TensorType, make_tensor_type
from tilefoundry.passes import lower
from tilefoundry.passes.operands import is_left_operand, operand_tile, transposed
from tilefoundry.passes.sizes import alignment, storage_bytes
from tilefoundry.python import func
from tilefoundry.target import CpuTarget, CudaTarget


def tile(rows: int, columns: int, dtype: str = "bf16") -> TensorType:
    return make_tensor_type((rows, columns), dtype, "smem")


@pytest.mark.parametrize(
    ("columns", "width", "bits"), [(64, 64, 3), (128, 64, 3), (96, 32, 2), (32, 32, 2), (48, 16, 1), (16, 16, 1)]
)
def test_a_tile_lies_in_blocks_whose_rows_are_exchanged(columns: int, width: int, bits: int) -> None:
    found = operand_tile(tile(24, columns))
    assert found is not None and found.shape == (24, columns)
    assert isinstance(found.layout, ComposedLayout) and found.layout.inner == Swizzle(bits, 3, 3)
    taken = set()
    for r in range(24):
        for c in range(columns):
            place = apply(found.layout, (r, c))
            # bytes, chunks of 16 of them, and the number of the 128-byte line, as the instruction set defines the modes
            linear = 2 * (c // width * width * 24 + r * width + c % width)
            assert place == (linear ^ ((linear >> 7 & ((1 << bits) - 1)) << 4)) // 2
            taken.add(place)
    assert taken == set(range(24 * columns)), "nothing is padded, and no element lies on another"
    assert storage_bytes(found) == 48 * columns
    assert alignment(found) == max(128, 128 << bits)


@pytest.mark.parametrize("columns", [64, 32, 16])
def test_no_bank_serves_two_rows_of_a_column_at_once(columns: int) -> None:
    found = operand_tile(tile(8, columns))
    assert found is not None and found.layout is not None
    for c in range(0, columns, 8):  # what one phase of ldmatrix, or a store of a column, touches: 8 chunks of 16 bytes
        chunks = {apply(found.layout, (r, c)) // 8 % 8 for r in range(8)}  # type: ignore[operator,arg-type]
        assert len(chunks) == 8


@pytest.mark.parametrize(
    "type_",
    [tile(64, 64, "f32"), tile(12, 64), tile(64, 24), tile(64, 8), make_tensor_type((2, 64, 64), "bf16", "smem")],
    ids=str,
)
def test_other_tiles_have_no_form(type_: TensorType) -> None:
    assert operand_tile(type_) is None


def test_a_transposed_tile_is_the_same_memory() -> None:
    found = operand_tile(tile(16, 128))
    assert found is not None and isinstance(found.layout, ComposedLayout)
    turned = transposed(found.layout, (1, 0))
    assert all(apply(turned, (c, r)) == apply(found.layout, (r, c)) for r in range(16) for c in range(128))


WARPS = make_mesh((4, 8, 4), names=("w", "g", "t"), topology=Topology("thread", 128))


def fragment(shape: tuple[int, int], g: tuple[int, ...], splits: tuple[int, ...], dtype: str) -> TensorType:
    layout = ShardLayout(Layout(g), tuple(map(Split, splits)), WARPS)
    return make_tensor_type(shape, dtype, "rmem", with_strides(layout, per_unit_strides(layout)))


ACC = fragment((64, 32), (4, 2, 8, 4, 4, 2), (0, 2, 4), "f32")


def test_a_fragment_as_the_accumulator_is_a_left_operand() -> None:
    assert is_left_operand(fragment((64, 48), (4, 2, 8, 6, 4, 2), (0, 2, 4), "f16"), ACC)


@pytest.mark.parametrize(
    "other",
    [
        fragment((64, 48), (4, 2, 8, 6, 4, 2), (0, 2, 4), "f32"),  # no tensor core takes it
        fragment((64, 24), (4, 2, 8, 3, 4, 2), (0, 2, 4), "bf16"),  # half an instruction
        fragment((64, 32), (4, 8, 2, 4, 4, 2), (0, 1, 4), "bf16"),  # other rows
        fragment((64, 32), (4, 2, 8, 4, 2, 4), (0, 2, 3), "bf16"),  # other columns
        fragment((64, 32), (4, 2, 8, 2, 4, 4), (0, 2, 4), "bf16"),  # four neighbours each
    ],
    ids=str,
)
def test_other_fragments_are_none(other: TensorType) -> None:
    assert not is_left_operand(other, ACC)


@func(topologies=(Topology("cta", 1), Topology("thread", 128)))
def two_products(
    x: Tensor[(64, 64), "bf16"], w: Tensor[(64, 64), "bf16"], v: Tensor[(64, 32), "bf16"]
) -> Tensor[(64, 32), "f32"]:
    with Mesh(("cta",), (1,), ("c",)), Mesh(("thread",), (4, 8, 4), ("w", "g", "t")) as t:
        a = tf.reshard(x, (64, 64), "smem")
        b = tf.reshard(w, (64, 64), "smem")
        p = tf.reshard(
            tf.matmul(a, tf.transpose(b, perm=(1, 0)), out_dtype="f32"), (4 @ t.w, 2, 8 @ t.g, 8, 4 @ t.t, 2), "rmem"
        )
        q = tf.reshard(tf.cast(p, "bf16"), (64, 64), "smem")
        o = tf.matmul(q, tf.reshard(v, (64, 32), "smem"), out_dtype="f32")
        return tf.reshard(tf.reshard(o, (4 @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem"), (64, 32), "gmem")


def products(module: Module, target: CudaTarget | CpuTarget) -> list[tuple[TensorType, TensorType]]:
    [kernel] = lower(module, target).functions
    assert isinstance(kernel, tir.PrimFunction)
    return [
        (item.args[1].type, item.args[2].type)  # type: ignore[misc]
        for item in tir.items_within(tir.unfold(kernel.body))
        if isinstance(item, tir.Evaluate) and isinstance(item.callable, tir.Mma)
    ]


def test_tensor_cores_read_swizzled_tiles_and_registers() -> None:
    (a, b), (q, v) = products(two_products, CudaTarget("nvidia.h200_sxm"))
    assert all(isinstance(t.layout, ComposedLayout) for t in (a, b, v))
    assert q.storage is StorageKind.RMEM


def test_a_cpu_reads_plain_tiles() -> None:
    for pair in products(two_products, CpuTarget()):
        assert all(t.storage is StorageKind.SMEM and isinstance(t.layout, Layout) for t in pair)


@func(topologies=(Topology("cta", 1), Topology("thread", 128)))
def read_twice(x: Tensor[(64, 64), "bf16"]) -> Tensor[(64, 64), "f32"]:
    with Mesh(("cta",), (1,), ("c",)), Mesh(("thread",), (4, 8, 4), ("w", "g", "t")) as t:
        a = tf.reshard(x, (64, 64), "smem")
        o = tf.reshard(tf.matmul(a, a, out_dtype="f32"), (4 @ t.w, 2, 8 @ t.g, 8, 4 @ t.t, 2), "rmem")
        own = tf.reshard(a, (4 @ t.w, 2, 8 @ t.g, 8, 4 @ t.t, 2), "rmem")
        return tf.reshard(o + tf.cast(own, "f32"), (64, 64), "gmem")


def test_a_tile_that_instances_read_too_stays_plain() -> None:
    [(a, _)] = products(read_twice, CudaTarget("nvidia.h200_sxm"))
    assert isinstance(a.layout, Layout)


@func(topologies=(Topology("cta", 1), Topology("thread", 128)))
def other_rows(x: Tensor[(64, 32), "f16"], v: Tensor[(32, 32), "f16"]) -> Tensor[(64, 32), "f32"]:
    with Mesh(("cta",), (1,), ("c",)), Mesh(("thread",), (4, 8, 4), ("w", "g", "t")) as t:
        p = tf.reshard(tf.reshard(x, (64, 32), "smem"), (4 @ t.w, 8 @ t.g, 2, 4, 4 @ t.t, 2), "rmem")
        q = tf.reshard(p * p, (64, 32), "smem")
        o = tf.matmul(q, tf.reshard(v, (32, 32), "smem"), out_dtype="f32")
        return tf.reshard(tf.reshard(o, (4 @ t.w, 2, 8 @ t.g, 4, 4 @ t.t, 2), "rmem"), (64, 32), "gmem")


def test_a_fragment_that_no_instruction_takes_is_staged() -> None:
    [(q, v)] = products(other_rows, CudaTarget("nvidia.h200_sxm"))
    assert q.storage is StorageKind.SMEM and isinstance(v.layout, ComposedLayout)
