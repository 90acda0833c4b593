// Raised-cosine edges: a cut inside a waveform is heard as a click, a ramp of a few milliseconds is not.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// 4 ms.
constexpr size_t fade_samples(SampleRate rate) { return static_cast<size_t>(rate.per_ms()) * 4; }

/// Lets the first `over` samples die away and silences the rest.
void fade_out(std::span<Sample> audio, size_t over) noexcept;

/// Raises the first `over` samples from silence.
void fade_in(std::span<Sample> audio, size_t over) noexcept;

/// Goes from `from` to `to` within `from.size()` samples; the result is in `to`.
void crossfade(std::span<const Sample> from, std::span<Sample> to) noexcept;

}  // namespace carillon
