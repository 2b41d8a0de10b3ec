"""What the front end of kernels and their verifier refuse: the place in the author's text, and the words.

In each program the mark (see `testing.MARK`) stands where the diagnosis must point.
"""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.python.testing import check_refusal

AO = 'a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]'


def kernel(*lines: str, params: str = AO, decorator: str = "@prim_func") -> str:
    """A program of one kernel with these body lines."""
    return "\n".join([decorator, f"def k({params}):", *(f"    {line}" for line in lines)])


def placed(*lines: str, params: str = AO) -> str:
    """A kernel whose lines run on a thread mesh (4, 32), with a view of each parameter and a fragment."""
    head = (
        'with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")) as m:',
        "    va = T.tensor_view(a, layout=(4 @ m.w, 32 @ m.l))",
        "    vo = T.tensor_view(o, layout=(4 @ m.w, 32 @ m.l))",
        '    r = T.alloc_tensor(Tensor[(4, 32), "f32", (4 @ m.w, 32 @ m.l), "rmem"])',
    )
    return kernel(*head, *(f"    {line}" for line in lines), params=params)


def scalars(*lines: str) -> str:
    """A kernel with a counter `n` in registers."""
    return kernel('n = T.alloc_tensor(Tensor[(), "i32", "rmem"])', "T.fill(n, 0)", *lines)


def launching(line: str, *before: str, params: str = AO) -> str:
    """A device kernel `dev` for 128 threads, and a host function with these lines."""
    scope = '    with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1)), ("w", "l")) as m:'
    dev = ["@prim_func(target=CudaTarget())", f"def dev({params}):", scope, "        T.sync(m)"]
    return "\n".join(
        [*dev, "@prim_func(target=CpuTarget())", f"def host({params}):", *(f"    {x}" for x in (*before, line))]
    )


ELSEWHERE = 'OTHER = Mesh((Topology("thread", 8),), Layout((8,), (1,)), ("l",))\n'
NO = 'a: Tensor[(N, 32), "f32"], o: Tensor[(N, 32), "f32"]'
WARP = 'with Mesh((Topology("thread", 32),), Layout((4, 8), (1, 4)), ("t", "g")) as m:'
ATOM = "atom=T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN"
FRAGMENTS = tuple(
    f'    {name} = T.alloc_tensor(Tensor[{shape}, "{dtype}", ShardLayout(Layout({modes}), {attrs}, m), "rmem"])'
    for name, shape, dtype, modes, attrs in (
        ("c", "(16, 8)", "f32", "(2, 4, 8, 2), (1, 2, 8, 64)", "(S(1), S(2))"),
        ("x", "(16, 16)", "bf16", "(2, 4, 2, 8, 2), (1, 2, 8, 16, 128)", "(S(1), S(3))"),
        ("y", "(16, 8)", "bf16", "(8, 2, 4, 2), (1, 8, 16, 64)", "(S(2), S(0))"),
    )
)

# name: (program, words)
VERIFY: dict[str, tuple[str, tuple[str, ...]]] = {
    # names and values
    "undefined name": (kernel("T.copy(a, §oo)"), ("name 'oo' is not defined", "'o'")),
    "unknown op": (kernel("§T.coppy(a, o)"), ("no op named 'coppy'", "T.copy")),
    "unknown instruction": (kernel("x = §T.cuda.mma.SM80_16x8x16_F32BF16BF16F32"), ("no instruction", "_TN")),
    "unknown instruction by name": (kernel("x = §T.cuda.mma.atom(op='wgmma')"), ("no instruction 'wgmma'", "SM80")),
    "statement as a value": (placed("§x = T.copy(va, r)"), ("T.copy has no value",)),
    "statement as an operand": (placed("T.copy(§T.sync(m), r)"), ("'src' must be a tensor",)),
    "dropped value": (placed("§T.tensor_view(a)"), ("dropped", "x = ...")),
    "memory without a name": (
        placed('§T.copy(va, T.alloc_tensor(Tensor[(4, 32), "f32", "rmem"]))'),
        ("T.alloc_tensor must be given a name",),
    ),
    "tensor op": (kernel("x = §tf.exp(a)"), ("unary gives a new tensor", "T.binary")),
    "operator on tensors": (kernel("x = §a * a"), ("gives a new tensor",)),
    "subscript": (kernel("T.copy(§a[0], o)"), ("subscript", "T.tensor_view(x, i, j")),
    "subscript by a loop variable": (
        kernel("for i in range(4):", "    T.copy(§a[i], o)"),
        ("a subscript of a tensor in a kernel", "T.tensor_view(x, i, j"),
    ),
    "assignment to an element": (kernel("§o[0] = a"), ("elements cannot be assigned", "T.copy(src, view)")),
    "augmented assignment": (scalars("§n += 1"), ("augmented", "T.binary(n, ..., n")),
    "rebinding in a block": (
        scalars("x = n + 1", "for i in range(4):", "    §x = x + 1"),
        ("'x' is bound already outside of this block", "T.copy"),
    ),
    "name of a block": (scalars("for i in range(4):", "    x = n + 1", "T.fill(n, §x)"), ("'x' has no value", "'for'")),
    "name of a scope": (
        kernel('with Mesh((Topology("thread", 8),), (8,), ("l",)) as m:', "    T.sync(m)", "T.sync(§m)"),
        ("'m' has no value here", "'with' at line 3"),
    ),
    "unpacking": (kernel("§x, y = a"), ("2 names for",)),
    "call of Python": (kernel("§print(a)"), ("Python's 'print'",)),
    "call of HIR": (
        '@func\ndef f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:\n    return x\n'
        '@prim_func\ndef k(a: Tensor[(8,), "f32"], o: Tensor[(8,), "f32"]):\n    §f(a)',
        ("'f' is written in HIR", "@prim_func"),
    ),
    "constructs": (kernel("§try:", "    T.copy(a, o)", "finally:", "    pass"), ("statement of a kernel", "'try'")),
    "break": (kernel("for i in range(4):", "    §break"), ("'break'", "'while'")),
    "annotated assignment": (kernel('§x: Tensor[(4, 32), "f32"] = a'), ("annotated assignment",)),
    # loops and branches
    "tile loop": (kernel("for i in §tile(64, 16):", "    T.copy(a, o)"), ("expected range", "T.tensor_view(x, i")),
    "spread loop": (
        placed("for i in §range(4) @ m.w:", "    T.copy(va, r)"),
        ("not spread by '@'", "range(m.x, n, 4)"),
    ),
    "step": (kernel("for i in range(8, 0, §-1):", "    T.copy(a, o)"), ("step must be positive, got -1",)),
    "float bound": (kernel("for i in range(§1.5):", "    T.copy(a, o)"), ("expected an integer, got 1.5",)),
    "loop variable": (scalars("for i in range(4):", "    §i = n + 1"), ("loop variable 'i' is assigned",)),
    "loop variable hides": (scalars("for §n in range(4):", "    pass"), ("'n' hides a value",)),
    "else of a loop": (kernel("for i in range(4):", "    pass", "else:", "    §T.copy(a, o)"), ("'else' of a 'for'",)),
    "condition is a number": (scalars("if §n:", "    T.fill(n, 1)"), ("bool scalar as condition",)),
    "condition never changes": (kernel("while §True:", "    T.copy(a, o)"), ("never changes: True",)),
    "return of a value": (kernel("§return a"), ("'return' with a value", "T.copy(r, out)")),
    "after return": (kernel("return", "§T.copy(a, o)"), ("follows a 'return'",)),
    "after abort": (kernel('T.abort("no")', "§T.copy(a, o)"), ("follows T.abort",)),
    "abort": (kernel("§T.abort(1)"), ("takes one message",)),
    # signatures
    "return type": (
        '@prim_func\ndef k(a: Tensor[(8,), "f32"]) -> §Tensor[(8,), "f32"]:\n    pass',
        ("returns nothing", "last parameter"),
    ),
    "weight": (kernel("pass", params='§w: ConstTensor[(8,), "f32"]'), ("ConstTensor", "Tensor[...]")),
    "no annotation": (kernel("pass", params="§a"), ("'a' has no annotation",)),
    "more outputs than parameters": (
        kernel("pass", decorator="@prim_func(output_count=3)").replace("def", "§def"),
        ("output_count is 3",),
    ),
    "hidden name": (
        kernel("pass", params='a: Tensor[(N,), "f32"], a_shape_0: Tensor[(), "i32"]').replace("def", "§def"),
        ("has the name of the hidden one",),
    ),
    "inplace": (
        kernel("pass", decorator='@prim_func(inplace={"o": "x"})').replace("def", "§def"),
        ("does not pair an output with an input", "inputs: a"),
    ),
    "some sharded": (
        'W = Mesh((Topology("thread", 4),), Layout((4,), (1,)), ("w",))\n@prim_func\n'
        'def k(a: Tensor[(4, 32), "f32", ShardLayout(Layout((4, 32), (32, 1)), (S(0),), W)], '
        '§o: Tensor[(4, 32), "f32"]):\n    pass',
        ("'a' is sharded and 'o' is not",),
    ),
    # operands
    "operand count": (placed("§T.copy(va)"), ("'dst' is missing", "copy(src, dst)")),
    "unknown attribute": (placed("T.binary(r, r, r, knd=§1)"), ("no parameter 'knd'", "kind")),
    "kind": (placed("§T.binary(r, r, r, kind='mul')"), ("BinaryKind, got 'mul'",)),
    "cast kind": (placed("§T.unary(r, r, kind=UnaryKind.CAST)"), ("T.cast",)),
    "element types": (
        placed('h = T.alloc_tensor(Tensor[(4, 32), "f16", (4 @ m.w, 32 @ m.l), "rmem"])', "§T.copy(r, h)"),
        ("'src' is f32 and 'dst' is f16", "T.cast"),
    ),
    "parts": (
        placed('h = T.alloc_tensor(Tensor[(4, 64), "f32", (4 @ m.w, 64 @ m.l), "rmem"])', "§T.copy(h, r)"),
        ("'src' holds", "elements in each instance"),
    ),
    "comparison": (placed("§T.binary(r, r, r, kind=BinaryKind.LT)"), ("'the result' is bool", "f32")),
    "literal": (placed("§T.binary(r, 2, r, kind=BinaryKind.MUL)"), ("int literal 2 meets f32", "2.0")),
    "fill": (placed("§T.fill(r, True)"), ("'value' is True",)),
    "fill of a scalar": (kernel("i = T.program_id(level='cta')", "§T.fill(i, 1)"), ("cannot be written",)),
    "clamp": (placed("§T.clamp(r, r, min_val=1.0, max_val=0.0)"), ("[1.0, 0.0] is empty",)),
    "reduced axis": (placed("§T.reduce(r, r, axes=(2,), kind=ReduceKind.SUM)"), ("axis 2 is out of range",)),
    "reduced shape": (placed("§T.reduce(r, r, axes=(1,), kind=ReduceKind.SUM)"), ("(4, 1)",)),
    "norm weight": (placed("§T.rms_norm(r, r, r)"), ("'weight' must have the shape of the last axis",)),
    "async copy": (placed("§T.copy_async(va, r)"), ("from gmem to smem", "T.copy")),
    "async wait": (kernel("§T.cp_async_wait(n=-1)"), ("must not be negative",)),
    "allocation of a global scalar": (kernel('x = §T.alloc_tensor(Tensor[(), "f32", "gmem"])'), ("give it an axis",)),
    "allocation without elements": (kernel('x = §T.alloc_tensor(Tensor[(4, 0), "f32", "smem"])'), ("has no elements",)),
    "view of nothing": (
        kernel('x = T.alloc_tensor(Tensor[(4, 8), "f32", "smem"])', "y = §T.tensor_view(x, shape=(0, 8))"),
        ("has no elements", "leave it out"),
    ),
    "allocation on the host": (kernel('x = §T.alloc_tensor(Tensor[(8,), "f32", "host"])'), ("gmem, got host",)),
    "dynamic allocation": (
        kernel('x = §T.alloc_tensor(Tensor[(N,), "f32", "smem"])', params=NO),
        ("symbolic extent", "static extents"),
    ),
    "allocation of nothing": (kernel("x = §T.alloc_tensor(4)"), ("expected a TensorType, got 4",)),
    "view coordinates": (kernel("v = §T.tensor_view(a, 0, shape=(4,))"), ("2 coordinate(s) or none, got 1",)),
    "view element type": (kernel("v = §T.tensor_view(a, dtype='bf16')"), ("holds f32", "bf16")),
    "view layout": (placed("v = T.tensor_view(a, layout=§(4 @ m.w, 16 @ m.l))"), ("extent 16 does not divide",)),
    "view beyond the end": (
        kernel("v = §T.tensor_view(a, 2, 0, shape=(3, 32))"),
        ("reaches element 159 of memory that holds 128",),
    ),
    "view before the start": (
        kernel("v = §T.tensor_view(a, 0, -1, shape=(1, 32))"),
        ("starts 1 elements before",),
    ),
    "strides beyond the end": (
        placed("v = §T.tensor_view(a, layout=ShardLayout(Layout((4, 32), (64, 1)), (S(0), S(1)), m))"),
        ("reaches element 223 of memory that holds 128",),
    ),
    "shapes of the parts": (
        kernel(
            'with Mesh((Topology("thread", 16),), (16,), ("t",)) as m:',
            '    x = T.alloc_tensor(Tensor[(16, 2, 4), "f32", (16 @ m.t, 2, 4), "rmem"])',
            '    y = T.alloc_tensor(Tensor[(16, 4, 2), "f32", (16 @ m.t, 4, 2), "rmem"])',
            "    §T.copy(x, y)",
        ),
        ("'src' holds", "(1,2,4)", "(1,4,2)"),
    ),
    "view of a pointer": (kernel("p = T.ptr_of(a)", "v = §T.tensor_view(p)"), ("needs a shape",)),
    "pointer to registers": (placed("p = §T.ptr_of(r)"), ("a tensor in rmem has no address",)),
    # scopes
    "no mesh": (kernel("with §a as m:", "    pass"), ("expected a Mesh after 'with'",)),
    "undeclared level": (kernel('with §Mesh(("thread",), (4, 32)) as m:', "    pass"), ("'thread' not declared",)),
    "two levels": (placed('with §Mesh((Topology("thread", 8),), (8,)) as n:', "    pass"), ("open already", "m[0:2]")),
    "axes do not fit": (
        kernel('with §Mesh((Topology("thread", 64),), Layout((4, 32), (32, 1))) as m:', "    pass"),
        ("do not fit the levels",),
    ),
    "mesh out of scope": (
        ELSEWHERE + kernel("§T.sync(OTHER)"),
        ("mesh of axes ('l',) is not in scope", "with Mesh"),
    ),
    "layout out of scope": (
        ELSEWHERE
        + kernel("§v = T.tensor_view(a, layout=ShardLayout(Layout((4, 8, 4), (32, 4, 1)), (S(1),), OTHER))"),
        ("is not in scope",),
    ),
    "slice of nothing": (
        ELSEWHERE + kernel("with §OTHER[0:4] as half:", "    pass"),
        ("of no mesh that is in scope",),
    ),
    # barriers and instructions
    "barrier of some threads": (
        placed("if m.w == 0:", "    §T.sync(m)"),
        ("the condition of the 'if' at line 7 lets only some of them come", "T.sync(m[0:2])"),
    ),
    "barrier in a scope of some threads": (
        placed("with m[0:2] as front:", "    §T.sync(m)"),
        ("the scope of some threads",),
    ),
    "barrier in a loop of some threads": (
        placed("for i in range(m.w):", "    §T.sync(m)"),
        ("the bounds of the 'for'",),
    ),
    "barrier under a counter of each thread": (
        placed(
            'n = T.alloc_tensor(Tensor[(), "i32", "rmem"])', "T.fill(n, 0)", "while n < 8:",
            "    §T.sync(m)", "    if m.l == 0:", "        T.binary(n, 1, n, kind=BinaryKind.ADD)",
        ),
        ("the condition of the 'while'",),
    ),
    "barrier after some have left": (
        placed("lane = m.l + 1", "if lane > 3:", "    return", "§T.sync(m)"),
        ("an early 'return' under the condition of the 'if'",),
    ),
    "reduction of some threads": (
        placed(
            'x = T.alloc_tensor(Tensor[(64,), "f32", "smem"])',
            's = T.alloc_tensor(Tensor[(4, 1), "f32", (4 @ m.w, 1), "rmem"])',
            "if m.w == 0:",
            "    §T.reduce(r, s, x, axes=(1,), kind=ReduceKind.SUM)",
        ),
        ("reduce: all threads of the CTA meet here",),
    ),
    "threads that are no interval": (placed("§T.sync(m[:, 0:16])"), ("not one contiguous interval",)),
    "parts of two warps": (
        kernel('with Mesh((Topology("thread", 96),), (6, 16), ("h", "l")) as m:', "    §T.sync(m[1:4])"),
        ("neither within one warp nor whole warps", "multiples of 32"),
    ),
    "barrier of the grid where some CTAs have less to do": (
        kernel(
            'with Mesh((Topology("cta", 4),), (4,), ("c",)) as c:',
            "    for i in range(c.c, 9, 4):", "        §T.sync(c)",
        ),
        ("all CTAs of the launch meet here", "the bounds of the 'for'", "as often in each"),
    ),
    "barrier of the grid for one CTA": (
        kernel(
            'with Mesh((Topology("cta", 4),), (4,), ("c",)) as c:',
            "    if T.program_id(level='cta') == 0:", "        §T.sync(c)",
        ),
        ("all CTAs of the launch meet here", "the condition of the 'if'"),
    ),
    "barrier of the grid for some threads": (
        placed('with Mesh((Topology("cta", 4),), (4,), ("c",)) as c:', "    if m.w == 0:", "        §T.sync(c)"),
        ("all threads of the CTA meet here", "the condition of the 'if'"),
    ),
    "barrier of some CTAs": (
        kernel('with Mesh((Topology("cta", 4),), (4,), ("c",)) as c:', "    §T.sync(c[0:2])"),
        ("some of the CTAs cannot meet",),
    ),
    "instruction without a scope": (
        placed(f"§T.mma(r, r, r, {ATOM})"),
        ("(4, 32) @ (4, 32)",),
    ),
    "fragment": (
        kernel(WARP, *FRAGMENTS, f"    §T.mma(c, x, x, {ATOM})"),
        ("do not give",),
    ),
    "fragment layout": (
        kernel(
            WARP,
            *FRAGMENTS[:2],
            '    y = T.alloc_tensor(Tensor[(16, 8), "bf16", (16, 8 @ m.g), "rmem"])',
            f"    §T.mma(c, x, y, {ATOM})",
        ),
        ("'rhs' of SM80", "ShardLayout("),
    ),
    "instruction in another scope": (
        kernel(WARP.replace("(1, 4)", "(8, 1)"), *FRAGMENTS, f"    §T.mma(c, x, y, {ATOM})"),
        ("runs in a mesh scope of the layout (4,8):(1,4)", "(4,8):(8,1)"),
    ),
    # calls and launches
    "argument count": (
        "@prim_func\ndef g(a: Tensor[(8,), 'f32']):\n    pass\n" + kernel("§g(a, o)"),
        ("'g' takes 1 argument(s) (a), got 2",),
    ),
    "argument type": (
        "@prim_func\ndef g(a: Tensor[(8,), 'f32']):\n    pass\n" + kernel("§g(a)"),
        ("'g': parameter 'a'", "type mismatch"),
    ),
    "argument memory": (
        "@prim_func\ndef g(a: Tensor[(4, 32), 'f32']):\n    pass\n" + placed("§g(r)"),
        ("'g': parameter 'a'", "rmem"),
    ),
    "two of one name": (
        "@prim_func\ndef g(a: Tensor[(4, 32), 'f32']):\n    pass\nh = g\n"
        "@prim_func\ndef g(a: Tensor[(4, 32), 'f32']):\n    T.fill(a, 0.0)\n" + kernel("g(a)", "§h(a)"),
        ("two functions called 'g'",),
    ),
    "call across targets": (launching("§dev(a, o)"), ("'host' runs on cpu and calls 'dev'", "launch(dev")),
    "launch of nothing": (launching("launch(§a, o, grid=(1,), block=(128,))"), ("expected a @prim_func first",)),
    "launch without grid": (launching("§launch(dev, a, o, block=(128,))"), ("'grid' is missing",)),
    "launch keyword": (launching("launch(dev, a, o, gird=§1, block=1)"), ("no parameter 'gird'",)),
    "launch argument": (launching("§launch(dev, a, grid=1, block=128)"), ("'dev' takes 2 argument(s)",)),
    "launch extent": (launching("launch(dev, a, o, grid=§(0, 1, 1), block=128)"), ("must be positive, got 0",)),
    "launch of four axes": (launching("§launch(dev, a, o, grid=(1, 1, 1, 1), block=128)"), ("one to three extents",)),
    "launch on a raw extent": (
        launching("launch(dev, a, o, grid=§(N, 1, 1), block=(128, 1, 1))", params=NO),
        ("names the extent 'N' itself", "a.shape[0]"),
    ),
    "launch of another block": (
        launching("launch(dev, a, o, grid=(1, 1, 1), block=§(64, 1, 1))"),
        ("written for 128 threads", "block=(128, 1, 1)"),
    ),
    "launch on a device": (
        launching("§launch(dev, a, o, grid=1, block=128)").replace("CpuTarget()", "CudaTarget()"),
        ("written for a GPU and launches",),
    ),
    "launch attribute": (launching("§launch(dev, a, o, grid=1, block=128, cluster=0)"), ("cluster",)),
    "dispatch": (launching("§T.dispatch('f', a, dev)"), ("T.dispatch takes", "otherwise")),
    "dispatch case": (
        launching("T.dispatch('f', a.shape[0], §dev, args=(a, o), otherwise='no')", params=NO),
        ("expected (pattern, @prim_func)",),
    ),
    "dispatch on a static extent": (
        launching("§T.dispatch('f', a_rows, (DimVarRangePat('N', 1, 5), k), args=(a, o), otherwise='no')").replace(
            "@prim_func(target=CpuTarget())", "@prim_func\ndef k(a: Tensor[(4, 32), 'f32'], o: Tensor[(4, 32), 'f32']):"
            "\n    pass\n@prim_func(target=CpuTarget())"
        ).replace("a_rows", "T.program_id(level='cta')"),
        ("one extent of a parameter",),
    ),
    # intrinsics
    "intrinsic argument": (
        "@intrinsic\ndef twice(x, y):\n    T.binary(x, x, y, kind=BinaryKind.ADD)\n" + placed("§twice(r)"),
        ("'twice': parameter 'y' is missing", "x, y"),
    ),
    "inside an intrinsic": (
        "@intrinsic\ndef twice(x, y):\n    §T.binary(x, x, y, kind=BinaryKind.LT)\n" + placed("twice(r, r)"),
        ("'the result' is bool",),
    ),
    "intrinsic calls itself": (
        "@intrinsic\ndef twice(x):\n    §twice(x)\n" + placed("twice(r)"),
        ("intrinsic 'twice' calls itself",),
    ),
    "return in an intrinsic": (
        "@intrinsic\ndef stop():\n    §return\n" + placed("stop()"),
        ("would end its caller",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VERIFY)
def test_refused_with_place_and_words(name: str) -> None:
    text, words = VERIFY[name]
    check_refusal(text, words)


@pytest.mark.parametrize("kind", [ValueError, VerifyError])
def test_too_many_barriers(kind: type[Exception]) -> None:
    program = placed(*["T.sync(m[0:2])"] * 15, "§T.sync(m[0:2])")
    check_refusal(program, ("more than 15 barriers", "T.sync(m) on the whole mesh"), kind)
