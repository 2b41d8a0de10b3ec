"""Faults while a checkpoint is prepared: what is under the name afterwards is one whole checkpoint, or nothing.

A full disk is shown twice: by a limit on the size of a file, which makes a write in the middle of a shard fail (EFBIG)
on every machine; and by a file system of 2 MiB (ENOSPC), where the machine lets a process mount one of its own.
"""

# mypy: ignore-errors
# (attributes of a Module are found at run time)

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tilefoundry.runtime import DictResource, SafetensorsResource
from tilefoundry.runtime import prepare_directory as directories
from tilefoundry.runtime.prepare_directory import published_directory
from tilefoundry.runtime.testing import Model, weights

ENVIRONMENT = {"PYTHONPATH": ":".join(p for p in sys.path if p), "PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"}
_OWN_MOUNTS = ("unshare", "--map-root-user", "--mount")


def program(folder: Path, text: str) -> list[str]:
    """A program that finds the small model, and `fill(path, seed, overwrite)`, which prepares it."""
    head = """
        import os, resource, signal, sys, time
        import torch
        import tilefoundry
        from tilefoundry.runtime import DictResource
        from tilefoundry.runtime.testing import Model, weights

        def fill(path, seed=0, overwrite=False, source=DictResource):
            Model.prepare(source(weights(seed)), path, overwrite=overwrite)
    """
    file = folder / "program.py"
    file.write_text(textwrap.dedent(head) + textwrap.dedent(text))
    return [sys.executable, str(file)]


def run(command: list[str], *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *map(str, arguments)], env=ENVIRONMENT, capture_output=True, text=True)


def held(path: Path) -> int:
    """The seed of the checkpoint in a directory, all of which is looked at."""
    with SafetensorsResource(path, device="cpu") as prepared:
        prepared.verify()
        for seed in range(8):
            if all(torch.equal(prepared.load(name), value) for name, value in weights(seed).items()):
                return seed
    raise AssertionError(f"{path} holds a mixture")


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.name.startswith("."))


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("weight", ["w", "gain"])  # the first to be read, and the last
def test_a_kill_in_the_middle_leaves_the_name_as_it_was(tmp_path: Path, overwrite: bool, weight: str) -> None:
    out = tmp_path / "out [1]*"  # a name that means something else to a shell
    if overwrite:
        Model.prepare(DictResource(weights(1)), out)
    killed = program(
        tmp_path,
        f"""
        class Killed(DictResource):
            def load(self, name):
                if name == {weight!r}:
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().load(name)

        fill(sys.argv[1], 2, {overwrite}, Killed)
        """,
    )
    assert run(killed, out).returncode == -signal.SIGKILL
    assert held(out) == 1 if overwrite else not out.exists()
    assert len(leftovers(tmp_path)) == 1
    Model.prepare(DictResource(weights(3)), out, overwrite=overwrite)  # what was left is not in the way, and goes
    assert held(out) == 3
    assert leftovers(tmp_path) == []


def test_kills_at_any_moment_leave_one_of_the_two(tmp_path: Path) -> None:
    """Processes that overwrite one name again and again are killed at moments of no one's choosing."""
    out = tmp_path / "out"
    Model.prepare(DictResource(weights(1)), out)
    endless = program(tmp_path, "print('ready', flush=True)\nwhile True:\n    fill(sys.argv[1], 2, True)\n")
    for round_ in range(4):
        child = subprocess.Popen([*endless, str(out)], env=ENVIRONMENT, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.05 + 0.037 * round_)
        child.kill()
        child.wait()
        child.stdout.close()
        assert held(out) in (1, 2)
    Model.prepare(DictResource(weights(4)), out, overwrite=True)
    assert leftovers(tmp_path) == []
    assert held(out) == 4


def test_the_name_is_never_without_a_checkpoint_while_it_is_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out"
    Model.prepare(DictResource(weights(1)), out)
    busy = program(
        tmp_path, "print('ready', flush=True)\nfor seed in range(1, 40):\n    fill(sys.argv[1], seed % 2 + 1, True)\n"
    )
    child = subprocess.Popen([*busy, str(out)], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    looks = 0
    while child.poll() is None:
        os.stat(out / "model.safetensors.index.json")  # raises when there is none
        looks += 1
    child.stdout.close()
    assert child.returncode == 0
    assert looks > 1000


@pytest.mark.parametrize("overwrite", [False, True])
def test_processes_that_prepare_into_one_directory(tmp_path: Path, overwrite: bool) -> None:
    """They start together. Without overwrite one wins and the others say so; with it the last one's is there, whole."""
    out, gate = tmp_path / "out", tmp_path / "gate"
    racer = program(
        tmp_path,
        f"""
        print("ready", flush=True)
        while not os.path.exists(sys.argv[2]):
            time.sleep(0.001)
        try:
            fill(sys.argv[1], int(sys.argv[3]), {overwrite})
        except FileExistsError as error:
            sys.exit(3 if "is not empty" in str(error) else 4)
        """,
    )
    children = [
        subprocess.Popen([*racer, str(out), str(gate), str(seed)], env=ENVIRONMENT, stdout=subprocess.PIPE)
        for seed in range(1, 5)
    ]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    gate.touch()
    for child in children:
        child.communicate()
    codes = [child.returncode for child in children]
    assert sorted(codes) == ([0, 0, 0, 0] if overwrite else [0, 3, 3, 3])
    seed = held(out)
    assert overwrite or codes[seed - 1] == 0
    assert leftovers(tmp_path) == []


def test_a_live_process_keeps_its_unfinished_directory(tmp_path: Path) -> None:
    with published_directory(tmp_path / "out", overwrite=False) as staging:
        (staging / "half").write_text("written")
        Model.prepare(DictResource(weights(1)), tmp_path / "out", overwrite=True)
        assert (staging / "half").read_text() == "written"
        Model.prepare(DictResource(weights(2)), tmp_path / "out.partial")  # a name of another kind
        with pytest.raises(FileExistsError, match="not empty"):
            Model.prepare(DictResource(weights(3)), tmp_path / "out")
        for file in (tmp_path / "out").iterdir():
            file.unlink()
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["half"]
    assert held(tmp_path / "out.partial") == 2
    assert leftovers(tmp_path) == []


def test_what_only_looks_abandoned_is_kept(tmp_path: Path) -> None:
    for name in (".out.notes.partial", ".out.partial", ".other." + "0" * 32 + ".partial"):
        (tmp_path / name).mkdir()
    Model.prepare(DictResource(weights()), tmp_path / "out")
    assert len(leftovers(tmp_path)) == 3


def test_where_names_cannot_be_exchanged_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        """A system without renameat2."""

    monkeypatch.setattr(directories.ctypes, "CDLL", lambda *_, **__: Old())
    for seed in (1, 2):
        Model.prepare(DictResource(weights(seed)), tmp_path / "out", overwrite=True)
        assert held(tmp_path / "out") == seed
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_that_may_not_grow_leaves_the_name_as_it_was(tmp_path: Path, overwrite: bool) -> None:
    out = tmp_path / "out"
    Model.prepare(DictResource(weights(1)), out)
    (shard,) = out.glob("*.safetensors")
    limit = shard.stat().st_size - 1  # the last byte of the last tensor does not fit
    if not overwrite:
        shutil.rmtree(out)
    limited = program(
        tmp_path,
        f"""
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
        try:
            fill(sys.argv[1], 2, {overwrite})
        except OSError as error:
            sys.exit(error.errno)
        """,
    )
    ran = run(limited, out)
    assert ran.returncode == 27, ran.stderr  # EFBIG
    assert held(out) == 1 if overwrite else not out.exists()
    assert leftovers(tmp_path) == []


FULL = """
    folder = sys.argv[1]
    fill(folder + "/out", 1)
    with open(folder + "/ballast", "wb", buffering=0) as file:
        try:
            while file.write(bytes(512)):
                pass
        except OSError:
            pass
    codes = []
    for overwrite, name in ((True, "out"), (False, "new")):
        try:
            fill(folder + "/" + name, 2, overwrite)
        except OSError as error:
            codes.append(error.errno)
    os.remove(folder + "/ballast")
    print(codes, sorted(os.listdir(folder)))
    from tilefoundry.runtime import SafetensorsResource
    with SafetensorsResource(folder + "/out", device="cpu") as prepared:
        prepared.verify()
        print(torch.equal(prepared.load("gain"), weights(1)["gain"]))
"""

READ_ONLY = """
    import subprocess
    folder = sys.argv[1]
    fill(folder + "/out", 1)
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    for overwrite, name in ((True, "out"), (False, "new")):
        try:
            fill(folder + "/" + name, 2, overwrite)
        except OSError as error:
            print(error.errno, error.filename is not None)
    print(sorted(os.listdir(folder)))
"""


def in_a_file_system_of_its_own(tmp_path: Path, text: str) -> list[str]:
    """What a program prints that is given a new file system of 2 MiB, on which nothing else is."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = f'mount -t tmpfs -o size=2m none "{folder}"'
    if subprocess.run([*_OWN_MOUNTS, "sh", "-c", mount], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets no process mount a file system of its own")
    command = " ".join([*program(tmp_path, text), str(folder)])
    ran = run([*_OWN_MOUNTS, "sh", "-c", f"{mount} && {command}"])
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_a_full_file_system_leaves_the_name_as_it_was(tmp_path: Path) -> None:
    assert in_a_file_system_of_its_own(tmp_path, FULL) == ["[28, 28] ['out']", "True"]  # ENOSPC


def test_a_read_only_file_system_is_refused(tmp_path: Path) -> None:
    printed = in_a_file_system_of_its_own(tmp_path, READ_ONLY)
    assert printed == ["30 True", "30 True", "['out']"]  # EROFS, with the path


@pytest.mark.parametrize("make", [lambda folder: Path("/proc/self"), lambda folder: folder / "file"])
def test_a_place_where_nothing_can_be_made_is_refused(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """Even for root, whom no permission bits stop: a folder of the kernel's, and a file as the parent."""
    (tmp_path / "file").write_text("kept")
    with pytest.raises(OSError, match=r"/proc/self|file"):
        Model.prepare(DictResource(weights()), make(tmp_path) / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
