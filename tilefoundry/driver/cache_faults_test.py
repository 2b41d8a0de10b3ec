"""What may happen to a cache while kernels are compiled: races, kills, full disks, other people's folders, changes.

All tests share one compiled program, in a cache that each of them copies.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import platform
import resource
import shutil
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import tvm_ffi

from tilefoundry.diagnostics import CompileError
from tilefoundry.driver import jit, just_in_time, keys
from tilefoundry.driver.cache import open_cache
from tilefoundry.driver.cache_upkeep import report, verify
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.read_artifact import read_artifact
from tilefoundry.driver.scale_program import THRICE, TWICE
from tilefoundry.driver.toolchain import PACKAGE
from tilefoundry.runtime import CompiledModule
from tilefoundry.target import CpuTarget

FAST = CompilerOptions(optimization_level=0)
FORK = multiprocessing.get_context("fork")


def run(factor: float = 2.0) -> str:
    """Compiles or finds the program, checks what it computes, and says where it came from."""
    compiled = jit(TWICE if factor == 2.0 else THRICE, target="cpu", options=FAST)
    x = torch.randn(37, 64)
    assert torch.equal(compiled(x), factor * x)  # type: ignore[arg-type]
    assert isinstance(compiled, CompiledModule) and compiled.build_info is not None
    return compiled.build_info.origin


def in_child(work: Callable[[], None]) -> multiprocessing.context.ForkProcess:
    """Starts `work` in a forked process, which knows no compiled module yet."""

    def body() -> None:
        jit.cache_clear()
        work()

    process = FORK.Process(target=body)
    process.start()
    return process


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the program, which sixteen processes asked for at once."""
    root = tmp_path_factory.mktemp("made")
    log = root.parent / f"{root.name}.log"
    start = time.time() + 1.0

    def race() -> None:
        os.environ["TILEFOUNDRY_CACHE_DIR"] = str(root)
        time.sleep(max(0.0, start - time.time()))
        origin = run()
        with log.open("a") as file:
            file.write(f"{origin}\n")

    racers = [in_child(race) for _ in range(16)]
    for racer in racers:
        racer.join()
    assert [r.exitcode for r in racers] == [0] * 16
    assert sorted(log.read_text().splitlines()) == ["compiled"] + ["disk cache"] * 15
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "cache"
    shutil.copytree(made, root)
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(root))
    jit.cache_clear()
    yield root
    jit.cache_clear()
    keys.producer_digest.cache_clear()


class Compiler:
    """Stands for the compiler, which would make the same bytes; refuses to write below `full`."""

    def __init__(self, product: Path) -> None:
        self.product = product
        self.full: Path | None = None
        self.runs = 0

    def __call__(self, module: object, options: object, folder: Path, name: str, keys: object) -> Path:
        if self.full is not None and folder.is_relative_to(self.full):
            raise CompileError("as: No space left on device")
        self.runs += 1
        shutil.copytree(self.product, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("manifest.json"))
        return folder / f"{name}.so"


@pytest.fixture
def compiler(made: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    compiler = Compiler(library_of(made).parent)
    monkeypatch.setattr(just_in_time, "write_artifact", compiler)
    return compiler


def library_of(root: Path) -> Path:
    [library] = root.glob("entries/*/scale.so")
    return library


def sign(entry: Path) -> None:
    """Makes the manifest say that what lies there now is right."""
    manifest = json.loads((entry / "manifest.json").read_text())
    for name in manifest["files"]:
        manifest["files"][name] = hashlib.sha256((entry / name).read_bytes()).hexdigest()
    (entry / "manifest.json").write_text(json.dumps(manifest))


def test_sixteen_racing_processes_compile_it_once(root: Path) -> None:
    assert len(report(root).entries) == 1 and not list((root / "staging").iterdir())
    assert run() == "disk cache"


def other_machine(library: Path) -> None:
    content = bytearray(library.read_bytes())
    content[18:20] = (183).to_bytes(2, "little")  # e_machine of ARM 64
    library.write_bytes(content)
    sign(library.parent)


def other_kernel(library: Path) -> None:
    library.write_bytes(library.read_bytes().replace(b"x86-64-v3", b"x86-64-v2"))
    sign(library.parent)


def no_library(library: Path) -> None:
    entry = library.parent
    manifest = json.loads((entry / "manifest.json").read_text())
    del manifest["files"]["scale.so"]
    (entry / "manifest.json").write_text(json.dumps(manifest))
    library.unlink()


def corrupt(library: Path) -> None:
    content = bytearray(library.read_bytes())
    content[len(content) // 2] ^= 1
    library.write_bytes(content)


HARMS: dict[str, Callable[[Path], object]] = {
    "corrupt": corrupt,
    "truncated": lambda library: os.truncate(library, 4096),
    "of another machine": other_machine,
    "of another instruction set": other_kernel,
    "without a library": no_library,
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_bad_entry_is_made_again_and_never_loaded(root: Path, made: Path, harm: str, compiler: Compiler) -> None:
    HARMS[harm](library_of(root))
    assert run() == "compiled" and compiler.runs == 1
    assert library_of(root).read_bytes() == library_of(made).read_bytes()
    assert verify(root).damaged == {} and not list((root / "staging").iterdir())


def test_an_entry_that_is_dropped_while_it_is_read_is_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = root.parent / "copy"
    entry = library_of(root).parent
    shutil.copytree(entry, copy)
    reads = 0

    def racing(library: Path) -> object:
        nonlocal reads
        linked = read_artifact(library)
        reads += 1
        if reads == 1:
            shutil.rmtree(entry)
            shutil.copytree(copy, entry)
        return linked

    monkeypatch.setattr(just_in_time, "read_artifact", racing)
    assert run() == "disk cache" and reads == 2


def test_kill_in_mid_compile_leaves_nothing_half(root: Path) -> None:
    def work() -> None:
        os.setpgid(0, 0)
        run(3.0)

    victim = in_child(work)
    assert victim.pid is not None
    staging = root / "staging"
    while not list(staging.glob("*/work.*/scale.cc")):
        assert victim.is_alive()
        time.sleep(0.005)
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    try:
        assert list(staging.iterdir()) and len(report(root).entries) == 1 and verify(root).damaged == {}
        assert run(3.0) == "compiled"  # beside compilers that nobody waits for any more
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(victim.pid, signal.SIGKILL)
    assert len(report(root).entries) == 2 and verify(root).damaged == {}
    jit.cache_clear()
    assert run(3.0) == run() == "disk cache"


def test_a_full_disk_leaves_nothing_half(root: Path) -> None:
    def work() -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, hard))
        with pytest.raises(CompileError, match="failed with status"):
            run(3.0)
        assert len(report(root).entries) == 1 and not list((root / "staging").iterdir())
        assert run() == "disk cache"  # what is there is read as ever
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    child = in_child(work)
    child.join()
    assert child.exitcode == 0


def test_out_of_a_full_cache_a_temporary_one(root: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(library_of(root).parent)
    compiler.full = root
    with pytest.raises(CompileError, match="No space left"):
        run()  # there is room, so the compiler's word stands
    usage = shutil.disk_usage(root)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=4096))
    with pytest.warns(RuntimeWarning, match=f"'{root}' cannot be written: .*No space left on device") as caught:
        assert run() == "compiled"
    jit.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run() == "disk cache" and len(caught) == 1
    assert not list((root / "entries").iterdir()) and not list((root / "staging").iterdir())


def foreign(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)


def missing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(root)
    root.touch()


FOLDERS: dict[str, tuple[Callable[[Path, pytest.MonkeyPatch], object], str]] = {
    "foreign": (foreign, "it belongs to another user"),
    "world-writable": (lambda root, _: root.chmod(0o777), "others may write it"),
    "impossible": (missing, "File exists|Not a directory"),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_an_unfit_folder_is_not_used_and_named_once(
    root: Path, case: str, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil, words = FOLDERS[case]
    compiler.full = root
    spoil(root, monkeypatch)
    with pytest.warns(RuntimeWarning, match=f"is not used: .*({words})") as caught:
        assert run() == "compiled"
    jit.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        assert run() == "disk cache"
    assert len(caught) == 1


def test_a_missing_folder_is_made_without_a_word(root: Path, compiler: Compiler) -> None:
    shutil.rmtree(root)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run() == "compiled"
    assert root.stat().st_mode & 0o077 == 0 and len(report(root).entries) == 1


def test_a_read_only_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    if os.geteuid() == 0:
        try:
            os.chown(tmp_path / "cache", 65534, 65534)
        except OSError:
            pytest.skip("a root without other users may write everywhere")

    def work() -> None:
        # relative to a folder that is entered before the rights of root are given up
        os.chdir(tmp_path)
        Path("cache").chmod(0o555)
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        with pytest.warns(RuntimeWarning, match="'cache' is not used: .*Permission denied") as caught:
            assert open_cache(Path("cache")).root != Path("cache")
        assert len(caught) == 1

    tmp_path.chmod(0o755)
    child = in_child(work)
    child.join()
    assert child.exitcode == 0


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what the keys of libraries count as their producers."""
    for folder in keys._PRODUCERS:
        shutil.copytree(PACKAGE / folder, tmp_path / "package" / folder)
    monkeypatch.setattr(keys, "PACKAGE", tmp_path / "package")
    keys.producer_digest.cache_clear()
    return tmp_path / "package"


def forget() -> None:
    """As another process would begin."""
    jit.cache_clear()
    keys.producer_digest.cache_clear()


def test_headers_count_by_content(root: Path, package: Path) -> None:
    assert run() == "disk cache", "a copy of the tree has another key"
    for path in package.rglob("*"):
        os.utime(path, (0, 0))
    forget()
    assert run() == "disk cache"


def headers(package: Path) -> list[Path]:
    found = sorted(p for p in (package / "runtime" / "include").rglob("*") if p.suffix in (".h", ".cuh"))
    return [p for p in found if "tests" not in p.relative_to(package).parts]


def test_one_byte_of_any_header_is_another_key(package: Path) -> None:
    digests = {keys.tree_digest(package, ["runtime/include"])}
    for header in headers(package):
        content = bytearray(header.read_bytes())
        content[-1:] = b" "
        header.write_bytes(content)
        digests.add(keys.tree_digest(package, ["runtime/include"]))
    assert len(headers(package)) > 20 and len(digests) == len(headers(package)) + 1


def test_an_edited_header_is_a_miss(root: Path, package: Path, compiler: Compiler) -> None:
    header = headers(package)[0]
    header.write_bytes(header.read_bytes()[:-1] + b" ")
    forget()
    assert run() == "compiled"
    header.write_bytes(header.read_bytes()[:-1] + b"\n")
    forget()
    assert run() == "disk cache"


def test_other_flags_are_a_miss(root: Path, compiler: Compiler) -> None:
    for others in (
        CompilerOptions(optimization_level=1),
        CompilerOptions(0, fast_math=True),
        CompilerOptions(0, line_info=True),
    ):
        compiled = jit(TWICE, target="cpu", options=others)
        assert compiled.build_info is not None and compiled.build_info.origin == "compiled"
    assert len(report(root).entries) == 4 and run() == "disk cache"


def test_another_compiler_or_machine_is_a_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    def key() -> str:
        return keys.library_key("k" * 64, CpuTarget())

    found = [key()]
    monkeypatch.setattr(keys, "compiler_identity", lambda path: "clang version 99")
    found.append(key())
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    found.append(key())
    monkeypatch.setattr(tvm_ffi, "__version__", "99")
    found.append(key())
    assert len(set(found)) == 4
