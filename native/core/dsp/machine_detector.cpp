#include "core/dsp/machine_detector.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/narrowband.hpp"
#include "core/dsp/level.hpp"

namespace carillon {
namespace {

// Silence after a greeting that only somebody leaves who waits for an answer.
constexpr uint32_t kAfterGreetingMs = 800;
// A burst shorter than this is a click, not a word.
constexpr uint32_t kShortestWordMs = 100;
// Words are apart when this much silence lies between them.
constexpr uint32_t kBetweenWordsMs = 50;
// The noise floor is the level that one in twenty steps stays below; voice is so much louder.
constexpr size_t kFloorShare = 20;
constexpr int kAboveFloorDb = 7;
// Whatever the floor: quieter than this is no speech …
constexpr int kQuietestVoiceDbov = -50;
// … and the loudest noise that is believed to be noise.
constexpr int kLoudestFloorDbov = -18;

/// One pass over the levels heard so far, word by word.
struct Words {
  uint32_t silence_ms = 0;  // since the last voice
  uint32_t word_ms = 0;     // of the burst in progress
  uint32_t voice_ms = 0;    // of all words
  uint32_t count = 0;
  bool in_word = false;
  bool greeting = false;  // a first word was said

  void silence(uint32_t ms) {
    silence_ms += ms;
    if (silence_ms < kBetweenWordsMs) return;
    word_ms = 0;
    in_word = false;
  }

  void voice(uint32_t ms) {
    word_ms += ms;
    if (in_word) {
      voice_ms += ms;
    } else if (word_ms >= kShortestWordMs) {
      in_word = true;
      greeting = true;
      count += 1;
      voice_ms += word_ms;
    }
    // A click does not end the silence in which somebody waits.
    if (in_word) silence_ms = 0;
  }
};

}  // namespace

MachineDetector::MachineDetector(const Options& options) noexcept : options_(options) {
  options_.total_ms = std::min<uint32_t>(options.total_ms, kMaxSteps * kStepMs);
}

std::optional<MachineDetector::Decision> MachineDetector::feed(AudioView heard) noexcept {
  if (decided_) return std::nullopt;
  Frame scratch(kNarrowband);
  const std::span<const Sample> frame = narrow_.convert(heard, kNarrowband, scratch).samples;
  constexpr size_t step = kStepMs * kNarrowband.per_ms();
  for (size_t at = 0; at + step <= frame.size(); at += step) note_level(frame.subspan(at, step));
  if (beep_.feed(frame)) return conclude(Reason::beep);
  if (const auto reason = judge()) return conclude(*reason);
  if (steps_ * kStepMs >= options_.total_ms) return conclude(Reason::timeout);
  return std::nullopt;
}

void MachineDetector::note_level(std::span<const Sample> step) noexcept {
  if (steps_ == kMaxSteps) return;
  const auto below = static_cast<uint8_t>(std::lround(-level_dbov(step)));
  levels_[steps_++] = below;
  histogram_[below] += 1;
}

/// dB below full scale at which voice begins; larger is quieter.
int MachineDetector::voice_threshold() const noexcept {
  size_t quieter = 0;
  int floor = 0;
  for (size_t below = kLevels; below-- > 0;) {
    quieter += histogram_[below];
    floor = -static_cast<int>(below);
    if (quieter * kFloorShare > steps_) break;
  }
  return -std::max(kQuietestVoiceDbov, std::min(floor, kLoudestFloorDbov) + kAboveFloorDb);
}

std::optional<MachineDetector::Reason> MachineDetector::judge() const noexcept {
  const int threshold = voice_threshold();
  Words words;
  for (size_t i = 0; i < steps_; ++i) {
    if (levels_[i] > threshold) {
      words.silence(kStepMs);
      if (!words.greeting && words.silence_ms >= options_.initial_silence_ms) return Reason::initial_silence;
      if (words.greeting && words.silence_ms >= kAfterGreetingMs) return Reason::human;
    } else {
      words.voice(kStepMs);
      if (words.word_ms >= options_.maximum_word_ms) return Reason::word_length;
      if (words.count > options_.maximum_words) return Reason::words;
      if (words.voice_ms > options_.greeting_ms) return Reason::greeting;
    }
  }
  return std::nullopt;
}

MachineDetector::Decision MachineDetector::conclude(Reason reason) noexcept {
  decided_ = true;
  // Nothing certain counts as a person: a machine that is spoken to does no harm, a person hung up on does.
  const bool machine = reason != Reason::human && reason != Reason::timeout;
  return {machine, reason, static_cast<uint32_t>(steps_ * kStepMs)};
}

}  // namespace carillon
