"""What a check found: one line per output, as text or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from tilefoundry.runtime.measure.predicate import PredicateResult

Scalar = int | float | complex
JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True)
class WorstElement:
    """Where candidate and reference are farthest apart (NaN before infinity before distance), and both values.

    Without a reference: the first value that is not finite.
    """

    index: tuple[int, ...]
    candidate: Scalar
    reference: Scalar | None

    def __str__(self) -> str:
        against = "" if self.reference is None else f" against {_number(self.reference)}"
        return f"{list(self.index)}: {_number(self.candidate)}{against}"


@dataclass(frozen=True)
class OutputCheck:
    """One output: its form, the L2 norm of its reference (None without one), and what each predicate measured.

    `worst` is None when nothing differs (or, without a reference, when everything is finite).
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    ref_norm: float | None
    results: tuple[PredicateResult, ...]
    worst: WorstElement | None = None

    @property
    def passed(self) -> bool:
        """Whether every predicate passed."""
        return all(result.passed for result in self.results)

    def _cells(self) -> list[str]:
        return [
            self.path,
            f"{self.dtype}{list(self.shape)}".replace(" ", ""),
            f"ref_norm {'none' if self.ref_norm is None else _number(self.ref_norm)}",
            ", ".join(_result_text(result) for result in self.results),
            f"worst {self.worst or 'none'}",
            "PASS" if self.passed else "FAIL",
        ]


@dataclass(frozen=True)
class Report:
    """Every output's check. `str()` is an aligned table of one line per output.

    `mutated_inputs` names the inputs that the candidate wrote into; any of them fails the report.
    """

    outputs: tuple[OutputCheck, ...]
    mutated_inputs: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every output passed and no input was written into."""
        return not self.mutated_inputs and all(output.passed for output in self.outputs)

    def __str__(self) -> str:
        rows = [output._cells() for output in self.outputs]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        lines += [f"{path}  written into by the candidate  FAIL" for path in self.mutated_inputs]
        return "\n".join(line.rstrip() for line in lines)

    def to_json(self, indent: int | None = 2) -> str:
        """The report as a JSON object. Numbers that JSON lacks are the strings "nan", "inf" and "-inf"."""
        outputs: list[JsonValue] = [_output_json(output) for output in self.outputs]
        mutated: list[JsonValue] = list(self.mutated_inputs)
        document = {"passed": self.passed, "outputs": outputs, "mutated_inputs": mutated}
        return json.dumps(document, indent=indent, allow_nan=False)


def _result_text(result: PredicateResult) -> str:
    values = " ".join(f"{name}={_number(value)}" for name, value in result.values.items())
    note = f"({result.note})" if result.note else ""
    text = " ".join(part for part in (values, note) if part)
    return f"{result.predicate} {'' if result.passed else 'FAILED '}{text}".rstrip()


def _number(value: Scalar) -> str:
    """Integers exactly, floats to nine digits: enough to tell any two f32 values apart."""
    if isinstance(value, complex):
        return f"{value:.9g}"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _output_json(output: OutputCheck) -> dict[str, JsonValue]:
    worst: JsonValue = None
    if output.worst is not None:
        worst = {
            "index": list(output.worst.index),
            "candidate": _scalar_json(output.worst.candidate),
            "reference": _scalar_json(output.worst.reference),
        }
    return {
        "path": output.path,
        "shape": list(output.shape),
        "dtype": output.dtype,
        "ref_norm": _scalar_json(output.ref_norm),
        "worst": worst,
        "results": [_result_json(result) for result in output.results],
        "passed": output.passed,
    }


def _result_json(result: PredicateResult) -> dict[str, JsonValue]:
    bounds: Mapping[str, float] = {name: getattr(result.predicate, name) for name in result.predicate.bounds}
    return {
        "predicate": result.predicate.name,
        "bounds": {name: _scalar_json(value) for name, value in bounds.items()},
        "values": {name: _scalar_json(value) for name, value in result.values.items()},
        "note": result.note,
        "passed": result.passed,
    }


def _scalar_json(value: Scalar | None) -> JsonValue:
    if isinstance(value, complex):
        return [_scalar_json(value.real), _scalar_json(value.imag)]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
