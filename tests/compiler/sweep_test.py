"""The sweep in checking mode has every program that the tests here run, those of tomorrow as well."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# What a program is run through: running.py has it compiled in checking mode where the sweep asks for that.
RUNNERS = {"built", "compiled", "compare"}
# Tests of jit itself, of checking mode and of what only a GPU has compile as they say.
OWN = {
    "async_test.py": {"test_a_fault_is_found_and_named", "test_what_waits_reports_nothing"},
    "edge_statements_test.py": {"test_34_jit_takes_programs_and_known_keywords_only"},
}


def running_nothing() -> set[str]:
    """The files that the sweep leaves out because they run no program on the CPU, or choose themselves how."""
    tree = ast.parse((HERE / "BUILD.bazel").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NO_CPU_RUN":
            names = ast.literal_eval(node.value)
            assert isinstance(names, list)
            return set(names)
    raise AssertionError("BUILD.bazel has no list of tests that run nothing")


def called(tree: ast.AST) -> set[str]:
    """The names of what is called, but for jit(..., target="cuda")."""
    return {
        ast.unparse(node.func).rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and not any(ast.unparse(k) == "target='cuda'" for k in node.keywords)
    }


TESTS = sorted(path.name for path in HERE.glob("*_test.py"))


def test_there_are_tests_to_sweep() -> None:
    assert len(TESTS) > 20 and running_nothing() < set(TESTS)


@pytest.mark.parametrize("name", TESTS)
def test_programs_run_where_the_sweep_sees_them(name: str) -> None:
    tree = ast.parse((HERE / name).read_text())
    if name in running_nothing():
        assert not called(tree) & RUNNERS, f"{name} runs programs: take it off _NO_CPU_RUN in BUILD.bazel"
        return
    own = OWN.get(name, set())
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name not in own:
            assert "jit" not in called(function), f"{name}, {function.name}: compile by built() of running.py"
