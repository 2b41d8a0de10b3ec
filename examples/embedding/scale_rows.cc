#include "scale_rows.h"

#include <tilefoundry/runtime.h>

#include <algorithm>

namespace embedding {

namespace tf = tilefoundry;

void scale_rows(float const* x, float const* scale, float* y, int64_t rows) {
  auto const row_layout = cute::Layout<cute::Int<kColumns>>{};
  // Persistent CTAs: any number of them covers any number of rows.
  tf::cpu::launch<false>(std::min<int64_t>(rows, 64), 1, 0, [&] {
    for (int64_t row = tf::program_id<tf::TopologyScope::cta>(); row < rows;
         row += tf::program_dim<tf::TopologyScope::cta>()) {
      auto in = cute::make_tensor(x + row * kColumns, row_layout);
      auto out = cute::make_tensor(y + row * kColumns, row_layout);
      tf::ops::binary(tf::op::mul{}, in, scale[row], out);
    }
  });
}

}  // namespace embedding
