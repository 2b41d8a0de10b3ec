import pickle

import pytest

from tilefoundry import diagnostics
from tilefoundry.diagnostics import SourceSpan, TileFoundryError, VerifyError


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("first = 1\n\tvalue = tf.matmul(x, y)\n")
    return str(path)


def test_message_has_place_source_line_caret_and_remedy(source):
    error = VerifyError("shapes differ", span=SourceSpan(source, 2, 10, 2, 19), remedy="transpose y")
    assert str(error).splitlines() == [
        f"{source}:2:10: shapes differ",
        "  2 | \tvalue = tf.matmul(x, y)",
        "    | \t        ^^^^^^^^^",
        "  help: transpose y",
    ]


def test_span_over_several_lines_is_underlined_to_the_end_of_the_first(source):
    assert SourceSpan(source, 1, 7, 2, 3).excerpt().splitlines()[1] == "    |       ^^^"


@pytest.mark.parametrize(
    ("text", "column", "end_column", "carets"),
    [
        ("é = x + y", 5, 10, "    ^^^^^"),  # columns count characters, whatever they take in UTF-8
        ("名前 = x + y", 6, 11, "       ^^^^^"),  # two characters of two cells each
        ("x + 名前", 5, 7, "    ^^^^"),
        ("e\u0301 = x", 6, 7, "    ^"),  # a combining accent takes no cell
        ("x = [\ty]", 5, 9, "    ^\t^^"),
        ("x =", 9, 10, "   ^"),  # the file changed since: the caret stays on the line
        ("x", 2, 2, " ^"),
    ],
)
def test_carets_stand_under_what_they_mean(tmp_path, text, column, end_column, carets):
    path = tmp_path / "program.py"
    path.write_text(text + "\n", encoding="utf-8")
    assert SourceSpan(str(path), 1, column, 1, end_column).excerpt() == f"  1 | {text}\n    | {carets}"


def test_a_line_ends_before_its_carriage_return(tmp_path):
    path = tmp_path / "program.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\ny = x\r\n")
    assert SourceSpan(str(path), 1, 5, 1, 6).excerpt() == "  1 | x = 1\n    |     ^"
    assert SourceSpan(str(path), 2, 1, 2, 2).excerpt() == "  2 | y = x\n    | ^"


def test_a_file_that_cannot_be_read_leaves_the_place(tmp_path):
    error = VerifyError("bad", span=SourceSpan(str(tmp_path / "gone.py"), 3, 1, 3, 2))
    assert str(error) == f"{tmp_path / 'gone.py'}:3:1: bad"


def test_at_keeps_a_place_that_is_known():
    inner = SourceSpan("inner.py", 1, 1, 1, 2)
    located = VerifyError("bad", span=inner)
    assert located.at(SourceSpan("outer.py", 1, 1, 1, 2)) is located
    moved = VerifyError("bad", remedy="mend").at(inner)
    assert type(moved) is VerifyError
    assert (moved.span, moved.remedy) == (inner, "mend")


@pytest.mark.parametrize("span", [(0, 1, 1, 1), (1, 0, 1, 1), (2, 1, 1, 1), (1, 5, 1, 4)])
def test_malformed_spans_are_refused(span):
    with pytest.raises(ValueError):
        SourceSpan("f.py", *span)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("ArgumentTypeError", TypeError),
        ("ArgumentValueError", ValueError),
        ("WrongTypeError", TypeError),
        ("WrongValueError", ValueError),
        ("LookupNameError", AttributeError),
        ("SpecializationError", ValueError),
        ("NotProjectable", ValueError),
        ("ExtractError", NotImplementedError),
        ("EvalValueError", ValueError),
        ("DimSubstitutionError", ValueError),
        ("NotProjectable", diagnostics.WrongValueError),
        ("OverloadError", VerifyError),
        ("MissingNameError", KeyError),
    ],
)
def test_errors_are_also_what_callers_know_them_as(name, base):
    assert issubclass(getattr(diagnostics, name), base)


def test_every_exported_error_is_of_the_family_and_survives_pickling():
    kinds = [getattr(diagnostics, n) for n in diagnostics.__all__ if n != "SourceSpan"]
    for kind in kinds:
        assert issubclass(kind, TileFoundryError)
        error = kind("message", span=SourceSpan("f.py", 1, 1, 1, 2), remedy="remedy")
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is kind
        assert (copy.message, copy.span, copy.remedy) == (error.message, error.span, error.remedy)
