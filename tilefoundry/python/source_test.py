"""Places in all kinds of files: encodings, line ends, tabs, wide characters, decorators over several lines, cells."""

from __future__ import annotations

import ast
import linecache
import os
from pathlib import Path

import pytest

from tilefoundry.diagnostics import TileFoundryError, VerifyError

HEAD = "from tilefoundry.python import func, module\nfrom tilefoundry.dsl import *\n"
MARK = "§"


def run(path: Path, text: str, encoding: str = "utf-8", newline: str = "\n") -> TileFoundryError:
    """What the front end refuses in a file; the mark is where its place is expected. Python itself runs the bytes."""
    before, _, after = (HEAD + text).partition(MARK)
    path.write_bytes((before + after).replace("\n", newline).encode(encoding))
    linecache.checkcache(str(path))
    with pytest.raises(TileFoundryError) as caught:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), {"__name__": "program"})
    error = caught.value
    assert error.span is not None, error
    place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert (error.span.file, error.span.line, error.span.column) == (str(path), *place), error
    assert str(error).startswith(f"{path}:{place[0]}:{place[1]}: ")
    return error


F = '@func\ndef f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:\n'


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str, newline: str) -> None:
    error = run(tmp_path / "program.py", F + "    é = x\n    return é + §wrong\n", encoding, newline)
    assert str(error).splitlines()[1:3] == ["  6 |     return é + wrong", "    |                ^^^^^"]


def test_a_coding_cookie(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    text = F + "    é = x\n    return é + §wrong\n"
    before, _, after = ("# coding: latin-1\n" + HEAD + text).partition(MARK)
    path.write_bytes((before + after).encode("latin-1"))
    with pytest.raises(VerifyError) as caught:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), {"__name__": "program"})
    assert str(caught.value).splitlines()[:3] == [
        f"{path}:7:16: name 'wrong' is not defined",
        "  7 |     return é + wrong",
        "    |                ^^^^^",
    ]


def test_wide_characters_before_the_caret(tmp_path: Path) -> None:
    error = run(tmp_path / "program.py", F + "    名前 = x\n    return 名前 + §wrong\n")
    assert str(error).splitlines()[2] == "    | " + " " * 18 + "^^^^^"


def test_tabs_before_the_caret(tmp_path: Path) -> None:
    error = run(tmp_path / "program.py", F + "\tif True:\n\t\treturn x +\t§wrong\n")
    assert str(error).splitlines()[1:3] == ["  6 | \t\treturn x +\twrong", "    | \t\t          \t^^^^^"]


def test_a_place_inside_of_brackets_over_several_lines(tmp_path: Path) -> None:
    error = run(tmp_path / "program.py", F + "    return tf.maximum(\n        x,\n        §wrong,\n    )\n")
    assert str(error).splitlines()[1] == "  7 |         wrong,"


def test_a_form_feed_is_no_line_end(tmp_path: Path) -> None:
    run(tmp_path / "program.py", "\x0c\n" + F + "    s = 'a\x0cb\x1cc\u2028d'\n    return §wrong\n")


def test_decorators_over_several_lines(tmp_path: Path) -> None:
    decorator = '@func(\n    topologies=(\n        Topology("cta", 4),\n    ),\n)\n'
    run(tmp_path / "program.py", F.replace("@func\n", decorator) + "    return §wrong\n")


def test_several_decorators(tmp_path: Path) -> None:
    text = "def same(f):\n    return f\n@same\n" + F.replace("@func\n", "@func\n@same\n") + "    return §wrong\n"
    run(tmp_path / "program.py", text)


def test_a_class_below_its_decorator_over_several_lines(tmp_path: Path) -> None:
    text = '@module(\n    entry="f",\n)\nclass Program:\n    x = 1; §y = 2\n'
    error = run(tmp_path / "program.py", text.replace("x = 1; §y = 2", "§x = 1"))
    assert "member 'x' has the type int" in str(error)


def test_what_a_decorator_refuses_stands_at_its_call(tmp_path: Path) -> None:
    error = run(
        tmp_path / "program.py", "# 名\n@§func(\n    target=3,\n)\n" + F.removeprefix("@func\n") + "    return x\n"
    )
    assert str(error).splitlines()[1:3] == ["  4 | @func(", "    |  ^^^^^"]


def test_two_functions_of_one_name(tmp_path: Path) -> None:
    run(tmp_path / "program.py", F + "    return x\n" + F + "    return §wrong\n")


def test_a_cell_of_a_notebook() -> None:
    name = "ipykernel_1/2.py"  # a notebook keeps the sources of its cells in linecache
    text = HEAD + F + "    return wrong\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    with pytest.raises(VerifyError) as caught:
        exec(compile(text, name, "exec", dont_inherit=True), {"__name__": "__main__"})
    assert str(caught.value).startswith(f"{name}:5:12: name 'wrong' is not defined\n  5 |     return wrong\n")


def test_a_file_that_changed_and_no_longer_parses(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + F + "    return x\n")
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    path.write_text(HEAD + "def f(:\n")
    with pytest.raises(VerifyError, match=r"changed since it was imported and no longer parses(.|\n)*help: ") as caught:
        exec(code, {"__name__": "program"})
    assert caught.value.span is not None
    assert caught.value.span.line == 3


def test_a_file_whose_function_moved(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + F + "    return x\n")
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    path.write_text(HEAD + "# one\n# two\n# three\n" + F + "    return x\n")
    with pytest.raises(VerifyError, match=r"definition of 'f' is not at (.|\n)*import it again") as caught:
        exec(code, {"__name__": "program"})
    assert caught.value.span is not None
    assert caught.value.span.line == 3


def test_a_file_that_was_deleted(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + F + "    return x\n")
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    os.remove(path)
    with pytest.raises(VerifyError, match="source of 'f' is not available"):
        exec(code, {"__name__": "program"})


def test_code_without_columns(tmp_path: Path) -> None:
    """As under ``python -X no_debug_ranges``: the line is still told."""
    path = tmp_path / "program.py"
    path.write_text(HEAD + "@func(target=3)\ndef f(): pass\n")
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    code = code.replace(co_linetable=_without_columns(code.co_linetable))
    with pytest.raises(TypeError, match="target must be a Target") as caught:
        exec(code, {"__name__": "program"})
    assert isinstance(caught.value, TileFoundryError)
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (3, 1)


def _without_columns(table: bytes) -> bytes:
    """A location table with the entries of 'no column' kind (13) in place of those with columns."""
    out, at = bytearray(), 0
    while at < len(table):
        first, end = table[at], at + 1
        while end < len(table) and not table[end] & 0x80:
            end += 1
        kind, body = (first >> 3) & 15, table[at + 1 : end]
        if kind == 14:  # line delta as a signed varint, then the rest
            size = 1
            while body[size - 1] & 0x40:
                size += 1
            out += bytes([0x80 | 13 << 3 | first & 7]) + body[:size]
        elif 10 <= kind <= 12:
            out += bytes([0x80 | 13 << 3 | first & 7, (kind - 10) << 1])
        elif kind <= 9:
            out += bytes([0x80 | 13 << 3 | first & 7, 0])
        else:
            out += table[at:end]
        at = end
    return bytes(out)


def test_every_place_of_a_tree_has_columns_in_characters(tmp_path: Path) -> None:
    from tilefoundry.python.source import source_file

    path = tmp_path / "program.py"
    path.write_text("名 = (é, 'ü', x)\n", encoding="utf-8")
    file = source_file(str(path), {})
    assert file is not None
    (statement,) = ast.parse(path.read_text(encoding="utf-8")).body
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.value, ast.Tuple)
    assert [file.span(e).column for e in statement.value.elts] == [6, 9, 14]
