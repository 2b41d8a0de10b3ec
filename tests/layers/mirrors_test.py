"""Every op has an evaluator and a lowering, in files that mirror its own."""

from pathlib import Path

import tilefoundry
from tests.layers.mirrors import missing_mirrors, op_files

_ROOT = Path(tilefoundry.__file__).parents[1]
_OP = "@register_op(category='shape')\n@dataclass(frozen=True)\nclass Flip(Op):\n    axis: int\n"


def test_every_op_is_mirrored() -> None:
    assert len(op_files(_ROOT)) > 5, f"no ops in {_ROOT}"
    missing = missing_mirrors(_ROOT)
    assert not missing, "ops without a mirror:\n" + "\n".join(missing)


def test_a_missing_mirror_is_found(tmp_path: Path) -> None:
    for folder in ("ir/hir/shape", "evaluator/shape", "passes/lower/shape"):
        (tmp_path / "tilefoundry" / folder).mkdir(parents=True)
    (tmp_path / "tilefoundry/ir/hir/shape/flip.py").write_text(_OP)
    (tmp_path / "tilefoundry/ir/hir/shape/helper.py").write_text("def f() -> None: ...\n")
    (tmp_path / "tilefoundry/evaluator/shape/flip.py").write_text("")
    assert missing_mirrors(tmp_path) == ["tilefoundry/passes/lower/shape/flip.py"]
    (tmp_path / "tilefoundry/passes/lower/shape/flip.py").write_text("")
    assert missing_mirrors(tmp_path) == []
