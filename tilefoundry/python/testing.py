"""For tests: programs given as text, with the place where a refusal is expected marked in it."""

from __future__ import annotations

import itertools
import linecache
import textwrap

from tilefoundry.diagnostics import TileFoundryError, VerifyError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.function import Function

MARK = "§"

PRELUDE = """\
import math
from tilefoundry.python import func, intrinsic, module, prim_func
from tilefoundry.dsl import *
from tilefoundry.dsl.storage import gmem, rmem, smem
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.target import CpuTarget, CudaTarget
M, N = DimVar("M", 1, 1 << 20), DimVar("N", 1, 1 << 20)
CTA, THREAD = Topology("cta", 4), Topology("thread", 128)
"""

VECTOR = 'x: Tensor[(8,), "f32"]'

# The kernel and its host function that the surface gives as an example.
EX5 = """\
@prim_func(target=CudaTarget("nvidia.h200_sxm"))
def dev(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    with Mesh((Topology("thread", 128),), Layout((4, 32), (32, 1))) as m:
        SL = ShardLayout(layout=Layout(shape=(4, 32), strides=(32, 1)), attrs=(Split(0), Split(1)), mesh=m)
        va = T.tensor_view(a, layout=SL)
        vo = T.tensor_view(o, layout=SL)
        r = T.alloc_tensor(TensorType((4, 32), DType.f32, SL, StorageKind.RMEM))
        T.copy(va, r)
        T.binary(r, r, r, kind=BinaryKind.MUL)
        T.sync(m)
        T.copy(r, vo)
@prim_func(target=CpuTarget())
def host(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):
    launch(dev, a, o, grid=(1, 1, 1), block=(128, 1, 1))
"""

_serial = itertools.count()


def load_program(text: str) -> dict[str, object]:
    """Runs a program text as a module of its own and gives its names; spans count from the text's first line."""
    name = f"<program {next(_serial)}>"
    source = textwrap.dedent(text).lstrip("\n")
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope: dict[str, object] = {"__name__": "program"}
    exec(PRELUDE, scope)
    exec(compile(source, name, "exec", dont_inherit=True), scope)
    return scope


def load_function(*lines: str, params: str = VECTOR, result: str = 'Tensor[(8,), "f32"]', head: str = "") -> Function:
    """A function with these body lines; ``head`` is what precedes it."""
    text = "\n".join([head, "@func", f"def f({params}) -> {result}:", *(f"    {line}" for line in lines)])
    found = load_program(text)["f"]
    assert isinstance(found, Function)
    return found


def body_of(found: object) -> Expr:
    """The body of a function."""
    assert isinstance(found, Function)
    assert found.body is not None
    return found.body


def marked(text: str) -> tuple[str, tuple[int, int] | None]:
    """A text without its mark, and the 1-based line and column where the mark stood."""
    source = textwrap.dedent(text).lstrip("\n")
    before, mark, after = source.partition(MARK)
    if not mark:
        return source, None
    return before + after, (before.count("\n") + 1, len(before) - before.rfind("\n"))


def check_refusal(text: str, words: tuple[str, ...], kind: type[Exception] = VerifyError) -> None:
    """Checks that a program is refused: by this kind of error, at the mark, in these words, with a remedy."""
    source, place = marked(text)
    assert place is not None, "the program has no mark"
    error: Exception | None = None
    try:
        load_program(source)
    except kind as caught:
        error = caught
    assert isinstance(error, TileFoundryError), f"expected a {kind.__name__} of the family, got {error!r}"
    assert error.span is not None, f"no place: {error}"
    assert (error.span.line, error.span.column) == place, f"{error}\nexpected at {place}"
    shown = str(error)
    line = source.splitlines()[place[0] - 1]
    head, below = shown.split(f" | {line}\n", 1)  # the source line is shown, and a caret under its mark
    lead = below.splitlines()[0].split("| ", 1)[1]
    assert lead.index("^") == place[1] - 1 or not line.isascii(), shown
    assert f":{place[0]}:{place[1]}: " in head
    assert error.remedy, f"no remedy: {error}"
    for word in words:
        assert word in shown, f"{word!r} is not in\n{shown}"
