"""Instruction sets are compared with what the machine has."""

from tilefoundry.runtime.isa import missing_features

_V3 = frozenset(
    [
        "cx16",
        "lahf_lm",
        "popcnt",
        "pni",
        "sse4_1",
        "sse4_2",
        "ssse3",
        "abm",
        "avx",
        "avx2",
        "bmi1",
        "bmi2",
        "f16c",
        "fma",
        "movbe",
        "xsave",
    ]
)


def test_levels_name_what_is_missing() -> None:
    assert missing_features("x86-64-v3", "x86_64", _V3) == ()
    assert missing_features("x86-64-v3", "x86_64", _V3 - {"fma"}) == ("fma",)
    assert "avx512f" in missing_features("x86-64-v4", "x86_64", _V3)


def test_another_architecture() -> None:
    assert missing_features("x86-64-v2", "aarch64", frozenset()) == ("x86-64 (this is aarch64)",)
    assert missing_features("aarch64", "x86_64", _V3) == ("aarch64 (this is x86_64)",)
    assert missing_features("aarch64", "aarch64", frozenset()) == ()
