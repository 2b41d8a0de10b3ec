"""Every op and type of the example models is in what a browser is served, and the page asks for nothing else."""

from __future__ import annotations

import html.parser
from collections.abc import Iterator
from urllib.request import urlopen

import pytest

import tilefoundry as tf
from examples.attention.program import attention_module
from examples.models.bert import BertConfig, bert
from examples.models.llama import LlamaConfig, llama
from examples.models.mla import MlaConfig, mla
from examples.models.moe import MoeConfig, moe
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.traverse import post_order
from tilefoundry.passes import lower

MODELS = {
    "attention": attention_module(64, "bf16"),
    "bert": bert(BertConfig()),
    "llama": llama(LlamaConfig()),
    "mla": mla(MlaConfig()),
    "moe": moe(MoeConfig()),
}


class Seen(html.parser.HTMLParser):
    """The text of a page, its tags and the values of their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()
        self.attributes: dict[str, set[str]] = {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def functions(module: Module) -> Iterator[Function]:
    for fn in module.functions:
        if isinstance(fn, Function):
            yield from (fn, *fn.variants, *(converter for _, converter in fn.converters))
    for child in module.modules:
        yield from functions(child)


@pytest.mark.parametrize("name", MODELS)
def test_every_op_and_type_is_served(name: str) -> None:
    module = MODELS[name]
    with tf.view(module) as served:
        seen = Seen(urlopen(served.url).read().decode())
    count = 0
    for fn in functions(module):
        for expr in (*fn.params, *(post_order(fn.body) if fn.body is not None else ())):
            if isinstance(expr, tf.Call) and not isinstance(expr.target, DimOp):
                called = expr.target.op_name if isinstance(expr.target, tf.Op) else expr.target.label()
                assert called in seen.text and str(expr.type) in seen.text
                count += 1
            elif isinstance(expr, tf.Var):
                assert expr.name in seen.text and str(expr.type) in seen.text
    assert count > 15
    assert seen.attributes.get("xmlns", set()) <= {"http://www.w3.org/2000/svg"}
    assert not {"src", "href", "action", "srcset", "data"} & set(seen.attributes)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & seen.tags
    assert not any("url(" in value for values in seen.attributes.values() for value in values)


def test_a_lowered_module_is_shown_as_text() -> None:
    lowered = lower(MODELS["attention"])
    with tf.view(lowered) as served:
        text = Seen(served.html).text
    for op in ("TileLoad", "Mma", "PipeWait", "TileStore"):
        assert op in text
