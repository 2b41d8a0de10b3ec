"""The public names of the op families, and the header of each: a name that comes, goes or moves shows here."""

import re
from pathlib import Path

HEADERS = Path(__file__).absolute().parents[1] / "tilefoundry/runtime"

PUBLIC = {
    "core/copy_async.h": {"copy_async", "cp_async_commit", "cp_async_wait"},
    "core/copy_n.h": {"copy_n"},
    "core/elementwise.h": {"binary", "cast", "clamp", "fill", "iota", "unary", "where"},
    "core/gather.h": {"gather"},
    "core/local_matmul.h": {"local_matmul"},
    "core/mma.h": {"mma", "mma_issue", "mma_wait"},
    "core/part.h": {"store_element", "whole_copy", "whole_fill", "whole_iota"},
    "core/reduce.h": {"no_workspace", "reduce", "reduce_workspace_bytes"},
    "core/scan.h": {"scan", "scan_workspace_bytes"},
    "core/scatter.h": {"scatter_add"},
    "core/slice.h": {"claim_registers", "give_up_registers"},
    "core/sync.h": {"sync"},
    "core/tile.h": {"tile_load", "tile_store", "tile_store_issue", "tile_store_wait"},
    "core/topk.h": {"topk"},
    "core/transpose.h": {"transpose", "transpose_workspace_bytes"},
    "core/update.h": {"cache_update", "index_add", "index_copy"},
}
_FAMILY = re.compile(r"^namespace ops \{\n(.*?)^\}  // namespace ops", re.S | re.M)
_NAME = re.compile(
    r"^(?:TILEFOUNDRY_\w+|inline|constexpr)[^;{(]*?\b(\w+)\(|^(?:struct|class|enum class|using)\s+(\w+)", re.M
)


def test_each_op_has_one_public_entry_in_one_header() -> None:
    found: dict[str, set[str]] = {}
    for header in HEADERS.rglob("*.*h"):
        for family in _FAMILY.finditer(header.read_text(encoding="utf-8")):
            names = {function or type_ for function, type_ in _NAME.findall(family[1])}
            found.setdefault(str(header.relative_to(HEADERS)), set()).update(names)
    assert found == PUBLIC
    names = [name for header in PUBLIC.values() for name in header]
    assert len(names) == len(set(names))


_ENTRY = re.compile(r"^(TILEFOUNDRY_\w+) [^;{(]*?\b(\w+)\(", re.M)
_CALL = re.compile(r"(\w+) [^;{}\n]*\boperator\(\)\(")


def test_entries_and_functors_are_for_device_code() -> None:
    """What answers from layouts alone may be asked by a host."""
    entries: dict[str, str] = {}
    for name in PUBLIC:
        for family in _FAMILY.finditer((HEADERS / name).read_text(encoding="utf-8")):
            entries.update({entry: macro for macro, entry in _ENTRY.findall(family[1])})
    for entry, macro in entries.items():
        host = entry.endswith("_workspace_bytes")
        assert macro == ("TILEFOUNDRY_HOST_DEVICE" if host else "TILEFOUNDRY_DEVICE"), entry
    types = {"no_workspace"}
    assert set(entries) | types >= {name for names in PUBLIC.values() for name in names}
    functors = _CALL.findall((HEADERS / "core/functors.h").read_text(encoding="utf-8"))
    assert len(functors) > 5 and set(functors) == {"TILEFOUNDRY_DEVICE"}
