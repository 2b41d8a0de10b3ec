"""Printing and reading are inverse on random programs."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.text.random_programs import random_program
from tests.text.reading import assert_round_trip, execute
from tilefoundry.ir import Function, Module


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_programs_round_trip(random: Random) -> None:
    module = execute(random_program(random))["Program"]
    assert isinstance(module, Module)
    assert_round_trip(module)


def test_the_programs_hold_what_is_hard() -> None:
    texts = [random_program(Random(seed)) for seed in range(200)]
    for part in ("specialize", "converter", "Child1", "d_.where", "d_.tile", "d_.Mesh", "renamed", "shared"):
        assert sum(part in text for text in texts) > 10, part
    assert any(text.count("        for ") > 2 for text in texts)
    made = [execute(text)["Program"] for text in texts[:40]]
    assert all(isinstance(f, Function) for m in made if isinstance(m, Module) for f in m.functions)
