#pragma once

// Found through the `includes` of the library.
inline constexpr int kLevel = 11;
