// Raised-cosine fades. A cut in a waveform causes a click; a ramp of a few milliseconds does not.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/frame.hpp"

namespace carillon {

/// Returns the number of samples in 4 ms.
constexpr size_t fade_samples(SampleRate rate) { return static_cast<size_t>(rate.per_ms()) * 4; }

/// Fades out the first `over` samples and silences the rest.
void fade_out(std::span<Sample> audio, size_t over) noexcept;

/// Fades in the first `over` samples.
void fade_in(std::span<Sample> audio, size_t over) noexcept;

/// Crossfades from `from` to `to` over `from.size()` samples. Writes the result to `to`.
void crossfade(std::span<const Sample> from, std::span<Sample> to) noexcept;

/// Removes the step from the sample `before` to the first sample, by a ramp over the first `over` samples.
/// For audio whose continuation is unknown.
void smooth_step(Sample before, std::span<Sample> audio, size_t over) noexcept;

}  // namespace carillon
