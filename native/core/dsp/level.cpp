#include "core/dsp/level.hpp"

#include <algorithm>
#include <cmath>

namespace carillon {
namespace {

constexpr double kFullScale = 32768.0;
// The floor falls within a few quieter frames and rises so slowly that a sentence does not lift it.
constexpr double kFallPerMs = 0.02;
constexpr double kRiseDbPerSecond = 2.5;
// Lower bound of the floor, for lines that send digital silence instead of comfort noise.
constexpr double kLowestFloor = -75.0;
constexpr double kHighestFloor = -30.0;

}  // namespace

double level_dbov(std::span<const Sample> audio) noexcept {
  int64_t energy = 0;
  for (const Sample sample : audio) energy += int32_t{sample} * int32_t{sample};
  if (energy == 0) return kSilenceDbov;
  const double mean = static_cast<double>(energy) / static_cast<double>(audio.size());
  return std::max(kSilenceDbov, 10.0 * std::log10(mean / (kFullScale * kFullScale)));
}

bool VoiceDetector::feed(AudioView frame) noexcept {
  if (frame.size() == 0) return speaking_;
  const Nanos length = frame.rate.time_of(SampleCount(frame.size()));
  frame_dbov_ = level_dbov(frame.samples);
  loud_ = frame_dbov_ >= options_.surely_voice_dbov || (frame_dbov_ >= options_.quietest_voice_dbov &&
                                                        frame_dbov_ >= floor_dbov_ + options_.above_floor_db);
  adapt_floor(in_milliseconds(length));
  silent_for_ = loud_ ? Nanos{} : silent_for_ + length;
  speaking_ = loud_ || (speaking_ && silent_for_ <= int64_t{options_.hangover_ms} * kMillisecond);
  return speaking_;
}

void VoiceDetector::adapt_floor(double frame_ms) noexcept {
  if (frame_dbov_ < floor_dbov_) {
    const double share = std::min(1.0, kFallPerMs * frame_ms);
    floor_dbov_ += share * (frame_dbov_ - floor_dbov_);
  } else {
    floor_dbov_ = std::min(frame_dbov_, floor_dbov_ + kRiseDbPerSecond * frame_ms / 1000.0);
  }
  floor_dbov_ = std::clamp(floor_dbov_, kLowestFloor, kHighestFloor);
}

}  // namespace carillon
