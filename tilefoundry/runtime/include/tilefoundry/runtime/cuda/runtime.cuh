// The kernel surface for CUDA. Include <tilefoundry/runtime.h> instead.
#pragma once

#include <tilefoundry/runtime/core/copy.h>
#include <tilefoundry/runtime/core/copy_async.h>
#include <tilefoundry/runtime/core/copy_n.h>
#include <tilefoundry/runtime/core/elementwise.h>
#include <tilefoundry/runtime/core/gather.h>
#include <tilefoundry/runtime/core/index.h>
#include <tilefoundry/runtime/core/local_matmul.h>
#include <tilefoundry/runtime/core/mma.h>
#include <tilefoundry/runtime/core/part.h>
#include <tilefoundry/runtime/core/pipeline.h>
#include <tilefoundry/runtime/core/reduce.h>
#include <tilefoundry/runtime/core/scan.h>
#include <tilefoundry/runtime/core/scatter.h>
#include <tilefoundry/runtime/core/sync.h>
#include <tilefoundry/runtime/core/tensors.h>
#include <tilefoundry/runtime/core/tile.h>
#include <tilefoundry/runtime/core/topk.h>
#include <tilefoundry/runtime/core/transpose.h>
#include <tilefoundry/runtime/core/update.h>

// cute::fill and cute::copy of what local() gives. CuTe's copy takes as long to compile as all of this, so
// that whoever does without it, as generated code does, may say so.
#include <cute/algorithm/fill.hpp>
#if !defined(TILEFOUNDRY_WITHOUT_CUTE_COPY)
#include <cute/tensor.hpp>
#endif
