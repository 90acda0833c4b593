#include "core/dsp/beep_detector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/base/narrowband.hpp"

namespace carillon {
namespace {

constexpr double kLowestHz = 400.0;
constexpr double kHighestHz = 2000.0;
// Half the width of a 20 ms filter. At any frequency, one filter passes at least four fifths of the tone.
constexpr double kGridHz = 25.0;
constexpr size_t kGridPoints = static_cast<size_t>((kHighestHz - kLowestHz) / kGridHz) + 1;
// Minimum share of the frame's energy. Noise 15 dB below the tone leaves 0.97; a frequency between two grid
// points costs at most 0.05.
constexpr double kPureBeepShare = 0.85;
constexpr double kQuietestBeep = 200.0 * 200.0;  // -44 dBov
constexpr uint32_t kFramesToBeep = 6;            // 120 ms
constexpr double kDriftHz = 15.0;
constexpr double kSteadyBeep = 2.0;  // maximum energy ratio between frames: 3 dB

/// Frequencies filtered in parallel in vector registers.
constexpr size_t kGridLanes = 8;
using Lanes = std::array<float, kGridLanes>;

/// Number of lane groups in the grid. Points beyond the grid's end are ignored.
constexpr size_t kGridGroups = (kGridPoints + kGridLanes - 1) / kGridLanes;

double grid_hz(size_t point) { return kLowestHz + kGridHz * static_cast<double>(point); }

float turn_of(double frequency_hz) {
  return static_cast<float>(2.0 * std::cos(2.0 * std::numbers::pi * frequency_hz / kNarrowband.hz()));
}

std::array<Lanes, kGridGroups> grid_turns() {
  std::array<Lanes, kGridGroups> turns{};
  for (size_t point = 0; point < kGridPoints; ++point)
    turns[point / kGridLanes][point % kGridLanes] = turn_of(grid_hz(point));
  return turns;
}

const std::array<Lanes, kGridGroups> kGridTurns = grid_turns();

/// Returns the energy that a sine at each frequency accounts for (Goertzel).
Lanes energies(std::span<const Sample> frame, const Lanes& turns) {
  Lanes last{};
  Lanes before{};
  for (const Sample sample : frame) {
    for (size_t i = 0; i < kGridLanes; ++i) {
      const float next = static_cast<float>(sample) + turns[i] * last[i] - before[i];
      before[i] = last[i];
      last[i] = next;
    }
  }
  Lanes result{};
  const float scale = 2.0F / static_cast<float>(frame.size());
  for (size_t i = 0; i < kGridLanes; ++i) {
    result[i] = scale * (last[i] * last[i] + before[i] * before[i] - turns[i] * last[i] * before[i]);
  }
  return result;
}

struct Peak {
  double frequency_hz = 0.0;
  double energy = 0.0;
};

/// Finds the strongest sine of the frame, first on the grid, then between grid points.
Peak strongest_sine(std::span<const Sample> frame) {
  Peak peak;
  for (size_t point = 0; point < kGridPoints; point += kGridLanes) {
    const Lanes found = energies(frame, kGridTurns[point / kGridLanes]);
    for (size_t i = 0; i < std::min(kGridLanes, kGridPoints - point); ++i) {
      if (found[i] > peak.energy) peak = {grid_hz(point + i), found[i]};
    }
  }
  // Eight points from half a step below to half a step above.
  Lanes turns{};
  const double lowest = peak.frequency_hz - kGridHz / 2;
  constexpr double fine_hz = kGridHz / (kGridLanes - 1);
  for (size_t i = 0; i < kGridLanes; ++i) turns[i] = turn_of(lowest + fine_hz * static_cast<double>(i));
  const Lanes found = energies(frame, turns);
  for (size_t i = 0; i < kGridLanes; ++i) {
    if (found[i] > peak.energy) peak = {lowest + fine_hz * static_cast<double>(i), found[i]};
  }
  return peak;
}

}  // namespace

bool BeepDetector::feed(std::span<const Sample> frame) noexcept {
  if (frame.size() != kNarrowFrame) return false;
  double total = 0.0;
  for (const Sample sample : frame) total += static_cast<double>(sample) * sample;
  if (total < kQuietestBeep * static_cast<double>(frame.size())) {
    frames_ = 0;
    return false;
  }
  const Peak peak = strongest_sine(frame);
  const bool pure = peak.energy >= kPureBeepShare * total;
  const bool goes_on = frames_ > 0 && std::abs(peak.frequency_hz - frequency_hz_) <= kDriftHz &&
                       peak.energy < kSteadyBeep * energy_ && energy_ < kSteadyBeep * peak.energy;
  if (!pure) {
    frames_ = 0;
  } else {
    frames_ = goes_on ? frames_ + 1 : 1;
  }
  frequency_hz_ = peak.frequency_hz;
  energy_ = peak.energy;
  return frames_ == kFramesToBeep;
}

}  // namespace carillon
