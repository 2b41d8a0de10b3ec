"""The command behind `tilefoundry_kernel` and `tilefoundry_kernel_library`: from programs to a library."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from tilefoundry.codegen.emit import emit_module
from tilefoundry.codegen.unit import LinkableModule
from tilefoundry.diagnostics import CompileError, TileFoundryError
from tilefoundry.driver.inputs import normalize_to_module, resolve_target
from tilefoundry.driver.keys import module_key
from tilefoundry.driver.named import named_object
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.write_artifact import write_artifact, write_library
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.target import CpuTarget, CudaTarget, Target


def main(argv: Sequence[str]) -> int:
    """Writes ``<out>/<name>.{so,key,abi.json,sources/}``; returns the exit status."""
    parser = argparse.ArgumentParser(prog="tilefoundry_kernel")
    parser.add_argument("--module", help="what to compile, as 'package.module:attribute'")
    parser.add_argument(
        "--entry",
        action="append",
        default=[],
        metavar="NAME=MODULE",
        help="one entry of a library of several; may repeat",
    )
    parser.add_argument("--name", required=True, help="stem of the output files")
    parser.add_argument("--out", required=True, type=Path, help="folder of the output files")
    parser.add_argument("--target", required=True, choices=("cuda", "cpu"))
    parser.add_argument(
        "--arch", action="append", default=[], help="compile architecture or instruction set; may repeat"
    )
    parser.add_argument("--optimization-level", type=int, default=CompilerOptions().optimization_level)
    parser.add_argument("--fast-math", action="store_true")
    parser.add_argument("--line-info", action="store_true")
    parser.add_argument("--stages", type=int)
    parser.add_argument("--min-ctas-per-sm", type=int)
    parser.add_argument("--unroll-loops", action="store_true")
    parser.add_argument("--checking", action="store_true")
    args = parser.parse_args(argv)
    try:
        options = CompilerOptions(**{field.name: getattr(args, field.name) for field in fields(CompilerOptions)})
        out = args.out.absolute()
        if args.entry:
            _write_library(args, options, out)
        else:
            program = _program(args.module, args, options)
            write_artifact(program.emitted(), options, out, args.name, program.keys)
    except TileFoundryError as error:
        print(f"{args.name}: {error}", file=sys.stderr)
        return 1
    return 0


@dataclass(frozen=True)
class _Program:
    """A program, the target whose architecture its sources are made for, and its key for each architecture."""

    module: Module
    target: Target
    keys: dict[str, str]

    options: CompilerOptions

    def emitted(self, export: str | None = None) -> LinkableModule:
        lowered = lower(self.module, self.target, stages=self.options.stages)
        return emit_module(
            lowered,
            self.target,
            min_ctas_per_sm=self.options.min_ctas_per_sm,
            checking=self.options.checking,
            export=export,
        )


def _program(reference: str, args: argparse.Namespace, options: CompilerOptions) -> _Program:
    module = normalize_to_module(named_object(reference))  # type: ignore[arg-type]  # refuses anything else
    module.entry_function()
    targets = _targets(resolve_target(module, args.target), args.target, args.arch)
    keys = {arch: module_key(module, target, options) for arch, target in targets.items()}
    return _Program(module, next(iter(targets.values())), keys, options)


def _write_library(args: argparse.Namespace, options: CompilerOptions, out: Path) -> None:
    programs: dict[str, _Program] = {}
    for text in args.entry:
        name, equals, reference = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
            raise CompileError(f"expected 'name=package.module:attribute' with a name of C, got '{text}'")
        if name in programs:
            raise CompileError(f"two entries are named '{name}'")
        programs[name] = _program(reference, args, options)
    archs = {name: tuple(program.keys) for name, program in programs.items()}
    if len(set(archs.values())) > 1:
        raise CompileError(
            f"the programs of one library declare targets of different architectures: {archs}",
            remedy="name the architectures in 'archs'",
        )
    emitted = [program.emitted(name) for name, program in programs.items()]
    write_library(emitted, options, out, args.name, {name: program.keys for name, program in programs.items()})


def _targets(target: Target, name: str, archs: Sequence[str]) -> dict[str, Target]:
    """Each architecture with its target, of which the first is compiled for when the sources depend on it."""
    if target.name != name:
        raise CompileError(f"the program declares the target '{target.name}', but the rule says '{name}'")
    if isinstance(target, CudaTarget):
        named = [CudaTarget(target.device, target.architecture, arch=arch) for arch in archs]
        return {t.arch: t for t in named} or {target.arch: target}
    if len(archs) > 1:
        raise CompileError(f"a CPU library has one instruction set, got {list(archs)}")
    chosen = CpuTarget(archs[0]) if archs else target
    assert isinstance(chosen, CpuTarget)
    return {chosen.isa: chosen}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
