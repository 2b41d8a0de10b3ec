"""The module graph resolves, and every package loads, against a registry with the rule sets' public modules.

The registry is written here: each rule set at the version that MODULE.bazel (or Bazel's own tools) asks for, holding
only its documented public files. So nothing is overridden, nothing comes from the machine's distribution, and a load
of anything that is not public fails. It stands in for the real registry, which not every machine reaches.
"""

from __future__ import annotations

import json
import re
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

_CHECKOUT = Path("MODULE.bazel").resolve().parent
_MODULE = "tilefoundry"

# The public files that this project may load, by module: {path: names}.
_PUBLIC: dict[str, dict[str, list[str]]] = {
    "bazel_skylib": {
        "lib/unittest.bzl": ["analysistest", "asserts", "unittest"],
        "lib/paths.bzl": ["paths"],
        "rules/build_test.bzl": ["build_test"],
        "rules/common_settings.bzl": ["BuildSettingInfo", "bool_flag", "string_flag", "string_list_flag"],
    },
    "rules_cc": {
        "cc/defs.bzl": ["cc_binary", "cc_import", "cc_library", "cc_shared_library", "cc_test", "CcInfo", "cc_common"],
        "cc/find_cc_toolchain.bzl": ["find_cc_toolchain", "use_cc_toolchain"],
    },
    "rules_python": {
        "python/defs.bzl": [
            *("py_binary", "py_library", "py_test", "py_runtime", "py_runtime_pair", "PyInfo", "PyRuntimeInfo"),
        ],
    },
    "rules_shell": {
        "shell/sh_binary.bzl": ["sh_binary"],
        "shell/sh_library.bzl": ["sh_library"],
        "shell/sh_test.bzl": ["sh_test"],
    },
}
# What each name is in a stand-in: Bazel's own rule, its own provider or namespace, or a namespace of functions.
_NATIVE_RULES = re.compile(r"(cc|py|sh)_(binary|import|library|shared_library|test|runtime)$")
_GLOBALS = {"CcInfo", "PyInfo", "PyRuntimeInfo", "cc_common"}
_NAMESPACES = {
    "analysistest": "struct(make = lambda *a, **k: lambda **k: None)",
    "asserts": "struct()",
    "unittest": "struct(make = lambda *a, **k: lambda **k: None)",
    "find_cc_toolchain": "lambda ctx: None",
    "use_cc_toolchain": "lambda **k: []",
    "paths": "struct()",
    "build_test": "lambda **k: None",
    "BuildSettingInfo": 'provider(fields = ["value"])',
    "bool_flag": "rule(lambda ctx: [], build_setting = config.bool(flag = True))",
    "string_flag": "rule(lambda ctx: [], build_setting = config.string(flag = True))",
    "string_list_flag": "rule(lambda ctx: [], build_setting = config.string_list(flag = True))",
    "py_runtime_pair": "lambda **k: None",
}
# What Bazel's built-in repository of that name asks for.
_LOCAL_CONFIG_PLATFORM = ("platforms", "0.0.7")
# Labels that are not loaded but named.
_TARGETS = {
    "rules_python": {
        "python": 'toolchain_type(name = "toolchain_type", visibility = ["//visibility:public"])',
        "python/runfiles": 'filegroup(name = "runfiles", visibility = ["//visibility:public"])',
    },
}


def _dependencies(text: str) -> Iterator[tuple[str, str]]:
    for body in re.findall(r"bazel_dep\(([^)]*)\)", text):
        found = dict(re.findall(r'\b(name|version) = "([^"]+)"', body))
        yield found["name"], found["version"]


def _extensions(text: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """(module, file, extension, repositories) of the modules' extensions that Bazel's own tools use."""
    usage = r'(\w+) = use_extension\("@(\w+)//([\w/]*:[\w.]+)", "(\w+)"\)'
    for variable, module, label, name in re.findall(usage, text):
        used = re.search(rf"use_repo\(\s*{variable},([^)]*)\)", text)
        yield module, label.replace(":", "/").lstrip("/"), name, re.findall(r'"(\w+)"', used[1]) if used else []


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _write_module(registry: Path, name: str, version: str) -> None:
    """One module with its public files, and its entry in the registry."""
    source = registry / "sources" / f"{name}-{version}"
    module = f'module(name = "{name}", version = "{version}")\n'
    entry = registry / "modules" / name / version
    _write(entry / "MODULE.bazel", module)
    _write(entry / "source.json", json.dumps({"type": "local_path", "path": str(source)}))
    _write(source / "MODULE.bazel", module)
    _write(source / "BUILD.bazel", "")
    for file, names in _PUBLIC.get(name, {}).items():
        # a file cannot export a global under its own name: it goes through a second one
        lines = [f'load("//:globals.bzl", {", ".join(f"_{n} = {chr(34)}its_{n}{chr(34)}" for n in _GLOBALS)})']
        for exported in names:
            if exported in _GLOBALS:
                value = f"_{exported}"
            elif _NATIVE_RULES.match(exported):
                value = f"native.{exported}"
            else:
                value = _NAMESPACES[exported]
            lines.append(f"{exported} = {value}")
        _write(source / file, "\n".join(lines) + "\n")
        _write((source / file).parent / "BUILD.bazel", "")
    _write(source / "globals.bzl", "".join(f"its_{n} = {n}\n" for n in sorted(_GLOBALS)))
    for package, text in _TARGETS.get(name, {}).items():
        _write(source / package / "BUILD.bazel", text + "\n")
    if name == "platforms":
        for package, values in {"cpu": ["x86_64", "aarch64"], "os": ["linux", "osx"], ".": ["incompatible"]}.items():
            text = 'package(default_visibility = ["//visibility:public"])\nconstraint_setting(name = "setting")\n'
            text += "".join(f'constraint_value(name = "{v}", constraint_setting = ":setting")\n' for v in values)
            _write(source / package / "BUILD.bazel", text)
    if name == "googletest":
        _write(source / "BUILD.bazel", 'cc_library(name = "gtest_main", visibility = ["//visibility:public"])\n')


class _Bazel:
    """A Bazel with no rc file at all, and this test's registry as the only one."""

    def __init__(self, scratch: Path) -> None:
        self._output = scratch / "output"
        self._registry = scratch / "registry"
        version = self("--version", cwd=scratch, registry=False)
        install = self("info", "install_base", cwd=self._empty(scratch), registry=False).strip()
        tools = Path(install, "embedded_tools/MODULE.bazel").read_text()
        assert version.startswith("bazel 7."), version
        ours = (_CHECKOUT / "MODULE.bazel").read_text()
        needed = {*_dependencies(tools), *_dependencies(ours), _LOCAL_CONFIG_PLATFORM}
        for name, module_version in sorted(needed):
            _write_module(self._registry, name, module_version)
        for name, file, extension, repositories in _extensions(tools):
            [source] = (self._registry / "sources").glob(f"{name}-*")
            text = "_empty = repository_rule(lambda rctx: rctx.file('BUILD.bazel', ''))\n"
            text += f"def _define(mctx):\n    for name in {repositories}:\n        _empty(name = name)\n"
            text += f"{extension} = module_extension(_define)\n"
            _write(source / file, text)
            (source / file).with_name("BUILD.bazel").touch()
        _write(self._registry / "bazel_registry.json", "{}")

    @staticmethod
    def _empty(scratch: Path) -> Path:
        _write(scratch / "empty/WORKSPACE", "")
        return scratch / "empty"

    def __call__(self, *command: str, cwd: Path, registry: bool = True) -> str:
        startup = ["--ignore_all_rc_files", f"--output_base={self._output}", "--max_idle_secs=20"]
        options = [f"--registry=file://{self._registry}", "--lockfile_mode=off"] if registry else []
        if not registry and command[0] == "info":
            options = ["--noenable_bzlmod", "--enable_workspace"]
        line = [str(_CHECKOUT / "bazelw"), *startup, command[0], *options, *command[1:]]
        got = subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
        assert got.returncode == 0, f"{' '.join(line)}\n{got.stderr}"
        return got.stdout


@pytest.fixture(scope="module")
def bazel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Bazel]:
    scratch = tmp_path_factory.mktemp("registry")
    runner = _Bazel(scratch)
    yield runner
    runner("shutdown", cwd=_CHECKOUT, registry=False)


def test_nothing_is_overridden_but_our_own_rules_cuda() -> None:
    text = (_CHECKOUT / "MODULE.bazel").read_text()
    assert re.findall(r"(\w+_override)\(\s*module_name = \"(\w+)\"", text) == [("local_path_override", "rules_cuda")]


def test_graph_resolves(bazel: _Bazel) -> None:
    graph = json.loads(bazel("mod", "graph", "--output=json", cwd=_CHECKOUT))
    assert graph["name"] == _MODULE
    found = {dependency["name"]: dependency.get("version") for dependency in graph["dependencies"]}
    wanted = dict(_dependencies((_CHECKOUT / "MODULE.bazel").read_text()))
    assert {name: found[name] for name in wanted if name != "rules_cuda"} == {
        name: version for name, version in wanted.items() if name != "rules_cuda"
    }


def test_every_package_loads(bazel: _Bazel) -> None:
    targets = bazel("query", "--output=label", "//...", cwd=_CHECKOUT).split()
    assert "//third_party/python:torch" in targets
    assert "//tilefoundry:tilefoundry" in targets


def test_consumer_resolves_without_our_development_modules(bazel: _Bazel, tmp_path: Path) -> None:
    _write(tmp_path / "BUILD.bazel", "")
    text = f"""
        module(name = "consumer")
        bazel_dep(name = "{_MODULE}", version = "0.1.0")
        local_path_override(module_name = "{_MODULE}", path = "{_CHECKOUT}")
    """
    _write(tmp_path / "MODULE.bazel", textwrap.dedent(text))
    graph = json.loads(bazel("mod", "graph", "--output=json", cwd=tmp_path))
    [ours] = [dependency for dependency in graph["dependencies"] if dependency["name"] == _MODULE]
    names = {dependency["name"] for dependency in ours["dependencies"]}
    assert {"rules_cc", "rules_python", "bazel_skylib"} <= names
    assert not {"rules_cuda", "googletest"} & names
    targets = bazel("query", f"@{_MODULE}//third_party/python:all", cwd=tmp_path).split()
    assert any(target.endswith("//third_party/python:torch") for target in targets)


def test_machine_is_not_named() -> None:
    """No rc file is needed by a consumer, and none of ours names a registry or an override."""
    rc = (_CHECKOUT / ".bazelrc").read_text()
    assert not re.search(r"--(registry|override_module|override_repository)", rc)
