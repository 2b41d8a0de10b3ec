"""The house rules, one file each: `NAME` and `find(workspace)`."""

from tools.lint.check import Check, house_check
from tools.lint.checks import build_sources, file_length, links, machine_paths, registry_hosts, starlark_docs, wording


def house_checks() -> list[Check]:
    """All house rules."""
    modules = (registry_hosts, machine_paths, file_length, links, wording, starlark_docs, build_sources)
    return [house_check(m.NAME, m.find) for m in modules]
