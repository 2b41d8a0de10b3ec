"""Whatever an author writes, the front end diagnoses it or gives a valid program; it raises nothing else.

Valid programs are mutated at the level of their syntax trees: what stands in bodies and annotations of functions is
exchanged, deleted, repeated or replaced by something else. The sequence is seeded; TILEFOUNDRY_FUZZ_SECONDS sets how
much of it is run.
"""

from __future__ import annotations

import ast
import copy
import os
import random
import time
from typing import Any

import pytest

from tilefoundry.diagnostics import TileFoundryError, VerifyError
from tilefoundry.python.testing import load_program

SECONDS = float(os.environ.get("TILEFOUNDRY_FUZZ_SECONDS", "10"))
AT_LEAST = 200  # mutants, however slow the machine is

PROGRAMS = (
    """
from __future__ import annotations
@module(entry="attention", topologies=(Topology("cta", N), Topology("thread", 128)))
class Attention:
    @func
    def attention(q: Tensor[(M, 64), "bf16"], k: Tensor[(M, 64), "bf16"]) -> Tensor[(M, 64), "bf16"]:
        with Mesh(("cta",), (N,), ("c",)) as cta, Mesh(("thread",), (4, 8, 4), ("w", "g", "t")) as t:
            out = tf.zeros(Tensor[(M, 64), "bf16"])
            for i in tile(M, 64) @ cta.c:
                qs = tf.reshard(q[i], (64, 64), "smem")
                cols0 = tf.reshard(tf.arange(Tensor[(64,), "i32"]), (8, 4 @ t.t, 2), "rmem")
                m = tf.reshard(tf.full_like(tf.zeros(Tensor[(64, 1), "f32"]), -1e30), (4 @ t.w, 2, 8 @ t.g, 1), "rmem")
                o = tf.reshard(tf.zeros(Tensor[(64, 64), "f32"]), (4 @ t.w, 2, 8 @ t.g, 8, 4 @ t.t, 2), "rmem")
                for j in tile(min(M, i + 64), 64):
                    ks = tf.reshard(k[j], (64, 64), "smem")
                    qk = tf.matmul(qs, tf.transpose(ks, perm=(1, 0)), out_dtype="f32")
                    s = tf.reshard(qk, (4 @ t.w, 2, 8 @ t.g, 8, 4 @ t.t, 2), "rmem") * 0.125
                    s = tf.where(cols0 + tf.cast(j, "i32") < tf.cast(M, "i32"), s, -1e30)
                    m2 = tf.maximum(m, tf.reduce(s, (-1,), True, ReduceKind.MAX))
                    o = o * tf.exp(m - m2) + tf.exp(s - m2)
                    m = m2
                out = tf.insert_slice(out, tf.cast(o, "bf16"), (i, 0))
            return out
""",
    """
from __future__ import annotations
K, SCALE, FLAG = 3, 0.5, True
@module(entry="f")
class Program:
    @func
    def f(
        x: Tensor[(M, 8, 16), "f32"], w: ConstTensor[(16, 4), "f32"]
    ) -> tuple[Tensor[(M, 8, 4), "f32"], Tensor[(8, 4), "bool"]]:
        half, rest = M // 2, M % (K + 1)
        y = g(x) @ w
        a, b = (y[0], y[-1, 1:8:2])
        for i in range(1, 8, 2):
            a = a + y[0, i] * SCALE if FLAG else a
        if FLAG and K > 2:
            y = y - a[2:3]
        elif not FLAG:
            y = y / 2.0
        return y, a > -SCALE and not (b[0] <= 0.0)
    @func
    def g(x: Tensor[(M, N, 16), "f32"]) -> Tensor[(M, N, 16), "f32"]:
        out = tf.zeros(Tensor[(M, N, 16), "f32"])
        for i in range(0, M, 1):
            for j in tile(N, 8):
                out = tf.insert_slice(out, tf.log(x[i, j]) + tf.reduce(x[i, j + 1], (0, -1)), (i, j, 0))
        return tf.reshape(tf.reshape(out, (N, 16, M)), (M, N, 16))
""",
    """
from __future__ import annotations
@module(entry="run")
class Proj:
    @func
    def run(x: Tensor[(M, 8), "f32"], w: ConstTensor[(8, 8), "f32"]) -> Tensor[(M, 8), "f32"]:
        return x @ w
    @run.converter("w")
    def _w(raw: Tensor[(8, 8), "f32"], scale: Tensor[(1, 8), "f32"]) -> Tensor[(8, 8), "f32"]:
        return tf.transpose(raw, perm=(1, 0)) * scale
K = DimVar("K", 1, 9)
@module(entry="block")
class Block:
    proj = Proj
    layers = (Proj.renamed("a"), Proj.renamed("b"))
    @func
    def act(x: Tensor[(K, 8), "f32"]) -> Tensor[(K, 8), "f32"]:
        pass
    @act.specialize(DimVarRangePat("K", 1, 5))
    def few(x: Tensor[(K, 8), "f32"]) -> Tensor[(K, 8), "f32"]:
        return tf.exp(x)
    @act.specialize(DimVarRangePat("K", 5, 9))
    def many(x: Tensor[(K, 8), "f32"]) -> Tensor[(K, 8), "f32"]:
        return x * x
    @func
    def block(x: Tensor[(4, 8), "f32"]) -> Tensor[(4, 8), "f32"]:
        y = layers[1](layers[0](x))
        return act(proj(x=y)) + x
""",
)

ATOMS = """
0 | 1 | -1 | 64 | 2.5 | 1e400 | 'f32' | 'rmem' | None | True | ... | (1, 2) | () | x | i | M | N | t | t.w
cta.c | tf | tf.exp | tf.exp(x) | x[0] | x[i] | x[...] | x.shape | x.dtype | range(3) | tile(64, 8) | 4 @ t.w
M * N - 3 | M // 0 | ReduceKind.SUM | Tensor[(2,), 'f32'] | P('sum') | {t.w @ P('sum')} | math.inf | len
lambda: 0 | [1, 2] | {} | f'{x}' | y == y | not x | -x | x @ x | min(M, 3) | DType.f32 | rmem | undefined
Mesh | 10 ** 30 | 'a' * 3 | M < N | x if FLAG else 0 | S(0) | g | Program | Layout((2,), (1,)) | func | b''
proj | proj(x) | act(x) | layers | raw
1j | x.y.z | tf.zeros(Tensor[(0,), 'f32']) | tf.reshard(x, (M,), 'smem') | math.nan | i + i
"""  # separated by " | " and line ends

STATEMENTS = """
pass
return
return x
x = y
x, y = y, x
x += 1
for i in range(3): x = x
for i in tile(M, 8) @ cta.c: x = x
while True: pass
with Mesh(('thread',), (128,), ('t',)) as t: x = x
if x: pass
x[0] = y
del x
import os
def h(): pass
x: Tensor[(2,), 'f32'] = y
assert x
global x
break
i = 3
"""

ATOM_LIST = [atom.strip() for line in ATOMS.strip().splitlines() for atom in line.split(" | ")]
STATEMENT_LIST = STATEMENTS.strip().splitlines()


def mutate(tree: ast.Module, random: random.Random) -> None:
    """Changes something inside the functions of a program."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    slots: list[tuple[Any, Any]] = []  # a list and an index, or the fields of a node and a name
    for function in functions:
        roots = [*function.body, *(a.annotation for a in function.args.args), function.returns]
        for root in roots:
            for parent in ast.walk(root) if root is not None else ():
                for name, value in ast.iter_fields(parent):
                    if isinstance(value, list):
                        slots += [(value, k) for k, item in enumerate(value) if isinstance(item, (ast.expr, ast.stmt))]
                    elif isinstance(value, ast.expr):
                        slots.append((vars(parent), name))
        slots += [(function.body, k) for k in range(len(function.body))]
    holder, key = random.choice(slots)
    node = holder[key]
    if isinstance(node, ast.stmt):
        choice = random.random()
        if choice < 0.3 and len(holder) > 1:
            del holder[key]
        elif choice < 0.5:
            holder.insert(key, copy.deepcopy(random.choice([h[k] for h, k in slots if isinstance(h[k], ast.stmt)])))
        else:
            holder.insert(key, ast.parse(random.choice(STATEMENT_LIST)).body[0])
        return
    others = [h[k] for h, k in slots if isinstance(h[k], ast.expr)]
    replacement = (
        copy.deepcopy(random.choice(others))
        if random.random() < 0.5
        else ast.parse(random.choice(ATOM_LIST), mode="eval").body
    )
    if isinstance(node, ast.BinOp) and random.random() < 0.3:
        node.op = random.choice(
            (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.BitOr)
        )()
    else:
        holder[key] = replacement


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # Python's own remarks on the mutants
def test_mutated_programs_are_diagnosed() -> None:
    trees = [ast.parse(text) for text in PROGRAMS]
    for text in PROGRAMS:
        load_program(text)
    seed = refused = accepted = 0
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline or seed < AT_LEAST:
        seed += 1
        rng = random.Random(seed)
        tree = copy.deepcopy(rng.choice(trees))
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            mutate(tree, rng)
        try:
            text = ast.unparse(ast.fix_missing_locations(tree))
            compile(text, "<mutant>", "exec")
        except (SyntaxError, ValueError):  # Python itself refuses it
            continue
        diagnosis: TileFoundryError | None = None
        try:
            load_program(text)
        except TileFoundryError as error:
            diagnosis = error
        except Exception as error:
            error.add_note(f"seed {seed}:\n{text}")
            raise
        accepted, refused = accepted + (diagnosis is None), refused + (diagnosis is not None)
        located = not isinstance(diagnosis, VerifyError) or diagnosis.span is not None
        assert located, f"seed {seed}: no place: {diagnosis}\n{text}"
    assert refused > AT_LEAST // 2, (seed, refused, accepted)
    assert accepted > AT_LEAST // 50
