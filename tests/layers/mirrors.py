"""One op, mirrored files: which ops lack a file that gives them meaning."""

import ast
from collections.abc import Collection
from pathlib import Path

# Where an op's file has its mirrors, at the same family and name.
EVALUATOR, LOWERING = MIRRORS = ("evaluator", "passes/lower")

# Ops that evaluate and cannot be compiled yet: `lower` refuses them by name and place. One op file a line, sorted.
AWAITING_LOWERING: frozenset[str] = frozenset()


def op_files(root: Path) -> list[Path]:
    """The files below tilefoundry/ir/hir that register an op, as paths relative to that folder."""
    hir = root / "tilefoundry" / "ir" / "hir"
    return sorted(
        f.relative_to(hir) for f in hir.rglob("*.py") if not f.name.endswith("_test.py") and _registers_an_op(f)
    )


def missing_mirrors(root: Path, awaiting: Collection[str] = AWAITING_LOWERING) -> list[str]:
    """The files that the tree below the import root lacks, other than the lowerings of the ops that await one."""
    wanted = (Path("tilefoundry", mirror, op) for op in op_files(root) for mirror in _mirrors_of(op, awaiting))
    return [str(f) for f in wanted if not (root / f).is_file()]


def stale_entries(root: Path, awaiting: Collection[str] = AWAITING_LOWERING) -> list[str]:
    """The ops said to await a lowering that have one, or that do not exist."""
    ops = {str(op) for op in op_files(root)}
    lowering = root / "tilefoundry" / LOWERING
    return sorted(op for op in awaiting if op not in ops or (lowering / op).is_file())


def _mirrors_of(op: Path, awaiting: Collection[str]) -> tuple[str, ...]:
    return (EVALUATOR,) if str(op) in awaiting else MIRRORS


def _registers_an_op(file: Path) -> bool:
    """Whether a class in the file is decorated with `register_op`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if ast.unparse(called).rpartition(".")[2] == "register_op":
                    return True
    return False
