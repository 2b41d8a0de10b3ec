"""Changes to programs at the level of their syntax trees."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

_ATOMS = """
0 | 1 | -1 | 64 | 2.5 | 1e400 | 'f32' | 'rmem' | None | True | ... | (1, 2) | () | x | i | M | N | t | t.w
cta.c | tf | tf.exp | tf.exp(x) | x[0] | x[i] | x[...] | x.shape | x.dtype | range(3) | tile(64, 8) | 4 @ t.w
M * N - 3 | M // 0 | ReduceKind.SUM | Tensor[(2,), 'f32'] | P('sum') | {t.w @ P('sum')} | math.inf | len
lambda: 0 | [1, 2] | {} | f'{x}' | y == y | not x | -x | x @ x | min(M, 3) | DType.f32 | rmem | undefined
Mesh | 10 ** 30 | 'a' * 3 | M < N | x if FLAG else 0 | S(0) | g | Program | Layout((2,), (1,)) | func | b''
proj | proj(x) | act(x) | layers | raw | 128 @ cta | 8 @ (t.w, t.l) | t[1:2] | Mesh(('thread',), (128,), ('t',))
1j | x.y.z | tf.zeros(Tensor[(0,), 'f32']) | tf.reshard(x, (M,), 'smem') | math.nan | i + i | t.l * 2 | ceildiv(M, 8)
B() | DimVar('K', 1, 9) | DimVar('K', 1, 5) | Topology('cta', 4) | CudaTarget('nvidia.h200_sxm') | x[M:] | x[::2]
DimVarRangePat('K', 1, 5) | ConstTensor[(8, 8), 'f32'] | 'sum' | -(2 ** 63) | 2 ** 63 | ((2,), (1,))
where(layout=(8, 64)) | tf.local(x) | tf.topk(x, 2) | x, y
"""  # separated by " | " and line ends

_STATEMENTS = """
pass
return
return x
x = y
x, y = y, x
x += 1
for i in range(3): x = x
for i in tile(M, 8) @ cta.c: x = x
for i in tile(M, 8): x = tf.insert_slice(x, x[i], (i, 0))
while x: pass
with Mesh(('thread',), (128,), ('t',)) as t: x = x
if x: pass
x[0] = y
del x
import os
def h(): pass
x: Tensor[(2,), 'f32'] = y
y: where(layout=(8, 64), storage='smem') = x
assert x
global x
break
i = 3
"""

ATOMS = [atom.strip() for line in _ATOMS.strip().splitlines() for atom in line.split(" | ")]
STATEMENTS = _STATEMENTS.strip().splitlines()
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.BitOr)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.In)

Slot = tuple[Any, Any]  # a list and an index, or the fields of a node and a name


def slots(root: ast.AST) -> Iterator[Slot]:
    """Where expressions and statements stand below a node."""
    for parent in ast.walk(root):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                yield from ((value, k) for k, item in enumerate(value) if isinstance(item, (ast.expr, ast.stmt)))
            elif isinstance(value, ast.expr):
                yield vars(parent), name


def mutate(tree: ast.Module, others: Sequence[ast.Module], rng: random.Random) -> None:
    """Changes something inside the classes and functions of a program; may take parts of other programs."""
    places = [slot for node in tree.body for slot in slots(node)]
    places += [(node.body, k) for node in tree.body if isinstance(node, ast.ClassDef) for k in range(len(node.body))]
    holder, key = rng.choice(places)
    node = holder[key]
    if isinstance(node, ast.stmt):
        _statement(holder, key, others, rng)
    elif isinstance(getattr(node, "ctx", None), ast.Store):  # never an attribute: a class body would really set it
        holder[key] = ast.Name(rng.choice(("x", "y", "i", "M", "t", "f")), ast.Store())
    elif isinstance(node, ast.Call) and node.keywords and rng.random() < 0.2:
        _keyword(node, rng)
    elif isinstance(node, ast.BinOp) and rng.random() < 0.3:
        node.op = rng.choice(_OPERATORS)()
    elif isinstance(node, ast.Compare) and rng.random() < 0.3:
        node.ops[0] = rng.choice(_COMPARISONS)()
    elif isinstance(node, ast.Constant) and isinstance(node.value, float) and rng.random() < 0.5:
        holder[key] = ast.Constant(rng.choice((0.0, -1.5, 1e-3, node.value * 2)))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int) and rng.random() < 0.4:
        holder[key] = ast.Constant(rng.choice((node.value - 1, node.value + 1, -node.value, node.value * 2)))
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tf":
        node.attr = rng.choice([name for other in others for n in ast.walk(other) for name in _op_names(n)])
    elif rng.random() < 0.5:
        holder[key] = copy.deepcopy(rng.choice([h[k] for h, k in places if isinstance(h[k], ast.expr)]))
    else:
        holder[key] = ast.parse(rng.choice(ATOMS), mode="eval").body


def _op_names(node: ast.AST) -> Iterator[str]:
    """The name of an op that a node reads, if it does."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tf":
        yield node.attr


def _statement(holder: list[ast.stmt], key: int, others: Sequence[ast.Module], rng: random.Random) -> None:
    choice = rng.random()
    if choice < 0.3 and len(holder) > 1:
        del holder[key]
    elif choice < 0.5:
        pool = [h[k] for h, k in slots(rng.choice(others)) if isinstance(h[k], ast.stmt)]
        holder.insert(key, copy.deepcopy(rng.choice(pool)))
    elif choice < 0.6 and len(holder) > 1:
        other = rng.randrange(len(holder))
        holder[key], holder[other] = holder[other], holder[key]
    else:
        holder.insert(key, ast.parse(rng.choice(STATEMENTS)).body[0])


def _keyword(call: ast.Call, rng: random.Random) -> None:
    """Drops, renames, repeats or makes positional one keyword of a call."""
    keyword = rng.choice(call.keywords)
    choice = rng.randrange(4)
    if choice == 0:
        call.keywords.remove(keyword)
    elif choice == 1:
        keyword.arg = rng.choice(("axis", "x", "layout", "storage", "kind", "nothing"))
    elif choice == 2:
        call.keywords.append(copy.deepcopy(keyword))
    else:
        call.keywords.remove(keyword)
        call.args.append(keyword.value)
