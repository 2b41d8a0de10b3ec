"""What is refused of types, layouts and meshes: the place in the author's text, and the words that explain it."""

from __future__ import annotations

import pytest

from tilefoundry.python.testing import check_refusal

RESULT = 'Tensor[(8, 64), "f32"]'


def typed(annotation: str) -> str:
    """A program with this annotation of a parameter."""
    return f"@func\ndef f(x: {annotation}) -> {RESULT}:\n    return x"


def scoped(statement: str, mesh: str = 'Mesh(("thread",), (4, 32), ("w", "l")) as t') -> str:
    """A program with a statement in a mesh scope, where x has the shape (8, 64)."""
    head = f"@func(topologies=(CTA, THREAD))\ndef f(x: {RESULT}) -> {RESULT}:"
    return f"{head}\n    with {mesh}:\n        {statement}\n    return x"


def laid(layout: str, storage: str = '"rmem"') -> str:
    """A program that reshards x of shape (8, 64) to a layout."""
    return scoped(f"y = tf.reshard(x, {layout}, {storage})")


# name: (program, words)
TYPES: dict[str, tuple[str, tuple[str, ...]]] = {
    "a number among value states": (
        typed('§Tensor[(8, 64), "f32", ((8, 64), {3}), "rmem"]'),
        ("expected value states in braces", '{m.axis @ P("sum")}'),
    ),
    "no slots": (typed("§Tensor"), ("Tensor without a shape", "write Tensor[")),
    "one slot": (typed("§Tensor[(8, 64)]"), ("expected a tuple as shape, got 8",)),
    "five slots": (typed('§Tensor[(8, 64), "f32", None, "gmem", None]'), ("got 5 item(s)",)),
    "shape of an int": (typed('§Tensor[8, "f32"]'), ("expected a tuple as shape, got 8", "(8,)")),
    "shape of a string": (typed('§Tensor["8", "f32"]'), ("expected a tuple as shape, got '8'",)),
    "extent of a string": (typed('§Tensor[("8", 64), "f32"]'), ("int or a DimVar as extent, got '8'",)),
    "extent of a bool": (typed('§Tensor[(True, 64), "f32"]'), ("int or a DimVar as extent, got True",)),
    "extent of a tuple": (typed('§Tensor[((8, 8), 64), "f32"]'), ("extent, got a tuple of 2",)),
    "negative extent": (typed('§Tensor[(-8, 64), "f32"]'), ("extent from 0 to 2**63 - 1, got -8", "non-negative")),
    "huge extent": (
        typed('§Tensor[(2 ** 63, 64), "f32"]'),
        ("extent from 0 to 2**63 - 1, got 9223372036854775808", "below 2**63"),
    ),
    "dtype of an object": (typed("§Tensor[(8, 64), DType.f32]"), ("expected a dtype name", '"f32"')),
    "unknown dtype": (typed('§Tensor[(8, 64), "fp32"]'), ("unknown dtype 'fp32'", "f32")),
    "dtype in capitals": (typed('§Tensor[(8, 64), "F32"]'), ("unknown dtype 'F32'",)),
    "unknown storage": (typed('§Tensor[(8, 64), "f32", "GMEM"]'), ("unknown storage 'GMEM'",)),
    "storage before layout": (typed('§Tensor[(8, 64), "f32", "gmem", (8, 64)]'), ("a layout, then a storage",)),
    "two storages": (typed('§Tensor[(8, 64), "f32", "gmem", "smem"]'), ("a layout, then a storage, got 'smem'",)),
    "layout of another size": (typed('§Tensor[(8, 64), "f32", (8, 32)]'), ("(8,32)",)),
    "layout of another rank": (typed('§Tensor[(8, 64), "f32", (512,)]'), ("(512,)",)),
    "strides of another rank": (typed('§Tensor[(8, 64), "f32", ((8, 64), (1,))]'), ("1 strides for 2 entries",)),
    "strides that overlap": (typed('§Tensor[(8, 64), "f32", ((8, 64), (0, 1))]'), ("injective",)),
    "quotes around no expression": (typed("§'Tensor[(8,, 64)]'"), ("the text of this annotation is no expression",)),
    "quotes around a name": (typed("§'undefined'"), ("name 'undefined' is not defined",)),
    "a result of int": (
        "@func\ndef f(x: Tensor[(8,), 'f32']) -> §int:\n    return x",
        ("Tensor[...] or a tuple of them as return type, got 'int'",),
    ),
    "a result of nothing": (
        "@func\ndef f(x: Tensor[(8,), 'f32']) -> §None:\n    return x",
        ("as return type, got None",),
    ),
    "a result with a layout": (
        '@func\ndef f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32", ((8,), (2,))]:\n    return §x + x',
        ("declared to return",),
    ),
}

LAYOUTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "extent that does not divide": (laid("§(6 @ t.w, 64)"), ("extent 6 does not divide into 4 units", "pad")),
    "layout of another size": (scoped('y = §tf.reshard(x, (4 @ t.w, 64), "rmem")'), ("as many elements",)),
    "an axis twice": (laid("§(4 @ t.w, 4 @ t.w, 32)"), ("'w' is named twice",)),
    "an axis in a layout and in a state": (
        scoped('y = tf.zeros(§Tensor[(8, 64), "f32", ((8 @ t.w, 64), {t.w @ P("sum")}), "rmem"])'),
        ("'w' is named twice",),
    ),
    "an unknown axis": (laid("(8 @ §t.x, 64)"), ("mesh has no axis 'x'", "its axes are: w, l")),
    "a mesh of two axes": (laid("(§8 @ t, 64)"), ("2 axes cannot be placed on as a whole", "name an axis")),
    "a placed tensor": (laid("(§x @ t.w, 64)"), ("expected an extent before '@ mesh.axis'",)),
    "a placed float": (laid("(§8.0 @ t.w, 64)"), ("expected an extent before '@ mesh.axis', got 8.0",)),
    "a string as an entry": (laid("§('w', 64)"), ("extent or 'extent @ mesh.axis' in a layout, got 'w'",)),
    "an axis as an entry": (laid("§(t.w, 64)"), ("in a layout, got mesh axis 'w'",)),
    "an axis as a layout": (laid("§t.w"), ("in a layout, got mesh axis 'w'",)),
    "a string as a layout": (laid("§'row'"), ("in a layout, got 'row'",)),
    "a stride of a string": (laid("§((8, 64), ('a', 1))"), ("expected an int as a stride, got 'a'",)),
    "strides of factored entries": (
        laid("§((8 @ t.w, 64), (64, 1))"),
        ("factored into (4, 2)", "each factor as an entry"),
    ),
    "strides of another rank": (laid("§((4 @ t.w, 2, 64), (64, 1))"), ("2 strides for 3 entries",)),
    "states that are Broadcast": (
        scoped('y = tf.zeros(§Tensor[(8, 64), "f32", ((8, 64), {t.w @ B()}), "rmem"])'),
        ("expected a Partial after '@' in a value state", "not named is Broadcast"),
    ),
    "states without '@'": (
        scoped('y = tf.zeros(Tensor[(8, 64), "f32", ((8, 64), {§t.w}), "rmem"])'),
        ("expected a value state in braces, got mesh axis 'w'",),
    ),
    "an unknown reduction": (
        scoped('y = tf.zeros(Tensor[(8, 64), "f32", ((8, 64), {t.w @ §P("mean")}), "rmem"])'),
        ("reduction must be one of", "'mean'"),
    ),
    "Partial made of nothing": (
        scoped('y = §tf.reshard(x, ((8, 64), {t.w @ P("sum")}), "rmem")'),
        ("not P(sum) along mesh axis 'w'",),
    ),
    "an axis after its scope": (
        laid("(8 @ t.w, 64)").replace("return x", "return tf.reshard(y, §(8 @ t.l, 8), 'gmem')"),
        ("mesh axis 'l' is not in scope",),
    ),
    "a storage without a layout": (scoped('y = §tf.reshard(x, storage="smem")'), ("layout",)),
    "no residency": (scoped('y = §tf.reshard(x, (8, 64), "umat")'), ("umat",)),
    "an unknown storage": (scoped('y = §tf.reshard(x, (8, 64), "l2")'), ("unknown storage 'l2'",)),
}

MESHES: dict[str, tuple[str, tuple[str, ...]]] = {
    "an undeclared level": (
        scoped("pass", '§Mesh(("warp",), (4,), ("w",)) as t'),
        ("topology 'warp' not declared; available levels: cta, thread", "declare it"),
    ),
    "a level as a string": (scoped("pass", '§Mesh("thread", (128,), ("t",)) as t'), ("write Mesh(('thread',), ...)",)),
    "a level as a number": (scoped("pass", "§Mesh((128,), (128,)) as t"), ("expected a topology name, got 128",)),
    "levels as a number": (scoped("pass", "§Mesh(128, (128,)) as t"), ("tuple of topology names, got 128",)),
    "no layout": (scoped("pass", '§Mesh(("thread",)) as t'), ("needs topologies and a layout",)),
    "a layout of a number": (scoped("pass", '§Mesh(("thread",), 128) as t'), ("mesh extents such as (4, 32)",)),
    "a layout of strings": (scoped("pass", '§Mesh(("thread",), ("4", "32")) as t'), ("mesh extents",)),
    "too many arguments": (scoped("pass", '§Mesh(("thread",), (128,), ("t",), 1) as t'), ("3 arguments", "got 4")),
    "an unknown argument": (scoped("pass", '§Mesh(("thread",), shape=(128,)) as t'), ("unexpected argument 'shape'",)),
    "an argument twice": (
        scoped("pass", '§Mesh(("thread",), (128,), layout=(128,)) as t'),
        ("unexpected argument 'layout'",),
    ),
    "names of another count": (scoped("pass", '§Mesh(("thread",), (4, 32), ("w",)) as t'), ("1 names", "2 axes")),
    "a name twice": (scoped("pass", '§Mesh(("thread",), (4, 32), ("w", "w")) as t'), ("axis names repeat",)),
    "names as a string": (scoped("pass", '§Mesh(("thread",), (128,), "t") as t'), ("tuple of axis names, got 't'",)),
    "another size": (scoped("pass", '§Mesh(("thread",), (4, 16)) as t'), ("multiply to 64",)),
    "levels that are straddled": (scoped("pass", '§Mesh(("cta", "thread"), (8, 64)) as t'), ("(8,64)",)),
    "a layout that repeats": (
        scoped("pass", '§Mesh(("thread",), Layout((4, 32), (1, 1))) as t'),
        ("one id to two coordinates",),
    ),
    "a negative extent": (scoped("pass", 'Mesh(("thread",), §Layout((-4, 32))) as t'), ("must not be negative",)),
    "a level twice": (scoped("pass", '§Mesh(("cta", "cta"), (4, 4)) as t'), ("repeat",)),
    "a level that is open": (
        scoped('with §Mesh(("thread",), (128,)) as u:\n            pass'),
        ("topology 'thread' is open already",),
    ),
    "no mesh": (scoped("pass", "§x as t"), ("expected a Mesh after 'with', got a run-time value",)),
    "a name in a tuple": (scoped("pass", 'Mesh(("thread",), (4, 32)) as §(w, l)'), ("expected a name after 'as'",)),
    "a slice that is empty": (scoped("pass", '§Mesh(("thread",), (4, 32))[2:2] as t'), ("[2, 2) is empty",)),
    "a slice outside": (scoped("pass", '§Mesh(("thread",), (4, 32))[:, 30:34] as t'), ("axis 1 of extent 32",)),
    "a slice with a step": (scoped("pass", '§Mesh(("thread",), (4, 32))[::2] as t'), ("step 1",)),
    "too many slices": (scoped("pass", '§Mesh(("thread",), (4, 32))[1, 1, 1] as t'), ("3 indices for 2 axes",)),
    "in a loop": (
        f"@func(topologies=(THREAD,))\ndef f(x: {RESULT}) -> {RESULT}:\n    for i in range(2):\n"
        "        §with Mesh(('thread',), (128,)) as t:\n            x = x\n    return x",
        ("'with' inside a loop", "around the loop"),
    ),
    "a spread over a mesh of two axes": (
        scoped("for i in range(4) @ §t:\n            x = x"),
        ("expected a mesh axis after '@', got a mesh",),
    ),
    "a coordinate outside of its scope": (
        scoped("pass").replace("return x", "return x * tf.cast(§t.w, 'f32')"),
        ("mesh axis 'w' is not in scope here", "inside of the 'with Mesh"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_types(name: str) -> None:
    check_refusal(*TYPES[name])


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str) -> None:
    check_refusal(*LAYOUTS[name])


@pytest.mark.parametrize("name", MESHES)
def test_meshes(name: str) -> None:
    check_refusal(*MESHES[name])
