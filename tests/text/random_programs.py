"""Random valid programs: names that clash, loops in loops, calls, placements, constraints, variants, children.

Names are drawn from a small pool on purpose, and some of them hide builtins and what scripts import; the programs
themselves reach those through two modules of odd names.
"""

from __future__ import annotations

from random import Random

HEADER = """\
import builtins as b_
import math as m_
import tilefoundry as f_
import tilefoundry.dsl as d_
import tilefoundry.target as t_
N_ = d_.DimVar({dim!r}, 1, 9)
LEVELS_ = (d_.Topology("cta", 4), d_.Topology("thread", 32))
"""
NAMES = ("a", "b", "x", "y", "acc", "tf", "Tensor", "range", "func", "float", "a_1", "value", "cta", "i", "N")
PLAIN = 'd_.Tensor[(8, 64), "f32"]'
OPENED = "with d_.Mesh(LEVELS_[0:1], (4,), ('c',)) as c_, d_.Mesh(LEVELS_[1:2], (4, 8), ('w', 'l')) as t_:"
_SCALARS = ("0.5", "-0.0", "m_.inf", "-m_.inf", "m_.nan", "1e-300", "3.0", "-2.5")
_UNARY = ("exp", "neg", "relu", "square", "abs", "tanh")
_BINARY = ("+", "-", "*", "/")


class _Body:
    """Writes the body of one function."""

    def __init__(self, random: Random, params: list[str], helpers: list[str]) -> None:
        self.random = random
        self.params = params
        self.helpers = helpers  # functions of one tensor that return one, or two
        self.variables: list[str] = []  # of the loops that are open
        self.lines: list[str] = []

    def operand(self, known: dict[str, str], kind: str) -> str:
        """A value of a kind, as an expression."""
        random = self.random
        names = [name for name, k in known.items() if k == kind]
        roll = random.random()
        if roll < 0.55:
            return random.choice(names)
        if roll < 0.75:
            return f"d_.tf.{random.choice(_UNARY)}({self.operand(known, kind)})"
        other = random.choice(_SCALARS) if random.random() < 0.3 else self.operand(known, kind)
        return f"({self.operand(known, kind)} {random.choice(_BINARY)} {other})"

    def block(self, known: dict[str, str], kind: str, depth: int, pad: str) -> None:
        """Some statements, over the values of one kind; the last of them changes a name that was known before."""
        random = self.random
        outer = [n for n, k in known.items() if k == kind and n not in self.variables]
        for _ in range(random.randint(1, 4)):
            roll = random.random()
            name = self.name(known, kind)
            if roll < 0.2 and depth < 2:
                self.loop(known, kind, depth, pad)
            elif roll < 0.3 and kind == "plain" and self.helpers:
                helper = random.choice(self.helpers)
                self.lines.append(f"{pad}{name} = {helper}({self.operand(known, kind)})")
                known[name] = kind
            elif roll < 0.4 and kind == "plain":
                second = self.name(known, kind, avoid=name)
                self.lines.append(f"{pad}{name}, {second} = {self.operand(known, kind)}, {self.operand(known, kind)}")
                known[name] = known[second] = kind
            elif roll < 0.46 and kind == "plain":
                half, rest = f"half{len(self.lines)}_", self.name(known, kind, avoid=name)
                self.lines.append(f"{pad}{half}, {rest} = d_.tf.split({self.operand(known, kind)}, 1, 2)")
                self.lines.append(f"{pad}{rest} = d_.tf.concat({half}, {rest}, axis=1)")
                known[rest] = kind
            elif roll < 0.5:
                constraint = random.choice(("storage='smem'", "layout=(8, 64)"))
                self.lines.append(f"{pad}{name}: d_.where({constraint}) = d_.tf.exp({self.operand(known, kind)})")
                known[name] = kind
            elif roll < 0.6 and kind == "plain":
                shared = f"shared{len(self.lines)}_"
                self.lines.append(f"{pad}{shared} = (d_.tf.exp({self.operand(known, kind)}),)")
                self.lines.append(f"{pad}{name} = {shared}[0] * {shared}[0]")
                known[name] = kind
            else:
                self.lines.append(f"{pad}{name} = {self.operand(known, kind)} + {self.operand(known, kind)}")
                known[name] = kind
        name = random.choice(outer)
        self.lines.append(f"{pad}{name} = {name} + {self.operand(known, kind)}")

    def name(self, known: dict[str, str], kind: str, avoid: str = "") -> str:
        """A name that may take a value of this kind here."""
        free = [n for n in NAMES if known.get(n, kind) == kind and n not in self.variables and n != avoid]
        return self.random.choice(free)

    def loop(self, known: dict[str, str], kind: str, depth: int, pad: str) -> None:
        """A loop over a range, or over tiles that are written back."""
        random = self.random
        variables = [n for n in ("i", "j", "k", "range", "a_1") if n not in known and n not in self.variables]
        if not variables:
            return
        variable = random.choice(variables)
        if kind == "plain" and random.random() < 0.4:
            target = random.choice([n for n, k in known.items() if k == kind])
            self.lines.append(f"{pad}for {variable} in d_.tile(8, 2):")
            part = f"{self.operand({target: kind}, kind)}[{variable}]"
            self.lines.append(f"{pad}    {target} = d_.tf.insert_slice({target}, {part} * 0.5, ({variable}, 0))")
            return
        bounds = random.choice(("3", "1, 7, 2", "0, 5", "2, 9, 3"))
        if self.variables and random.random() < 0.5:
            bounds = f"{random.choice(self.variables)} * 2 + 1"
        self.lines.append(f"{pad}for {variable} in b_.range({bounds}):")
        self.variables.append(variable)
        self.block(dict(known), kind, depth + 1, pad + "    ")
        self.variables.pop()

    def function(self, returned: int, placed: bool) -> list[str]:
        """The lines of the body."""
        known = dict.fromkeys(self.params, "plain")
        self.block(known, "plain", 0, "")
        results = [self.operand(known, "plain") for _ in range(returned)]
        if placed:
            self.lines.append(OPENED)
            source = self.random.choice([n for n, k in known.items() if k == "plain"])
            name = self.random.choice([n for n in NAMES if known.get(n) != "plain"] or ["held"])
            self.lines.append(f"    {name} = d_.tf.reshard({source}, (8, (4, 8)[0] @ t_.w, 8 @ t_.l, 2), 'rmem')")
            inside = {**known, name: "placed"}
            self.block(inside, "placed", 0, "    ")
            back = self.operand(inside, "placed")
            self.lines.append(f"    placed_ = d_.tf.reshard({back}, (8, 64), 'gmem')")
            results[0] = "placed_"
        self.lines.append(f"return {', '.join(results)}")
        return self.lines


def _function(random: Random, name: str, helpers: list[str], returned: int, placed: bool) -> list[str]:
    params = random.sample(("a", "x", "tf", "y", "range"), 1 if returned == 1 else random.randint(1, 3))
    result = PLAIN if returned == 1 else f"b_.tuple[{', '.join([PLAIN] * returned)}]"
    body = _Body(random, params, helpers).function(returned, placed)
    head = f"def {name}({', '.join(f'{p}: {PLAIN}' for p in params)}) -> {result}:"
    return ["@f_.func", head, *("    " + line for line in body)]


def _members(random: Random) -> tuple[list[str], list[str]]:
    names = random.sample(("f", "g", "tf", "range", "Mesh", "module", "print"), random.randint(1, 3))
    lines: list[str] = []
    helpers: list[str] = []
    for k, name in enumerate(names):
        returned = 2 if k == len(names) - 1 and random.random() < 0.3 else 1
        placed = random.random() < 0.4
        lines += _function(random, name, helpers, returned, placed)
        # what is placed has an explicit layout; other names are hidden by local ones
        helpers += [name] if name not in NAMES and not placed else []
    if random.random() < 0.4:
        cut = random.randint(2, 8)
        dynamic = 'd_.Tensor[(N_, 64), "f32"]'
        lines += ["@f_.func", f"def shaped(x: {dynamic}) -> {dynamic}:", "    pass"]
        for label, lo, hi in (("few", 1, cut), ("many", cut, 9)):
            lines += [f"@shaped.specialize(d_.DimVarRangePat(N_.name, {lo}, {hi}))"]
            lines += [
                f"def {label}(x: {dynamic}) -> {dynamic}:",
                f"    y = x * {random.choice(_SCALARS)}",
                "    return y",
            ]
    if random.random() < 0.4:
        lines += [
            "@f_.func",
            f"def weighted(x: {PLAIN}, w: d_.ConstTensor[(64,), 'f32']) -> {PLAIN}:",
            "    return x * w",
        ]
        lines += ["@weighted.converter('w')", "def _(raw: d_.Tensor[(8, 8), 'f32']) -> d_.Tensor[(64,), 'f32']:"]
        lines += ["    return d_.tf.reshape(raw, (64,))"]
    return lines, names


def random_program(random: Random) -> str:
    """The source of a module, called ``Program``."""
    lines: list[str] = HEADER.format(dim=random.choice(("N", "x", "f", "Tensor", "class"))).splitlines()
    children = random.randint(0, 2)
    for k in range(children):
        members, names = _members(random)
        lines += [f"@f_.module(entry={names[0]!r}, topologies=LEVELS_)", f"class Child{k}:"]
        lines += ["    " + line for line in members]
    members, names = _members(random)
    given = [f"entry={names[-1]!r}"] if random.random() < 0.8 else []
    given += ["target=t_.CudaTarget('nvidia.h200_sxm')"] if random.random() < 0.5 else []
    lines += [f"@f_.module({', '.join([*given, 'topologies=LEVELS_'])})", "class Program:"]
    for k in range(children):
        style = random.choice(("{n} = Child{k}", "group{k} = (Child{k}.renamed('{k}'),)"))
        lines.append("    " + style.format(n=f"child_{k}", k=k))
    lines += ["    " + line for line in members]
    return "\n".join(lines) + "\n"
