import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import Conv2d
from tilefoundry.ir.samples import GROUP, QUAD, W, call, dynamic, held, value
from tilefoundry.ir.shard import Broadcast, Partial, Placed, Split

N, H = DimVar("N", 1, 9), DimVar("H", 8, 99)
SUM = Partial("sum")
STATES, MAX = ((W, SUM),), ((W, Partial("max")),)
IMAGES, CHANNELS = Placed(4, (W,)), Placed(8, (GROUP,))
B = Broadcast()


def image(*entries, states=(), shape=(4, 8, 6, 6)):
    return held(shape, *entries, states=states)


X = image(IMAGES, 8, 6, 6)
KERNEL = held((16, 8, 3, 3), CHANNELS, 2, 8, 3, 3)
BIAS = held((16,), CHANNELS, 2)


@pytest.mark.parametrize(
    ("x", "w", "attributes", "result"),
    [
        ((2, 3, 8, 9), (4, 3, 3, 2), {}, (2, 4, 6, 8)),
        ((2, 3, 8, 9), (4, 3, 3, 3), {"padding": 1}, (2, 4, 8, 9)),
        ((2, 3, 8, 9), (4, 3, 3, 3), {"stride": (2, 3), "padding": (1, 0)}, (2, 4, 4, 3)),
        ((2, 4, 9, 9), (6, 2, 3, 3), {"groups": 2, "dilation": 2}, (2, 6, 5, 5)),
        ((2, 4, 1, 1), (4, 1, 1, 1), {"groups": 4}, (2, 4, 1, 1)),
        ((N, 3, H, 8), (4, 3, 3, 3), {"padding": 1}, (N, 4, H, 8)),
        ((0, 3, 4, 4), (4, 3, 3, 3), {}, (0, 4, 2, 2)),
    ],
)
def test_shapes(x, w, attributes, result):
    op = Conv2d(**attributes)
    assert call(op, value(x, "bf16"), value(w, "bf16")).type == value(result, "bf16").type
    assert call(op, value(x), value(w), value(w[:1])).type == value(result).type


@pytest.mark.parametrize(
    ("args", "attrs"),
    [
        ((X, KERNEL), (Split(0), Split(1), B)),
        ((X, KERNEL, BIAS), (Split(0), Split(1), B)),
        ((image(4, CHANNELS, 6, 6), held((16, 8, 3, 3), 16, CHANNELS, 3, 3)), (B, SUM, B)),
        ((image(4, 8, 6, 6, states=STATES), KERNEL), (SUM, Split(1), B)),
        ((image(4, 8, 6, 6, states=STATES), KERNEL, held((16,), CHANNELS, 2, states=STATES)), (SUM, Split(1), B)),
    ],
)
def test_where_the_result_lies(args, attrs):
    assert call(Conv2d(), *args).type.layout.attrs == attrs


@pytest.mark.parametrize(
    ("args", "attributes", "words"),
    [
        ((value((3, 8, 9)), value((4, 3, 3, 3))), {}, "'input' must have rank 4"),
        ((value((2, 3, 8, 9)), value((4, 3, 3))), {}, "'weight' must have rank 4"),
        ((value((2, 3, 8, 9)), value((4, 3, 3, 3)), value((4, 1))), {}, "'bias' must have rank 1"),
        ((value((2, 3, 8, 9)), value((4, 2, 3, 3))), {}, "axis 1 of 'weight' must be equal: they are 3 and 2"),
        ((value((2, 3, 8, 9)), value((4, 3, 3, 3)), value((3,))), {}, "'bias' and of axis 0 of 'weight'"),
        ((value((2, 4, 8, 9)), value((4, 2, 3, 3), "bf16")), {"groups": 2}, "dtypes f32 and bf16"),
        ((value((2, 4, 8, 9), "i32"), value((4, 4, 3, 3), "i32")), {}, "must be of f16, bf16, f32 or f64, got i32"),
        ((value((2, 3, 8, 9)), value((4, 1, 3, 3))), {"groups": 2}, "3 channels of 'input' do not divide into 2"),
        ((value((2, 4, 8, 9)), value((5, 2, 3, 3))), {"groups": 2}, "5 channels of the result do not divide"),
        ((value((2, 3, 2, 9)), value((4, 3, 3, 3))), {}, "reaches over 3 elements does not fit axis 2"),
        ((value((2, 3, 4, 4)), value((4, 3, 1, 3))), {"dilation": 2}, "over 5 elements does not fit axis 3"),
        ((value((2, 3, 4, 4)), value((4, 3, 0, 3))), {}, "does not fit axis 2"),
        ((value((2, 3, 4, 4)), value((4, 3, 3, 3), "f32", "smem")), {}, "conflicting storage"),
        ((image(4, 8, CHANNELS, 6, shape=(4, 8, 8, 6)), KERNEL), {}, r"axis 2 of 'input'(.|\n)*halo"),
        ((image(4, 8, 6, CHANNELS, shape=(4, 8, 6, 8)), KERNEL), {"padding": 1}, r"axis 3 of 'input'(.|\n)*halo"),
        ((X, held((16, 8, 4, 3), 16, 8, Placed(4, (QUAD,)), 3)), {}, "axis 2 of 'weight' is split"),
        ((image(4, CHANNELS, 6, 6), KERNEL), {}, "placed differently"),
        ((image(4, CHANNELS, 6, 6), held((16, 4, 3, 3), CHANNELS, 2, 4, 3, 3)), {"groups": 2}, "convolved in groups"),
        ((X, held((16, 4, 3, 3), CHANNELS, 2, 4, 3, 3)), {"groups": 2}, "axis 0 of 'weight' is split"),
        (
            (image(4, CHANNELS, 6, 6), held((16, 8, 3, 3), 16, CHANNELS, 3, 3), value((16,), "f32", "rmem")),
            {},
            "beside a bias, which each unit would add",
        ),
        ((image(4, 8, 6, 6, states=STATES), KERNEL, BIAS), {}, "cannot pass through"),
        ((X, KERNEL, held((16,), CHANNELS, 2, states=((QUAD, SUM),))), {}, "cannot pass through"),
        ((image(4, 8, 6, 6, states=MAX), KERNEL), {}, "cannot pass through"),
        (
            (image(4, 8, 6, 6, states=STATES), held((16, 8, 3, 3), 16, 8, 3, 3, states=STATES)),
            {},
            "cannot pass through",
        ),
        ((dynamic(X), KERNEL), {}, "Dynamic"),
        ((X, dynamic(KERNEL)), {}, "Dynamic"),
        ((X, KERNEL, dynamic(BIAS)), {}, "Dynamic"),
        ((X,), {}, "expected at least 2 operand"),
    ],
)
def test_what_does_not_fit_is_refused(args, attributes, words):
    with pytest.raises(VerifyError, match=words):
        call(Conv2d(**attributes), *args)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"stride": 0}, "stride must be at least 1"),
        ({"padding": (0, -1)}, "padding must be at least 0"),
        ({"dilation": (1, 2, 3)}, "dilation must be an int or a pair"),
        ({"padding": "same"}, "padding must be an int or a pair"),
        ({"groups": 0}, "groups must be at least 1"),
        ({"groups": 1.0}, "groups must be a plain int"),
    ],
)
def test_attributes(attributes, words):
    with pytest.raises((TypeError, ValueError), match=words):
        Conv2d(**attributes)
