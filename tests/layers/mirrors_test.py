"""Every op has an evaluator and a lowering, in files that mirror its own."""

from pathlib import Path

import tilefoundry
from tests.layers.mirrors import missing_mirrors, op_files, stale_entries

_ROOT = Path(tilefoundry.__file__).parents[1]
_OP = "@register_op(category='shape')\n@dataclass(frozen=True)\nclass Flip(Op):\n    axis: int\n"


def test_every_op_is_mirrored() -> None:
    assert len(op_files(_ROOT)) > 5, f"no ops in {_ROOT}"
    missing = missing_mirrors(_ROOT)
    assert not missing, "ops without a mirror:\n" + "\n".join(missing)


def test_the_ops_that_await_a_lowering_have_none() -> None:
    stale = stale_entries(_ROOT)
    assert not stale, "remove from AWAITING_LOWERING, they have a lowering or are no ops:\n" + "\n".join(stale)


def _tree(root: Path) -> None:
    """A tree whose one op has an evaluator and no lowering."""
    for folder in ("ir/hir/shape", "evaluator/shape", "passes/lower/shape"):
        (root / "tilefoundry" / folder).mkdir(parents=True)
    (root / "tilefoundry/ir/hir/shape/flip.py").write_text(_OP)
    (root / "tilefoundry/ir/hir/shape/helper.py").write_text("def f() -> None: ...\n")
    (root / "tilefoundry/evaluator/shape/flip.py").write_text("")


def test_a_missing_mirror_is_found(tmp_path: Path) -> None:
    _tree(tmp_path)
    assert missing_mirrors(tmp_path, ()) == ["tilefoundry/passes/lower/shape/flip.py"]
    (tmp_path / "tilefoundry/passes/lower/shape/flip.py").write_text("")
    assert missing_mirrors(tmp_path, ()) == []


def test_the_list_is_held_exactly(tmp_path: Path) -> None:
    _tree(tmp_path)
    awaiting = ("shape/flip.py",)
    assert missing_mirrors(tmp_path, awaiting) == []
    assert stale_entries(tmp_path, awaiting) == []
    assert stale_entries(tmp_path, (*awaiting, "shape/helper.py")) == ["shape/helper.py"]
    (tmp_path / "tilefoundry/passes/lower/shape/flip.py").write_text("")
    assert stale_entries(tmp_path, awaiting) == ["shape/flip.py"]
    (tmp_path / "tilefoundry/evaluator/shape/flip.py").unlink()
    assert missing_mirrors(tmp_path, awaiting) == ["tilefoundry/evaluator/shape/flip.py"]
