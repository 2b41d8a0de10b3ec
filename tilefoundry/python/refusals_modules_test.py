"""What the decorators refuse: the kind of error, the place in the author's text, and the words that explain it."""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.python.testing import check_refusal, load_program

F = 'def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:\n    return x\n'
G = F.replace("def f", "def g")
CHILD = f"@func(topologies=())\n{G}"


def members(*parts: str, decorator: str = '@module(entry="f")') -> str:
    """A program of a module with these members, the first of which is a function `f`."""
    body = "".join(f"    {line}\n" for part in (f"@func\n{F}", *parts) for line in part.splitlines())
    return f"{decorator}\nclass Program:\n{body}"


# name: (program, kind that the surface names, words)
DECORATORS: dict[str, tuple[str, type[Exception], tuple[str, ...]]] = {
    "func on a class": ("@§func\nclass A: pass", TypeError, ("defined with 'def'", "the class 'A'")),
    "func on a lambda": ("§f = func(lambda x: x)", VerifyError, ("got a lambda", "annotations")),
    "func on a number": ("f = §func(3)", TypeError, ("defined with 'def'", "got 3")),
    "func on a static method": (f"@§func\n@staticmethod\n{F}", TypeError, ("a value of type staticmethod",)),
    "func with specializations": (
        f"@§func(specializations=())\n{F}",
        TypeError,
        ("unexpected argument 'specializations'", "@fn.specialize"),
    ),
    "func with a list of topologies": (
        f"@§func(topologies=[CTA])\n{F}",
        TypeError,
        ("topologies must be a tuple of Topology", 'Topology("cta", 64)'),
    ),
    "func with names of topologies": (
        f"@§func(topologies=('cta',))\n{F}",
        TypeError,
        ("topologies must be a tuple of Topology, got ('cta',)",),
    ),
    "func with the name of a target": (
        f"@§func(target='cuda')\n{F}",
        TypeError,
        ("target must be a Target, got 'cuda'", "CudaTarget("),
    ),
    "func with an unknown level": (
        f"@§func(topologies=(Topology('warp', 4),), target=CudaTarget('nvidia.h200_sxm'))\n{F}",
        VerifyError,
        ("warp",),
    ),
    "func with too many threads": (
        f"@§func(topologies=(Topology('thread', 2048),), target=CudaTarget('nvidia.h200_sxm'))\n{F}",
        VerifyError,
        ("2048", "1024"),
    ),
    "async function": (f"@func\n§async {F}", VerifyError, ("async function 'f'", "remove 'async'")),
    "module on a function": (f"@§module()\n{F}", TypeError, ("expected a class", "the Python function 'f'")),
    "module with its entry by position": ("@§module('f')\nclass A: pass", TypeError, ("expected a class, got 'f'",)),
    "module with an unknown argument": (
        "@§module(name='f')\nclass A: pass",
        TypeError,
        ("unexpected argument 'name'", "entry, target and topologies"),
    ),
    "empty module": ("@module()\n§class A: pass", TypeError, ("'A' is empty", "@func")),
    "empty bare module": ("@module\n§class A:\n    'words'", TypeError, ("'A' is empty",)),
    "members of a base class": (
        "class Base:\n    def g(self): pass\n@module()\n§class A(Base): pass",
        TypeError,
        ("member 'g' of the base class 'Base' is not taken over", "in the class body"),
    ),
    "a number as a member": (
        members("§n = 3"),
        TypeError,
        ("member 'n' has the type int", "only these three member kinds"),
    ),
    "an annotated number": (members("§n: int = 3"), TypeError, ("member 'n' has the type int",)),
    "a property": (members("@property\n§def g(self): pass"), TypeError, ("type property", "three member kinds")),
    "a class method": (members("@classmethod\n§def g(cls): pass"), TypeError, ("type classmethod",)),
    "a plain class": (members("§class G: pass"), TypeError, ("member 'G' has the type type",)),
    "an empty tuple": (members("§layers = ()"), TypeError, ("member 'layers' has the type tuple",)),
    "a mixed tuple": (CHILD + members("§layers = (g, 3)"), TypeError, ("member 'layers' has the type tuple",)),
    "call method": (members("§def __call__(self): pass"), TypeError, ("'__call__' is the module's own", "forward")),
    "unknown entry": (
        members(decorator='@module(entry="run")').replace("class P", "§class P"),
        ValueError,
        ("entry 'run' names no collected function", "it has: f"),
    ),
    "entry that is a method": (
        members("§def run(self): pass", decorator='@module(entry="run")'),
        ValueError,
        ("entry 'run' names no collected function, but a method",),
    ),
    "entry that is a child": (
        members(f"@func(topologies=())\n§{G}", decorator='@module(entry="g")'),
        ValueError,
        ("entry 'g' names no collected function, but a child module", "without topologies"),
    ),
    "entry of another type": (members(decorator="@§module(entry=3)"), TypeError, ("entry must be the name", "got 3")),
    "topologies None": (
        members(decorator="@§module(topologies=None)"),
        TypeError,
        ("must be a tuple of Topology, got None", "leave topologies out"),
    ),
    "topologies as a list": (
        members(decorator="@§module(topologies=[CTA])"),
        TypeError,
        ("must be a tuple of Topology",),
    ),
    "duplicate topology": (
        members(decorator="@module(topologies=(CTA, CTA))").replace("class P", "§class P"),
        ValueError,
        ("duplicate topology name", "name each level once"),
    ),
    "target of another type": (members(decorator="@§module(target='cuda')"), TypeError, ("must be a Target",)),
    "function twice": (members(f"@func\n§{F}"), ValueError, ("has a member 'f' already", "name of its own")),
    "function over a method": (
        members(f"def g(self): pass\n@func\n§{G}"),
        ValueError,
        ("has a member 'g' already",),
    ),
    "method over a function": (members("§def f(self): pass"), ValueError, ("has a member 'f' already",)),
    "child over a function": (CHILD + members("§f = g"), ValueError, ("has a member 'f' already",)),
    "two children of one name": (
        CHILD + members("§layers = (g, g)"),
        ValueError,
        ("two children are named 'g'", "renamed"),
    ),
    "a child's name in a tuple": (
        CHILD + members("§layers = (g.renamed('f'),)"),
        ValueError,
        ("names must be disjoint; f repeats", "renamed"),
    ),
    "child with a target": (
        CHILD.replace("topologies=()", "target=CpuTarget()") + members("child = g").replace("class P", "§class P"),
        ValueError,
        ("child 'child' declares its own target", "on the root only"),
    ),
    "call of a member outside of a module": (
        f"class A:\n    @func\n    §{F.replace('    return', '        return')}A.f(1)",
        TypeError,
        ("belongs to a class that is not a module yet", "@module"),
    ),
    "forward beside the entry": (
        members(f"@func\n§{G.replace('def g', 'def forward')}", decorator='@module(entry="f")'),
        ValueError,
        ("'forward' would be hidden", "run the entry 'f'", "make it the entry"),
    ),
    "forward without an entry": (
        members(f"@func\n§{G.replace('def g', 'def forward')}", decorator="@module"),
        ValueError,
        ("'forward' would be hidden", "the entry, and there is none"),
    ),
    "a child called forward": (
        CHILD + members("§layers = (g.renamed('forward'),)", decorator='@module(entry="f")'),
        ValueError,
        ("'forward' would be hidden",),
    ),
    "members of a base class beside others": (
        "class Base:\n    def g(self): pass\n" + members().replace("class Program", "§class Program(Base)"),
        TypeError,
        ("module 'Program': member 'g' of the base class 'Base'",),
    ),
    # calls between members
    "call of a member of a child": (
        CHILD + members("child = g").replace("return x", "return §child.g(x)"),
        VerifyError,
        ("'g' is a member of module 'child'", "write child(...), which calls 'g'"),
    ),
    "recursion": (members().replace("return x", "return §f(x)"), VerifyError, ("recursive call: f -> f", "loop")),
    "mutual recursion": (
        members(f"@func\n{G}".replace("return x", "return §f(x)")).replace("return x", "return g(x)"),
        VerifyError,
        ("recursive call: f -> g -> f",),
    ),
    "recursion outside of a class": (f"@func\n{F}".replace("return x", "return §f(x)"), VerifyError, ("f -> f",)),
    "forward call outside of a class": (
        f"@func\n{F}@func\n{G}".replace("return x", "return §g(x)", 1),
        VerifyError,
        ("'g' has no value yet", "further down, at line 5", "in any order"),
    ),
    "call of a child that is a kernel": (
        '@module(entry="k")\nclass Child:\n    @prim_func\n    def k(a: Tensor[(8,), "f32"], o: Tensor[(8,), "f32"]):\n'
        "        T.copy(a, o)\n" + members("child = Child").replace("return x", "return §child(x)"),
        VerifyError,
        ("the entry of child 'child' is a kernel in TIR", "a function of HIR"),
    ),
    "a private parameter": (
        members(f"@func\n{G.replace('(x:', '(§__x:').replace('return x', 'return __x')}"),
        VerifyError,
        ("parameter '__x' is private to its class", "without leading underscores"),
    ),
    "call of a method": (
        members("def helper(self, x): return x").replace("return x", "return §helper(x)", 1),
        VerifyError,
        ("'helper' is a plain Python method", "@func"),
    ),
    "self": (
        members(f"@func\n{G}".replace("(x:", "(§self, x:")),
        VerifyError,
        ("'self' has no annotation", "remove 'self'"),
    ),
    "layers by a loop variable": (
        CHILD
        + members("layers = (g,)").replace(
            "return x", "for i in range(1):\n            x = §layers[i](x)\n        return x"
        ),
        VerifyError,
        ("needs indices known at compile time", "loop variable"),
    ),
}

TAKEN = ("'{}': every Module has an attribute of that name", "use another name than child_named, cloned")
HIDDEN = {
    "load": members("@func\n" + G.replace("def g", "§def load")),
    "name": members("@func\n" + G.replace("def g", "§def name")),
    "weights": CHILD + members("§weights = g"),
    "modules": CHILD + members("§modules = (g, g.renamed('h'))"),
    "prepare": members("§def prepare(self, x): return x"),
    "owner": members('@prim_func\n§def owner(o: Tensor[(8,), "f32"]): pass'),
    "target": CHILD.replace("def g", "§def target"),
}
for taken, program in HIDDEN.items():
    DECORATORS[f"member called {taken}"] = (program, ValueError, (TAKEN[0].format(taken), TAKEN[1]))


def test_names_that_hide_nothing_are_legal() -> None:
    load_program(members(f"@func\n{G.replace('def g', 'def forward')}", decorator='@module(entry="forward")'))
    load_program(
        members('@f.converter("w")\ndef load(raw: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]: return raw').replace(
            'x: Tensor[(8,), "f32"]) ->', 'x: Tensor[(8,), "f32"], w: ConstTensor[(8,), "f32"]) ->', 1
        )
    )


@pytest.mark.parametrize("name", DECORATORS)
def test_refused_with_kind_place_and_words(name: str) -> None:
    text, kind, words = DECORATORS[name]
    check_refusal(text, words, kind)
