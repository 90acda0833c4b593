// Changes the length of a frame by a few samples without a click.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Samples that stretch() reads before and after its input.
inline constexpr size_t kStretchMargin = 8;

/// Writes `in` to `out` at equal distances, by band-limited interpolation. `in` must have kStretchMargin
/// valid samples before its beginning and after its end. The next frame begins at the end of `in`, so
/// consecutive frames of different stretch join without a gap.
void stretch(std::span<const Sample> in, std::span<Sample> out) noexcept;

}  // namespace carillon
