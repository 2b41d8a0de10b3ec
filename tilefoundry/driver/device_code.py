"""PTX and SASS of a compiled library, for people who tune."""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tilefoundry.codegen.unit import KernelUnit, LinkableModule, source_digest
from tilefoundry.diagnostics import CompileError
from tilefoundry.driver.native import HOST, build_library, compile_ptx
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.toolchain import find_cuda
from tilefoundry.runtime.abi import LinkedModule
from tilefoundry.target import default_target

_EM_CUDA = 190  # e_machine of a cubin


class ToolkitDeviceCode:
    """What the CUDA toolkit of this machine shows of a library."""

    def ptx(self, linked: LinkedModule) -> str:
        """PTX of every kernel, compiled from the sources with the options that the library was compiled with.

        Raises:
            CompileError: there is no toolkit, or the library came without its sources.
        """
        with tempfile.TemporaryDirectory(prefix="tilefoundry-") as work:
            texts = compile_ptx(_module_of(linked), _options_of(linked), Path(work), linked.isa)
        return "\n".join(f"// ---- {name}\n{text}" for name, text in texts.items())

    def sass(self, linked: LinkedModule) -> str:
        """Machine code of every kernel for every architecture: of the cubins that the library launches.

        A library that is gone, as that of `compile` is, is built again: equal sources and options give equal cubins.

        Raises:
            CompileError: there is no toolkit with cuobjdump and nvdisasm; or the library is gone and has no sources.
        """
        toolkit = find_cuda()
        for tool in ("cuobjdump", "nvdisasm"):
            if not (toolkit.root / "bin" / tool).is_file():
                raise CompileError(
                    f"no {tool} in the CUDA toolkit '{toolkit.root}'",
                    remedy="set TILEFOUNDRY_CUDA to a toolkit that has cuobjdump and nvdisasm",
                )
        texts: list[str] = []
        with tempfile.TemporaryDirectory(prefix="tilefoundry-") as work:
            try:
                library = linked.library.read_bytes()
            except FileNotFoundError:
                module, options = _module_of(linked), _options_of(linked)
                library = build_library(module, options, Path(work), "again.so", (linked.isa,))[0].read_bytes()
            own = [f"{kernel.name}__general".encode() for kernel in linked.kernels]
            cubins = [cubin for cubin in cubins_of(library) if any(symbol in cubin for symbol in own)]
            for number, cubin in enumerate(cubins):
                file = Path(work) / f"{number}.cubin"
                file.write_bytes(cubin)
                command = [str(toolkit.root / "bin" / "cuobjdump"), "-sass", str(file)]
                done = subprocess.run(command, env=toolkit.environment(), capture_output=True, text=True, check=False)
                if done.returncode:
                    raise CompileError(f"cuobjdump of '{linked.library}' failed: {done.stdout}{done.stderr}".rstrip())
                texts.append(done.stdout)
        return "\n".join(texts)


def _options_of(linked: LinkedModule) -> CompilerOptions:
    values: dict[str, Any] = dict(linked.options)  # CompilerOptions checks their types
    return CompilerOptions(**values)


def _module_of(linked: LinkedModule) -> LinkableModule:
    """What the library was built from."""
    missing = [k.name for k in linked.kernels if f"{k.name}.cu" not in linked.sources]
    if missing:
        raise CompileError(
            f"'{linked.library}' came without the source of {', '.join(missing)}",
            remedy="keep the .sources folder beside the library",
        )
    units: list[KernelUnit] = []
    for k in linked.kernels:
        source = linked.sources[f"{k.name}.cu"]
        digest = source_digest(source)
        units.append(KernelUnit(k.name, digest, source, linked.entry, k.grid, k.tiles, k.block, k.shared_bytes))
    # any CUDA target: the architecture is named, and the sources have been made already
    host = next(text for file, text in linked.sources.items() if file.endswith(HOST))
    return LinkableModule(default_target(), tuple(units), host, linked.entry)


def cubins_of(library: bytes) -> Iterator[bytes]:
    """The cubins in a library: ELF files for CUDA inside of an ELF file, in their order."""
    at = library.find(b"\x7fELF", 1)
    while at >= 0:
        # e_machine at 18; e_phoff, e_shoff at 32; e_phentsize, e_phnum, e_shentsize, e_shnum at 54 (ELF-64)
        if at + 64 <= len(library) and struct.unpack_from("<H", library, at + 18)[0] == _EM_CUDA:
            programs, sections = struct.unpack_from("<QQ", library, at + 32)
            program_size, program_count, section_size, section_count = struct.unpack_from("<HHHH", library, at + 54)
            # the tables of headers come last
            end = max(programs + program_size * program_count, sections + section_size * section_count)
            yield library[at : at + end]
            at += end
        at = library.find(b"\x7fELF", at + 1)


DEVICE_CODE = ToolkitDeviceCode()
