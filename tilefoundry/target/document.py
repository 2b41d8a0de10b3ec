"""Hardware facts as documents: TOML in which each leaf states its value, unit, origin, source and conditions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tilefoundry.diagnostics import WrongTypeError, WrongValueError

_FOLDER = os.path.join(os.path.dirname(__file__), "documents")
_LEAF = {"value", "unit", "origin", "source", "conditions"}
ORIGINS = ("specification", "measured", "reference", "derived")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact.

    Attributes:
        origin: how it is known: one of `ORIGINS`.
        source: the document or measurement that says so.
        conditions: what it holds under; may be empty.
    """

    value: int | float | str
    unit: str
    origin: str
    source: str
    conditions: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document.

    Attributes:
        id: such as ``nvidia.h200_sxm``.
        kind: "device" or "architecture".
        compatible: for a device, the architecture that it implements; "" otherwise.
        facts: dotted path to fact, sorted by path.
        digest: sha256 of the file's bytes, in hex.
    """

    id: str
    kind: str
    compatible: str
    facts: tuple[tuple[str, Fact], ...]
    digest: str

    def fact(self, path: str) -> Fact:
        """The fact at a dotted path.

        Raises:
            WrongValueError: the document does not state it.
        """
        for key, fact in self.facts:
            if key == path:
                return fact
        raise WrongValueError(
            f"document '{self.id}' states no '{path}'", remedy=f"it states: {', '.join(key for key, _ in self.facts)}"
        )

    def number(self, path: str) -> int | float:
        """The value at a dotted path, which must be a number."""
        value = self.fact(path).value
        if isinstance(value, str):
            raise WrongTypeError(
                f"document '{self.id}': '{path}' is the text {value!r}, expected a number",
                remedy="read it with fact(path).value",
            )
        return value


def known_documents(kind: str) -> tuple[str, ...]:
    """The ids of all documents of a kind that come with the package, sorted."""
    files = sorted(name for name in os.listdir(_FOLDER) if name.endswith(".toml"))
    documents = (_read(os.path.join(_FOLDER, name)) for name in files)
    return tuple(sorted(document.id for document in documents if document.kind == kind))


def load_document(name: str, kind: str) -> Document:
    """The document of this id, or in the TOML file at this path.

    Raises:
        WrongTypeError: the name is no string.
        WrongValueError: there is no such document, it is of another kind, or it is malformed.
    """
    if not isinstance(name, str):
        raise WrongTypeError(
            f"expected the id or path of a {kind} document, got {name!r}", remedy='write e.g. "nvidia.h200_sxm"'
        )
    path = name if name.endswith(".toml") else os.path.join(_FOLDER, f"{name}.toml")
    if ("/" in name and not name.endswith(".toml")) or not os.path.isfile(path):
        raise WrongValueError(
            f"unknown {kind} {name!r}",
            remedy=f"use one of {', '.join(known_documents(kind))}, or the path of a .toml document",
        )
    document = _read(path)
    if document.kind != kind:
        raise WrongValueError(
            f"document '{document.id}' is of kind {document.kind}, expected kind {kind}",
            remedy=f"use one of {', '.join(known_documents(kind))}, or the path of a .toml document",
        )
    return document


@cache
def _read(path: str) -> Document:
    import hashlib  # with tomllib and what that needs, a good part of `import tilefoundry`, if they were imported there
    import tomllib

    name = os.path.basename(path)
    with open(path, "rb") as file:
        data = file.read()
    try:
        tables = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongValueError(f"{name}: not a TOML document: {error}", remedy="correct the file") from error
    head = {key: tables.pop(key, "") for key in ("id", "kind", "compatible")}
    if (
        not all(isinstance(v, str) for v in head.values())
        or not head["id"]
        or head["kind"] not in ("device", "architecture")
    ):
        raise WrongValueError(
            f'{name}: expected an id and kind = "device" or "architecture" at the top, got {head}',
            remedy="write both before the first table",
        )
    facts = tuple(sorted(_facts(name, "", tables).items()))
    return Document(head["id"], head["kind"], head["compatible"], facts, hashlib.sha256(data).hexdigest())


def _facts(file: str, prefix: str, table: Mapping[str, object]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    for key, entry in table.items():
        path = f"{prefix}{key}"
        if not isinstance(entry, Mapping):
            raise WrongValueError(
                f"{file}: '{path}' is a bare value", remedy=f"make it a table with {', '.join(sorted(_LEAF))}"
            )
        if "value" not in entry:
            found.update(_facts(file, f"{path}.", entry))
            continue
        if set(entry) != _LEAF:
            raise WrongValueError(
                f"{file}: '{path}' has {sorted(entry)}, expected exactly {sorted(_LEAF)}",
                remedy="state all of them for each value, and nothing else",
            )
        if entry["origin"] not in ORIGINS:
            raise WrongValueError(
                f"{file}: '{path}' has origin {entry['origin']!r}, expected one of {ORIGINS}",
                remedy="say where the value comes from by one of these",
            )
        if not isinstance(entry["value"], (int, float, str)) or not all(
            isinstance(entry[k], str) for k in _LEAF - {"value"}
        ):
            raise WrongValueError(
                f"{file}: '{path}' must hold a number or text, and text besides",
                remedy="write a number or a text as value, and text in the other entries",
            )
        found[path] = Fact(entry["value"], entry["unit"], entry["origin"], entry["source"], entry["conditions"])
    return found
