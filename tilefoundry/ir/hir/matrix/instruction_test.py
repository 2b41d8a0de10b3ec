"""mma_sm80_16x8x16, wgmma_sm90_64x128x16: fragments, dtypes, refusals."""

import itertools

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.atoms import ATOMS
from tilefoundry.ir.core import Call, Var
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata
from tilefoundry.ir.hir import MmaSm80, WgmmaSm90
from tilefoundry.ir.samples import call, dynamic, value
from tilefoundry.ir.shard import (
    Broadcast,
    Layout,
    Mesh,
    Partial,
    ShardLayout,
    Split,
    Topology,
    shard_layout_local_shape,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType, make_tensor_type

WARP = Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("q", "g"))
GROUP = Mesh((Topology("thread", 128),), Layout((4, 8, 4), (1, 4, 32)), ("q", "g", "w"))
ATOM = ATOMS["SM80_16x8x16_F32BF16BF16F32_TN"]
MMA, WGMMA = MmaSm80("bf16", "bf16", "f32"), WgmmaSm90("bf16", "bf16", "f32")


def fragment(shape, layout, attrs, mesh=WARP, dtype="bf16", storage="rmem"):
    return Var("x", make_tensor_type(shape, dtype, storage, ShardLayout(layout, attrs, mesh)))


def tile(shape, strides, dtype="bf16", storage="smem"):
    return Var("x", make_tensor_type(shape, dtype, storage, Layout(shape, strides)))


A = fragment((16, 16), ATOM.lhs.layout, ATOM.lhs.attrs)
B = fragment((16, 8), ATOM.rhs.layout, ATOM.rhs.attrs)
TILE_A, TILE_B = tile((64, 16), (16, 1)), tile((16, 128), (1, 16))
ROWS = fragment((64, 16), Layout((2, 4, 2, 8, 2, 4), (1, 2, 8, 16, 128, 256)), (Split(1), Split(3), Split(5)), GROUP)


def test_a_warps_product_is_the_accumulators_fragment():
    for dtype in ("bf16", "f16"):
        a, b = (fragment(f.shape, f.layout, f.attrs, dtype=dtype) for f in (ATOM.lhs, ATOM.rhs))
        result = call(MmaSm80(dtype, dtype, "f32"), a, b).type
        layout = ShardLayout(Layout((2, 4, 8, 2), (1, 2, 8, 64)), (Split(1), Split(2)), WARP)
        assert result == TensorType((16, 8), DType.f32, layout, StorageKind.RMEM)
    second = GROUP[:, :, 1]  # a warp of a warpgroup
    a, b = (fragment(f.shape, f.layout, f.attrs, second) for f in (ATOM.lhs, ATOM.rhs))
    assert call(MMA, a, b).type.layout.mesh == second


def test_a_warpgroups_product_is_the_accumulators_fragment():
    result = call(WGMMA, ROWS, TILE_B).type
    assert (result.shape, result.dtype, result.storage) == ((64, 128), DType.f32, StorageKind.RMEM)
    assert result.layout.mesh == GROUP
    in_scope = Call(WGMMA, (TILE_A, TILE_B), metadata=(ExecutionDomainMetadata((GROUP, WARP)),))
    assert in_scope.type == result
    assert shard_layout_local_shape(result.layout) == (2, 1, 16, 1, 2, 1)


def ptx_accumulator(thread):
    """Where a thread's registers lie in D, as PTX ISA has it: row, column of register r."""
    for r in range(64):
        row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (r % 4 // 2)
        yield row, 8 * (r // 4) + 2 * (thread % 4) + r % 2


def test_the_accumulator_is_laid_out_as_the_instruction_writes_it():
    sl = call(WGMMA, ROWS, TILE_B).type.layout
    owned = set()
    for quad, group, warp in itertools.product(range(4), range(8), range(4)):
        at = {1: quad, 3: group, 5: warp}
        held = {
            sum(at.get(k, i) * s for (k, i), s in zip(enumerate(point), sl.layout.strides, strict=True))
            for point in itertools.product(*(range(1) if k in at else range(e) for k, e in enumerate(sl.shape)))
        }
        assert held == {128 * row + column for row, column in ptx_accumulator(quad + 4 * group + 32 * warp)}
        owned |= held
    assert owned == set(range(64 * 128))


def other(x, **changes):
    sl = x.type.layout
    parts = {"layout": sl.layout, "attrs": sl.attrs, "mesh": sl.mesh, **changes}
    return fragment(x.type.shape, parts["layout"], parts["attrs"], parts["mesh"])


@pytest.mark.parametrize(
    ("op", "a", "b", "words"),
    [
        (MMA, value((16, 8), "bf16"), B, r"'a' must be a tensor of shape \(16, 16\) and dtype bf16"),
        (MMA, A, fragment((16, 8), ATOM.rhs.layout, ATOM.rhs.attrs, dtype="f16"), "'b' must be .* dtype bf16"),
        (MMA, value((16, 16), "bf16"), B, r"'a' is not the fragment that SM80(.|\n)*ShardLayout\("),
        (MMA, A, value((16, 8), "bf16"), "'b' is not the fragment"),
        (MMA, B, A, r"'a' must be a tensor of shape \(16, 16\)"),
        (MMA, other(A, layout=Layout((2, 4, 2, 8, 2), (0, 0, 1, 0, 2))), B, "'a' is not the fragment"),
        (MMA, other(A, attrs=(Split(3), Split(1))), B, "'a' is not the fragment"),
        (MMA, other(A, attrs=(Partial("sum"), Split(3))), B, "'a' is not the fragment"),
        (MMA, A, other(B, attrs=(Split(2), Broadcast())), "'b' is not the fragment"),
        (MMA, A, dynamic(B), "'b' is not the fragment"),
        (MMA, other(A, mesh=Mesh((Topology("thread", 32),), Layout((4, 8), (8, 1)), ("q", "g"))), B, "'a' is not"),
        (MMA, A, other(B, mesh=Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)))), "different warps"),
        (WGMMA, value((64, 8), "bf16"), TILE_B, r"'a' must be a tensor of shape \(64, 16\)"),
        (WGMMA, TILE_A, tile((16, 128), (1, 16), "f16"), "'b' must be .* dtype bf16"),
        (WGMMA, TILE_A, tile((16, 128), (128, 1)), "'b' must be a tile in shared memory with K innermost"),
        (WGMMA, ROWS, tile((16, 128), (1, 16), storage="gmem"), "'b' must be a tile in shared memory"),
        (WGMMA, tile((64, 16), (1, 64)), TILE_B, r"'a' must be a tile(.|\n)*or tf\.reshard it to ShardLayout"),
        (WGMMA, other(ROWS, attrs=(Split(1), Split(3), Partial("sum"))), TILE_B, "'a' must be a tile"),
        (WGMMA, dynamic(ROWS), TILE_B, "'a' must be a tile"),
        (WGMMA, TILE_A, TILE_B, r"in the scope of the warpgroup(.|\n)*with Mesh"),
    ],
)
def test_operands_that_do_not_fit_are_refused(op, a, b, words):
    with pytest.raises(VerifyError, match=words):
        call(op, a, b)


@pytest.mark.parametrize("op", [MmaSm80, WgmmaSm90])
def test_instructions_that_there_are_not(op):
    assert op("f16", "f16", "f32") == op(DType.f16, DType.f16, DType.f32)
    for triple in (("f32", "f32", "f32"), ("bf16", "f16", "f32"), ("bf16", "bf16", "bf16")):
        with pytest.raises(ValueError, match=r"no instruction multiplies(.|\n)*\(bf16, bf16, f32\), \(f16, f16, f32\)"):
            op(*triple)
    for majors in (("N", "N"), ("T", "T"), ("t", "n")):
        with pytest.raises(ValueError, match="no instruction takes a_layout"):
            op("f16", "f16", "f32", *majors)
    with pytest.raises(ValueError, match="unknown dtype"):
        op("half", "f16", "f32")
