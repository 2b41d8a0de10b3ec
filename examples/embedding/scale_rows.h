// A kernel of the consumer's own over TileFoundry's runtime headers.
#pragma once

#include <cstdint>

namespace embedding {

/// Columns of the matrices that scale_rows works on: an operation's extents are static, so that it becomes
/// vector code.
inline constexpr int kColumns = 64;

/// y[r, c] = x[r, c] * scale[r] for dense row-major matrices of `rows` x kColumns floats. One CTA works on a
/// row at a time; the CTAs are spread over the machine's cores.
void scale_rows(float const* x, float const* scale, float* y, int64_t rows);

}  // namespace embedding
