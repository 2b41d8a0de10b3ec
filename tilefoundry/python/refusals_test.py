"""What the front end refuses: the kind of error, the place in the author's text, and the words that explain it.

In each program the mark (see `testing.MARK`) stands where the diagnosis must point.
"""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.python.testing import check_refusal


def body(*lines: str, params: str = 'x: Tensor[(64, 32), "f32"]', result: str = 'Tensor[(64, 32), "f32"]') -> str:
    """A program of one function with these body lines."""
    return "\n".join(["@func", f"def f({params}) -> {result}:", *(f"    {line}" for line in lines)])


def placed(*lines: str) -> str:
    """A program of one function whose lines run on a CTA and a thread mesh."""
    head = ["@func(topologies=(CTA, THREAD))", 'def f(x: Tensor[(64, 32), "f32"]) -> Tensor[(64, 32), "f32"]:']
    scope = '    with Mesh(("cta",), (4,), ("c",)) as cta, Mesh(("thread",), (4, 32), ("w", "l")) as t:'
    return "\n".join([*head, scope, *(f"        {line}" for line in lines)])


def members(*lines: str) -> str:
    """A program of one module with these class body lines."""
    return "\n".join(['@module(entry="f")', "class Program:", *(f"    {line}" for line in lines)])


G8 = ("@func", 'def g(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:')
G9 = ("@func", 'def g(x: Tensor[(9,), "f32"]) -> Tensor[(8,), "f32"]:')
F = ("@func", 'def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:')

# name: (program, words)
VERIFY: dict[str, tuple[str, tuple[str, ...]]] = {
    # names
    "undefined name": (body("y = x", "return §yy + x"), ("name 'yy' is not defined", "'y'")),
    "read before assignment": (body("z = §y", "y = x", "return z"), ("'y' is read before it is assigned",)),
    "name of a loop that never runs": (
        body("for i in range(4, 4):", "    y = x + x", "return §y"),
        ("'y' has no value", "only inside the loop at line 3"),
    ),
    "name of a loop that carries another": (
        body("z = x", "for i in range(4):", "    y = z + x", "    z = y", "return §y + z"),
        ("'y' has no value", "only inside the loop at line 4"),
    ),
    "loop variable after the loop": (
        body("y = x", "for i in range(4):", "    y = y + x", "return y * §i"),
        ("'i' has no value",),
    ),
    "unknown op": (body("return §tf.expp(x)"), ("no op named 'expp'", "tf.exp")),
    "unknown module attribute": (body("return x * §math.sqrtt(2.0)"), ("no attribute 'sqrtt'", "sqrt")),
    "private attribute": (body("return x * §math._x"), ("private",)),
    "tensor attribute": (body("return §x.T"), ("no attribute 'T'", ".shape and .dtype")),
    "unknown mesh axis": (placed("return tf.reshard(x, (4 @ §t.z, 16, 32), 'rmem')"), ("no axis 'z'", "w, l")),
    # constructs
    "augmented assignment": (body("§x += x", "return x"), ("augmented", "x = x + ...")),
    "while": (body("§while True:", "    x = x", "return x"), ("'while'",)),
    "lambda": (body("y = §lambda: x", "return x"), ("a lambda",)),
    "comprehension": (body("y = §[x for _ in range(3)]", "return x"), ("comprehension",)),
    "f-string": (body("y = §f'{x}'", "return x"), ("f-string",)),
    "nested function": (body("§def g(): pass", "return x"), ("nested function",)),
    "annotated assignment": (
        body('y: §Tensor[(64, 32), "f32"] = x', "return y"),
        ("expected where(...) as the annotation", "write y: where("),
    ),
    "assignment to an element": (body("§x[0] = x", "return x"), ("elements cannot be assigned", "insert_slice")),
    "assignment to an attribute": (body("§x.y = x", "return x"), ("name on the left side",)),
    "a coordinate unpacked": (
        placed("a, b = §t.l + 1", "return x"),
        ("expected several values to unpack, got the extent <coordinate along 'l'> + 1",),
    ),
    "dropped value": (body("§tf.exp(x)", "return x"), ("dropped",)),
    "starred call": (body("y = (x,)", "return tf.exp(§*y)"), ("'*' in a call",)),
    "double starred call": (body("return tf.exp(**§{})"), ("'**' in a call",)),
    "starred assignment": (body("§a, *b = (x, x)", "return a"), ("starred",)),
    "unpacking count": (body("§a, b = (x, x, x)", "return a"), ("2 names for 3 values",)),
    "subscript of two values": (
        body("p = tf.split(x, axis=0, num_splits=2)", "return p[§2]"),
        ("from -2 to 1", "2 values, got 2", "a, b ="),
    ),
    "slice of two values": (body("return tf.split(x, axis=0, num_splits=2)[§:1]"), ("an int from -2 to 1",)),
    "unpacking a tensor": (body("a, b = §x", "return a"), ("several values to unpack",)),
    "bit operator": (body("return §x | x"), ("bit operator",)),
    "inversion": (body("return §~x"), ("'~'", "logical_not")),
    "call of Python": (body("return §print(x)"), ("Python's 'print'", "@func")),
    "pure function of a tensor": (body("return §abs(x)"), ("'abs'", "tf.abs")),
    "if on a tensor": (body("if §x > 0.0:", "    return x", "return x"), ("known at compile time", "tf.where")),
    "conditional on a tensor": (body("return x if §x > 0.0 else x"), ("known at compile time",)),
    "comparison chain": (body("return tf.where(§0.0 < x < 1.0, x, x)"), ("chain", "(a < b) and (b < c)")),
    "membership": (body("return tf.where(§x in (1, 2), x, x)"), ("'in'", "compile-time")),
    # returns
    "no return": (body("§y = x"), ("without a 'return'",)),
    "empty return": (body("§return"), ("without a value",)),
    "return of a number": (body("return §1.0"), ("tensor or a tuple of tensors", "1.0")),
    "return of an extent": (body("return §M"), ("tensor or a tuple of tensors",)),
    "return in a loop": (body("for i in range(2):", "    §return x", "return x"), ("'return' inside a loop",)),
    "after return": (body("return x", "§y = x"), ("follows a 'return'",)),
    "return shape": (body("return §x[0:8]"), ("declared to return", "(8,32)")),
    "return of a name": (body("y = x[0:8]", "return §y"), ("declared to return", "(8,32)")),
    "return of what another function wrote": (
        "@func\ndef g(x: Tensor[(8,), 'f32']) -> Tensor[(8,), 'f32']:\n    return tf.exp(x)\n"
        "@func\ndef f(x: Tensor[(8,), 'f32']) -> Tensor[(4,), 'f32']:\n    return §g(x)",
        ("'f' is declared to return", "(8,)"),
    ),
    "return dtype": (body("return §tf.cast(x, 'bf16')"), ("declared to return", "bf16")),
    # signatures
    "no annotation": (body("return x", params="§x"), ("'x' has no annotation", "Tensor")),
    "bare Tensor": (body("return x", params="x: §Tensor"), ("Tensor without a shape",)),
    "python annotation": (body("return x", params="x: §int"), ("'int'", "Tensor[...]")),
    "default value": (body("return x", params='x: Tensor[(64, 32), "f32"] = §None'), ("default value",)),
    "variadic parameter": (body("return x", params='*§x: Tensor[(64, 32), "f32"]'), ("variadic",)),
    "keyword parameter": (body("return x", params='*, §x: Tensor[(64, 32), "f32"]'), ("keyword-only",)),
    "no return annotation": ("@func\n§def f(x: Tensor[(8,), 'f32']):\n    return x", ("no return annotation",)),
    "unknown dtype": (body("return x", params='x: §Tensor[(64, 32), "float"]'), ("unknown dtype 'float'", "f32")),
    "dtype object": (body("return x", params="x: §Tensor[(64, 32), DType.f32]"), ("dtype name", '"f32"')),
    "shape is an int": (body("return x", params='x: §Tensor[64, "f32"]'), ("tuple as shape", "(64,)")),
    "negative extent": (body("return x", params='x: §Tensor[(-1, 32), "f32"]'), ("-1",)),
    "float extent": (body("return x", params='x: §Tensor[(1.5, 32), "f32"]'), ("int or a DimVar", "1.5")),
    "no dtype": (body("return x", params="x: §Tensor[(64, 32),]"), ("1 item",)),
    "unknown storage": (body("return x", params='x: §Tensor[(64, 32), "f32", "l2"]'), ("unknown storage 'l2'",)),
    "two envelopes": (
        '@func\ndef f(x: Tensor[(DimVar("K", 1, 8),), "f32"], y: §Tensor[(DimVar("K", 1, 9),), "f32"])'
        ' -> Tensor[(8,), "f32"]:\n    return x',
        ("'K' has two envelopes", "[1, 8) and [1, 9)", "one DimVar object"),
    ),
    "two envelopes, in the result": (
        '@func\ndef f(x: Tensor[(DimVar("K", 1, 8),), "f32"]) -> §Tensor[(DimVar("K", 1, 9),), "f32"]:\n    return x',
        ("'K' has two envelopes",),
    ),
    "const result": (body("return x", result='§ConstTensor[(64, 32), "f32"]'), ("cannot be a ConstTensor",)),
    # literals and operators
    "int meets float": (body("return §x * 2"), ("int literal 2", "2.0")),
    "float meets int": (
        body("return §x * 2.0", params='x: Tensor[(8,), "i32"]', result='Tensor[(8,), "i32"]'),
        ("float literal 2.0", "i32"),
    ),
    "literal out of range": (
        body("return §x + 3000000000", params='x: Tensor[(8,), "i32"]', result='Tensor[(8,), "i32"]'),
        ("out of range of i32",),
    ),
    "literal overflows f16": (
        body("return §x - 1e30", params='x: Tensor[(8,), "f16"]', result='Tensor[(8,), "f16"]'),
        ("out of range of f16", "65504"),
    ),
    "index meets i32": (
        body(
            "y = x", "for i in range(4):", "    y = §y + i", "return y",
            params='x: Tensor[(8,), "i32"]', result='Tensor[(8,), "i32"]',
        ),
        ("index scalar is i64", "tf.cast"),
    ),
    "string operand": (body("return §x + 'a'"), ("'+'", "'a'")),
    "power of a tensor": (body("return §x ** 2"), ("'**'", "tf.square")),
    "division by zero": (body("return x * (§1.0 / 0.0)"), ("division by zero",)),
    "overflow": (body("return x * (§10.0 ** 400)"), (": Numerical result out of range",)),
    "modulo of extents by zero": (body("return x[0:§M % 0]"), ("zero",)),
    "huge power": (body("return x[0:§2 ** 100000]"), ("too large",)),
    "true division of extents": (body("return x[0:§M / 2]"), ("'/' of extents", "'//'")),
    "dtypes do not promote": (
        body("return §x + y", params='x: Tensor[(64, 32), "f32"], y: Tensor[(64, 32), "bf16"]'),
        ("f32 and bf16", "never promote"),
    ),
    "shapes do not broadcast": (
        body("return §x + y", params='x: Tensor[(64, 32), "f32"], y: Tensor[(31,), "f32"]'),
        ("do not broadcast", "32 and 31"),
    ),
    "matmul inner extents": (body("return §x @ x"), ("inner extents", "32 and 64 differ")),
    "placement of a tensor": (placed("return tf.reshard(x, (§x @ t.w, 64), 'rmem')"), ("expected an extent",)),
    "chain of comparisons on a coordinate": (
        placed("return tf.where(§0 < t.w < 3, x, 0.0)"),
        ("a chain of comparisons on run-time values",),
    ),
    "mesh coordinate outside of its scope": (
        placed("y = x") + "\n    return x + tf.cast(§t.w + 0, 'f32')",
        ("mesh axis 'w' is not in scope",),
    ),
    # ops
    "missing argument": (body("return §tf.maximum(x)"), ("parameter 'rhs' is missing", "maximum(lhs, rhs)")),
    "too many arguments": (body("return §tf.exp(x, x)"), ("too many", "exp(x)")),
    "unknown keyword": (body("return tf.reduce(x, (-1,), keepdims=§True)"), ("no parameter 'keepdims'", "'keepdim'")),
    "argument twice": (body("return tf.exp(x, x=§x)"), ("given twice",)),
    "operand is a string": (body("return tf.exp(§'x')"), ("'x' must be a tensor", "'x'")),
    "attribute is a tensor": (body("return tf.reshape(x, §x)"), ("known at compile time",)),
    "axis out of range": (body("return §tf.reduce(x, (2,), True, ReduceKind.SUM)"), ("axis 2 is out of range",)),
    "reduce kind": (body("return §tf.reduce(x, (1,), True, 'sum')"), ("ReduceKind",)),
    "cast to nothing": (body("return §tf.cast(x, 'f33')"), ("unknown dtype 'f33'",)),
    "reshape numel": (body("return §tf.reshape(x, (64, 33))"), ("33",)),
    "exp of ints": (
        body("return §tf.exp(x)", params='x: Tensor[(8,), "i32"]', result='Tensor[(8,), "i32"]'),
        ("float operand", "i32"),
    ),
    "tuple result": (body("return x", result='§tuple[int, int]'), ("Tensor[...]",)),
    # subscripts
    "too many subscripts": (body("return §x[0, 0, 0]"), ("3 subscripts", "rank 2")),
    "index out of range": (body("return x[§64]"), ("index 64 is out of range for extent 64",)),
    "negative index out of range": (body("return x[§-65]"), ("out of range",)),
    "slice beyond": (body("return x[0:§65]"), ("bound 65 is out of range", "64")),
    "slice backwards": (body("return x[§9:3]"), ("ends before it starts",)),
    "slice step": (body("return x[§::-1]"), ("positive int as slice step",)),
    "float index": (body("return x[§1.5]"), ("axis 0", "1.5")),
    "new axis": (body("return x[§None]"), ("axis 0", "reshape")),
    "two ellipses": (body("return x[..., §...]"), ("more than one '...'",)),
    "run-time length": (
        body("y = x", "for i in range(8):", "    y = x[§i:32]", "return y"),
        ("cannot prove", "start:start + K"),
    ),
    "window as a bound": (
        body("y = x", "for i in tile(64, 8):", "    y = x[§i:]", "return y"),
        ("slice bound", "x[i]"),
    ),
    "subscript of a number": (body("return §2[0]"), ("before '['",)),
    # loops
    "iteration over a tensor": (body("for y in §x:", "    x = x", "return x"), ("range(...) or tile(...)",)),
    "enumerate": (body("for y in §enumerate(3):", "    x = x", "return x"), ("range(...) or tile(...)",)),
    "tile of one argument": (body("for i in §tile(64):", "    x = x", "return x"), ("tile takes", "range(extent)")),
    "step zero": (body("for i in range(0, 8, §0):", "    x = x", "return x"), ("positive int",)),
    "run-time step": (body("for i in tile(64, §M):", "    x = x", "return x"), ("positive int",)),
    "keyword of range": (body("for i in range(0, 8, step=§2):", "    x = x", "return x"), ("no keyword",)),
    "float bound": (body("for i in range(§1.5):", "    x = x", "return x"), ("int or an extent", "1.5")),
    "tuple target": (body("for §i, j in range(4):", "    x = x", "return x"), ("one name",)),
    "for else": (body("for i in range(4):", "    y = x", "else:", "    §y = x", "return x"), ("'else' of a 'for'",)),
    "assigned loop variable": (body("for i in range(4):", "    §i = x", "return x"), ("variable 'i' is assigned",)),
    "hiding loop variable": (
        body("for i in range(4):", "    for §x in range(2):", "        y = x", "return x"),
        ("'x' hides a value",),
    ),
    "nested loop variable": (
        body("for i in range(4):", "    for §i in range(2):", "        x = x", "return x"),
        ("'i' is assigned in the loop",),
    ),
    "carry changes shape": (
        body("y = x", "for i in range(4):", "    §y = y[0:8]", "return y"),
        ("'y' changes its type", "(64,32)", "(8,32)"),
    ),
    "carry becomes a number": (body("y = x", "for i in range(4):", "    §y = 1.0", "return y"), ("'y'", "1.0")),
    "compile-time value changes": (
        body("n = 1", "for i in range(4):", "    §n = n + 1", "return x"),
        ("'n' is 1 before the loop and 2", "another name"),
    ),
    "tuple as a carry": (
        body("y = (x, x)", "for i in range(4):", "    §y = (y[1], y[0] + y[1])", "return y[0]"),
        ("'y' is a tuple of run-time values", "a, b = ..."),
    ),
    "range outside for": (body("y = §range(3)", "return x"), ("outside the header of a 'for'",)),
    "with in a loop": (
        "@func(topologies=(THREAD,))\ndef f(x: Tensor[(8,), 'f32']) -> Tensor[(8,), 'f32']:\n    for i in range(2):\n"
        "        §with Mesh(('thread',), (128,), ('t',)) as t:\n            y = x\n    return x",
        ("'with' inside a loop",),
    ),
    "spread on no axis": (placed("for i in range(4) @ §t:", "    x = x", "return x"), ("mesh axis after '@'",)),
    "spread carry": (
        placed("y = x", "for i in range(4) @ cta.c:", "    y = §y + x", "return y"),
        ("no order", "insert_slice"),
    ),
    "sum of windows": (
        body("y = x", "for i in tile(64, 8):", "    for j in tile(64, 8):", "        y = x[§i + j]", "return y"),
        ("two tile windows",),
    ),
    "window size of an update": (
        body("y = x", "for i in tile(64, 8):", "    y = §tf.insert_slice(y, x[0:4], (i, 0))", "return y"),
        ("8 elements", "the update 4"),
    ),
    "offsets count": (body("return tf.insert_slice(x, x, §(0,))"), ("expected 2 offsets",)),
    "offset out of bounds": (body("return §tf.insert_slice(x, x[0:8], (60, 0))"), ("axis 0", "out of bounds")),
    # meshes and layouts
    "undeclared topology": (
        body("with §Mesh(('thread',), (128,), ('t',)) as t:", "    return x"),
        ("topology 'thread' not declared", "topologies="),
    ),
    "topologies as a string": (
        body("with §Mesh('thread', (128,), ('t',)) as t:", "    return x"),
        ("tuple of topology names",),
    ),
    "mesh without layout": (body("with §Mesh(('thread',)) as t:", "    return x"), ("needs topologies and a layout",)),
    "mesh names": (
        "@func(topologies=(THREAD,))\ndef f(x: Tensor[(8,), 'f32']) -> Tensor[(8,), 'f32']:\n"
        "    with §Mesh(('thread',), (4, 32), ('w',)) as t:\n        return x",
        ("1 names", "2 axes"),
    ),
    "mesh after its scope": (
        placed("y = x") + "\n    return tf.reshard(y, §(4 @ t.w, 16, 32), 'rmem')",
        ("mesh axis 'w' is not in scope",),
    ),
    "mesh of another size": (
        "@func(topologies=(THREAD,))\ndef f(x: Tensor[(8,), 'f32']) -> Tensor[(8,), 'f32']:\n"
        "    with §Mesh(('thread',), (4, 16), ('w', 'l')) as t:\n        return x",
        ("(4,16)", "thread=128", "multiply to 64"),
    ),
    "slice of a mesh": (placed("with §t[4:8] as h:", "    return x"), ("outside axis 0 of extent 4",)),
    "huge bound": (body("for i in range(§2 ** 70):", "    x = x", "return x"), ("int or an extent",)),
    "tuple index": (body("y = (1, 2)", "return x * §y[3]"), ("subscript 3",)),
    "bool literal": (body("return §x + True"), ("literal True",)),
    "with of no mesh": (body("with §x as t:", "    return x"), ("expected a Mesh after 'with'",)),
    "layout does not divide": (
        placed("return tf.reshard(x, §(6 @ t.w, 32), 'rmem')"),
        ("extent 6 does not divide into 4",),
    ),
    "layout size": (placed("return §tf.reshard(x, (4 @ t.w, 32), 'rmem')"), ("32",)),
    "axis named twice": (placed("return tf.reshard(x, §(4 @ t.w, 4 @ t.w, 4, 32), 'rmem')"), ("'w' is named twice",)),
    "layout entry": (placed("return tf.reshard(x, §('a', 32), 'rmem')"), ("extent or 'extent @ mesh.axis'", "'a'")),
    "storage without layout": (placed("return §tf.reshard(x, storage='rmem')"), ("layout",)),
    "storage of nowhere": (placed("return §tf.reshard(x, (64, 32), 'l2')"), ("unknown storage 'l2'",)),
    # functions
    "call with too few arguments": (
        members(*F, "    return x", *G8, "    return §f()"),
        ("'f' takes 1 argument(s) (x), got 0",),
    ),
    "argument type": (
        members(*F, "    return x", *G9, "    return §f(x)"),
        ("'f'", "(9,)", "type mismatch"),
    ),
    "argument is a number": (
        members(*F, "    return x", *G8, "    return f(§1.0)"),
        ("argument 'x' of 'f'",),
    ),
    "recursion": (members(*F, "    return §f(x)"), ("recursive call: f -> f",)),
}  # fmt: skip


@pytest.mark.parametrize("name", VERIFY)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # Python's own remarks on the programs
def test_refused_with_place_and_words(name: str) -> None:
    check_refusal(*VERIFY[name])


def test_function_without_a_file() -> None:
    scope: dict[str, object] = {}
    exec("from tilefoundry.python import func\nfrom tilefoundry.dsl import Tensor", scope)
    with pytest.raises(VerifyError, match="source of 'f' is not available"):
        exec("@func\ndef f(x: Tensor[(8,), 'f32']) -> Tensor[(8,), 'f32']:\n    return x", scope)
