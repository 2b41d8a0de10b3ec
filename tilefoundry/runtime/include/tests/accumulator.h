// How four warps hold what tensor cores sum up: 64 rows, in blocks of 8 columns.
#pragma once

#include "names.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

using Threads = Mesh<Layout<Shape<_4, _8, _4>, Stride<_32, _4, _1>>, kThread>;
template <int N>
using Accumulator =
    ShardLayout<Layout<Shape<_4, _2, _8, Int<N / 8>, _4, _2>, Stride<_0, Int<N / 4>, _0, _2, _0, _1>>,
                cute::tuple<S<0>, S<2>, S<4>>, Threads>;

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
