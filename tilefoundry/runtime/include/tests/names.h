// The short names with which tests spell layouts.
#pragma once

#include "testing.h"

namespace tilefoundry {
inline namespace TILEFOUNDRY_UNIT {

using cute::_0;
using cute::_1;
using cute::_16;
using cute::_2;
using cute::_3;
using cute::_32;
using cute::_4;
using cute::_8;
using cute::Int;
using cute::Layout;
using cute::make_coord;
using cute::make_shape;
using cute::Shape;
using cute::Stride;
using shard::B;
using shard::S;
constexpr auto kThread = TopologyScope::thread;

}  // namespace TILEFOUNDRY_UNIT
}  // namespace tilefoundry
