"""A C++ library built by Bazel is loaded and called through TVM FFI."""

import numpy as np
import tvm_ffi


def test_scale() -> None:
    library = tvm_ffi.load_module("tests/bootstrap/libscale.so")
    x = np.arange(4, dtype=np.float32)
    library.scale(tvm_ffi.from_dlpack(x), 2.0)
    assert x.tolist() == [0, 2, 4, 6]
