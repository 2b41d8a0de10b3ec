// The parts of the ops' tests: X(name, header's name, threads, whether it has a vector and a general variant,
// whether it is golden).
#pragma once

/// Those whose code is the same from sm_80 to sm_89.
#define OPS_MOVES(X)                             \
  X(argmax_128, argmax, 128, false, true)        \
  X(boxes, boxes, 128, true, false)              \
  X(copies, copies, 128, false, true)            \
  X(elementwise, elementwise, 128, false, false) \
  X(grid, grid, 128, false, true)                \
  X(index, index, 128, true, false)              \
  X(meshes_128, meshes, 128, false, true)        \
  X(reduce_128, reduce, 128, false, true)

/// Of these, the ones that tell CTAs of other sizes apart.
#define OPS_WIDTHS(X)                     \
  X(argmax_48, argmax, 48, false, true)   \
  X(argmax_192, argmax, 192, false, true) \
  X(meshes_32, meshes, 32, false, true)   \
  X(meshes_192, meshes, 192, false, true) \
  X(reduce_48, reduce, 48, false, true)   \
  X(reduce_192, reduce, 192, false, true)

/// Those that depend on what an architecture does with formats of 8 bits.
#define OPS_NUMBERS(X)               \
  X(casts, casts, 128, false, false) \
  X(products, products, 128, false, false)

#define OPS_PARTS(X) OPS_MOVES(X) OPS_WIDTHS(X) OPS_NUMBERS(X)
