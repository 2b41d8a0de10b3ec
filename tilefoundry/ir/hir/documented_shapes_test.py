"""Every op says in its docstring which shapes it takes and gives, and what it says is what its type rule infers.

    Shapes: lhs (*A, M, K), rhs (*B, K, N) -> (*broadcast(A, B), M, N)

Operands are patterns: a name stands for an extent, a starred one for any number of them, in all operands alike; an
expression is computed from other names. ``starts [()]`` is a tuple of scalars, a bare name a tuple of any. The
result is an expression of the names and of the op's attributes: a shape, or one for each of several results.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tilefoundry.ir import hir
from tilefoundry.ir.atoms import ATOMS
from tilefoundry.ir.core import Call, Expr, Tuple, Var
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata
from tilefoundry.ir.core.op import Op, ParamDef
from tilefoundry.ir.core.type import TupleType, Type
from tilefoundry.ir.samples import QUAD, held
from tilefoundry.ir.shard import Layout, Mesh, Placed, ShardLayout, Topology
from tilefoundry.ir.types import TensorType, make_tensor_type

Names = dict[str, Any]


def of(*shape: int, dtype: str = "f32", storage: str = "gmem", layout: Any = None) -> Var:
    """A tensor."""
    return Var("x", make_tensor_type(shape, dtype, storage, layout))


WARP = Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("q", "g"))
ATOM = ATOMS["SM80_16x8x16_F32BF16BF16F32_TN"]
A, B = (
    of(*shape, dtype="bf16", storage="rmem", layout=ShardLayout(part.layout, part.attrs, WARP))
    for shape, part in (((16, 16), ATOM.lhs), ((16, 8), ATOM.rhs))
)
ROWS, COLUMNS = (
    of(*shape, dtype="bf16", storage="smem", layout=Layout(shape, strides))
    for shape, strides in (((64, 16), (16, 1)), ((16, 128), (1, 16)))
)
WARPGROUP = Mesh((Topology("thread", 128),), Layout((4, 8, 4), (1, 4, 32)), ("q", "g", "w"))
X, Y, AT, PLACES = of(2, 3, 5), of(7, 1, 5), of(dtype="i64"), of(4, dtype="i64")
PARTS = Var("t", TupleType((X.type, Y.type)))
TYPE = make_tensor_type((6,), "i32", "gmem")

# Each op with operands whose extents tell one axis from another; the last one has what the line speaks of besides.
EXAMPLES: dict[type[Op], tuple[Any, ...]] = {
    hir.Arange: (hir.Arange(TYPE),),
    hir.ArgMax: (hir.ArgMax(1), X),
    hir.ArgMin: (hir.ArgMin(0), X),
    hir.Attention: (hir.Attention(), of(2, 6, 4, 8), of(2, 3, 5, 8), of(2, 3, 5, 7), of(4, 5, dtype="bool")),
    hir.Binary: (hir.Binary(hir.BinaryKind.ADD), X, of(7, 1, 3, 1)),
    hir.CacheUpdate: (hir.CacheUpdate(), of(2, 9, 3, 5), AT, AT, of(2, 4, 3, 5)),
    hir.Cast: (hir.Cast("bf16"), X),
    hir.Clamp: (hir.Clamp(0.0, 1.0), X),
    hir.Concat: (hir.Concat(1), X, of(2, 4, 5)),
    hir.Conv2d: (hir.Conv2d((2, 1), (1, 3), (1, 2), 2), of(2, 6, 11, 13), of(4, 3, 3, 5), of(4)),
    hir.CumSum: (hir.CumSum(1), X),
    hir.Expand: (hir.Expand((7, 2, 3, 5)), of(2, 1, 5)),
    hir.Flip: (hir.Flip((0, 2)), X),
    hir.FullLike: (hir.FullLike(1.5), X),
    hir.Gather: (hir.Gather(1), X, of(2, 9, 4, dtype="i64")),
    hir.Gelu: (hir.Gelu(), X),
    hir.IndexAdd: (hir.IndexAdd(1), X, PLACES, of(2, 4, 5)),
    hir.IndexCopy: (hir.IndexCopy(1), X, PLACES, of(2, 4, 5)),
    hir.IndexSelect: (hir.IndexSelect(1), X, PLACES),
    hir.InsertSlice: (hir.InsertSlice((2, 1, 4)), X, of(2, 4), Tuple((0, AT, 1))),
    hir.LayerNorm: (hir.LayerNorm(1), X, of(3, 5), of(3, 5)),
    hir.Local: (hir.Local(), held((12, 5), Placed(12, (QUAD,)), 5), {"units": (4, 1)}),
    hir.MatMul: (hir.MatMul(), of(2, 1, 4, 6), of(3, 6, 5)),
    hir.MeshCoordinate: (hir.MeshCoordinate(QUAD),),
    hir.MmaSm80: (hir.MmaSm80("bf16", "bf16", "f32"), A, B),
    hir.Pad: (hir.Pad((1, 2, 3, 5)), X),
    hir.Quant: (hir.Quant(), of(3, 512)),
    hir.Rank: (hir.Rank(), X),
    hir.Reduce: (hir.Reduce((0, 2), False), X),
    hir.RepeatInterleave: (hir.RepeatInterleave(4, 1), X),
    hir.Reshape: (hir.Reshape((6, 5)), X),
    hir.Reshard: (hir.Reshard(Layout((2, 3, 5), (1, 2, 6)), "gmem"), X),
    hir.RMSNorm: (hir.RMSNorm(), X, of(5)),
    hir.Rope: (hir.Rope(), of(2, 4, 6, 8), of(2, 4, 3, 8), of(9, 8), of(9, 8), of(1, 4, dtype="i64")),
    hir.ScatterAdd: (hir.ScatterAdd(1), X, of(2, 4, 5, dtype="i64"), of(2, 6, 5)),
    hir.ShapeOf: (hir.ShapeOf(), X),
    hir.Silu: (hir.Silu(), X),
    hir.Slice: (hir.Slice((2, 1, 2), (1, 1, 2), (1,)), X, Tuple((0, AT, 1))),
    hir.Softmax: (hir.Softmax(1), X),
    hir.Softplus: (hir.Softplus(), X),
    hir.Sort: (hir.Sort(1), X),
    hir.SplitParts: (hir.SplitParts(1, 3), of(2, 12, 5)),
    hir.Squeeze: (hir.Squeeze(1), Y),
    hir.Stack: (hir.Stack(1), X, X),
    hir.TopK: (hir.TopK(2, 1), X),
    hir.Transpose: (hir.Transpose((2, 0, 1)), X),
    hir.TupleGetItem: (hir.TupleGetItem(1), PARTS),
    hir.Unary: (hir.Unary(hir.UnaryKind.EXP), X),
    hir.Unsqueeze: (hir.Unsqueeze(1), X),
    hir.WgmmaSm90: (hir.WgmmaSm90("bf16", "bf16", "f32"), ROWS, COLUMNS),
    hir.Where: (hir.Where(), of(7, 1, 1, 1, dtype="bool"), X, of(5)),
    hir.Zeros: (hir.Zeros(TYPE),),
}
# Ops whose formula is a paper's.
OF_PAPERS = (hir.Attention, hir.Gelu, hir.LayerNorm, hir.RMSNorm, hir.Rope, hir.Silu)


def line_of(op: type[Op]) -> str:
    """What the docstring says of shapes: a paragraph of its own."""
    found = re.search(r"^ +Shapes: (.*?)(?:\n *\n|\n *\Z|\Z)", op.__doc__ or "", re.DOTALL | re.MULTILINE)
    assert found, f"{op.__name__} does not state its shapes"
    return " ".join(found[1].split())


def shapes_of(type_: Type) -> Any:
    """The shape of a tensor, those of a tuple's fields."""
    return type_.shape if isinstance(type_, TensorType) else tuple(map(shapes_of, type_.fields))


def operand_shapes(x: Expr | int) -> Any:
    if isinstance(x, Tuple):
        return [operand_shapes(element) for element in x.elements]
    return () if isinstance(x, int) else shapes_of(x.type)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which these broadcast."""
    rank = max(map(len, shapes))
    columns = zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True)
    return tuple(next((n for n in column if n != 1), 1) for column in columns)


def matches(pattern: Sequence[ast.expr], shape: tuple[int, ...], names: Names) -> Iterator[Names]:
    """The ways in which a shape fits a pattern, each with what names then stand for."""
    if not pattern:
        if not shape:
            yield names
        return
    head, rest = pattern[0], pattern[1:]
    if isinstance(head, ast.Starred) and isinstance(head.value, ast.Name):
        for count in range(len(shape) + 1):
            if names.get(head.value.id, shape[:count]) == shape[:count]:
                yield from matches(rest, shape[count:], {**names, head.value.id: shape[:count]})
    elif shape and isinstance(head, ast.Name):
        if names.get(head.id, shape[0]) == shape[0]:
            yield from matches(rest, shape[1:], {**names, head.id: shape[0]})
    elif shape and value_of(head, names) == shape[0]:
        yield from matches(rest, shape[1:], names)


def value_of(node: ast.expr, names: Names) -> Any:
    return eval(ast.unparse(node), {"broadcast": broadcast, **names})


def bindings(entries: Sequence[ast.expr], operands: Sequence[Any], names: Names) -> Iterator[Names]:
    """The ways in which all operands fit."""
    if not entries:
        yield names
        return
    entry, shape = entries[0], operands[0]
    match entry:
        case ast.Name(id=name):
            fits: Iterator[Names] = iter([{**names, name: shape}])
        case ast.Subscript(slice=ast.Tuple(elts=[])):
            fits = iter([names] if shape and all(part == () for part in shape) else [])
        case ast.Call(args=pattern):
            fits = matches(pattern, shape, names)
        case _:
            raise AssertionError(f"'{ast.unparse(entry)}' says nothing of a shape")
    for bound in fits:
        yield from bindings(entries[1:], operands[1:], bound)


def stated(line: str, op: Op, operands: Sequence[Any], extra: Names) -> tuple[list[str], list[Any]]:
    """The operands that a line names, and the shapes of the result that it allows, one for each way to read it."""
    taken, _, given = line.partition("->")
    call = ast.parse(f"f({taken})", mode="eval").body
    assert isinstance(call, ast.Call)
    entries = call.args
    assert len(entries) == len(operands), f"{len(entries)} operands are described of {len(operands)}"
    named = [re.split(r"\W", ast.unparse(entry))[0] for entry in entries]
    attributes = {field: getattr(op, field) for field in getattr(op, "__dataclass_fields__", {})}
    result = ast.parse(given.strip(), mode="eval").body
    return named, [value_of(result, found) for found in bindings(entries, operands, {**attributes, **extra})]


@pytest.mark.parametrize("cls", EXAMPLES, ids=lambda cls: cls.__name__)
def test_the_stated_shapes_are_those_of_the_type_rule(cls: type[Op]) -> None:
    op, *operands = EXAMPLES[cls]
    extra = operands.pop() if operands and isinstance(operands[-1], dict) else {}
    named, results = stated(line_of(cls), op, [operand_shapes(x) for x in operands], extra)
    inputs = [(name, p) for name, p in vars(cls).items() if isinstance(p, ParamDef)]
    expected = [name for name, p in inputs for _ in operands if p.variadic] or [name for name, _ in inputs]
    assert named == expected
    scope = ExecutionDomainMetadata((WARPGROUP,))  # of the one op that asks for it
    inferred = shapes_of(Call(op, tuple(operands), metadata=(scope,)).type)
    assert inferred in results, f"{results} are stated, {inferred} is inferred"


def test_every_op_has_an_example() -> None:
    named = (value for value in vars(hir).values() if isinstance(value, type) and issubclass(value, Op))
    assert {op for op in named if op.dialect == "tf"} == set(EXAMPLES)


@pytest.mark.parametrize("cls", OF_PAPERS, ids=lambda cls: cls.__name__)
def test_a_formula_of_a_paper_has_its_source(cls: type[Op]) -> None:
    assert re.search(r"Source: \w.+ \((?:19|20)\d\d\)", " ".join((cls.__doc__ or "").split()))


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("lhs (*A, M, K), rhs (*B, K, N) -> (*broadcast(A, B), M, N)", True),
        ("lhs (*A, M, K), rhs (*B, N, K) -> (*broadcast(A, B), M, N)", False),
        ("lhs (*A, M, K), rhs (*B, K, N) -> (*broadcast(A, B), N, M)", False),
        ("lhs (*A, M, K), rhs (*B, K, N) -> (*A, *B, M, N)", False),
        ("lhs (*A), rhs (*B) -> A", False),
        ("lhs (M, K), rhs (K, N) -> (M, N)", False),
    ],
)
def test_what_a_line_does_not_say_is_not_accepted(line: str, fits: bool) -> None:
    op, *operands = EXAMPLES[hir.MatMul]
    _, results = stated(line, op, [operand_shapes(x) for x in operands], {})
    assert (shapes_of(Call(op, tuple(operands)).type) in results) == fits
