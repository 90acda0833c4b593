#include "core/dsp/machine_detector.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/narrowband.hpp"
#include "core/dsp/level.hpp"

namespace carillon {
namespace {

// Silence after a greeting that indicates a person waiting for an answer.
constexpr uint32_t kAfterGreetingMs = 800;
// Shorter bursts are clicks, not words.
constexpr uint32_t kShortestWordMs = 100;
// Minimum silence between two words.
constexpr uint32_t kBetweenWordsMs = 50;
// The noise floor is the level that one in twenty steps stays below. Voice exceeds it by kAboveFloorDb.
constexpr size_t kFloorShare = 20;
constexpr int kAboveFloorDb = 7;
// Adaptive rules: noise that varies, such as traffic, exceeds its floor by more. Voice is at most this much
// quieter than the loudest twentieth of all steps.
constexpr int kBelowLoudDb = 17;
// Minimum level of speech, regardless of the floor.
constexpr int kQuietestVoiceDbov = -50;
// Maximum level accepted as the noise floor.
constexpr int kLoudestFloorDbov = -18;

// Adaptive rules: longest speech in more than one sentence, and the pause between two sentences.
constexpr uint32_t kLongestSentencesMs = 2000;
constexpr uint32_t kBetweenSentencesMs = 300;

/// State of one pass over all levels, word by word.
struct Words {
  uint32_t silence_ms = 0;  // time since the last voice
  uint32_t word_ms = 0;     // length of the current burst
  uint32_t voice_ms = 0;    // total length of all words
  uint32_t count = 0;
  uint32_t sentences = 0;
  uint32_t span_ms = 0;  // time since the first word
  bool in_word = false;
  bool greeting = false;  // a first word was detected

  void silence(uint32_t ms) {
    if (greeting) span_ms += ms;
    silence_ms += ms;
    if (silence_ms < kBetweenWordsMs) return;
    word_ms = 0;
    in_word = false;
  }

  void voice(uint32_t ms) {
    word_ms += ms;
    if (greeting) span_ms += ms;
    if (in_word) {
      voice_ms += ms;
    } else if (word_ms >= kShortestWordMs) {
      in_word = true;
      if (!greeting || silence_ms >= kBetweenSentencesMs) sentences += 1;
      greeting = true;
      count += 1;
      voice_ms += word_ms;
    }
    // A click does not interrupt the silence after a greeting.
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

/// Returns the level in dB below full scale at which voice begins. Larger values are quieter.
int MachineDetector::voice_threshold() const noexcept {
  size_t quieter = 0;
  int floor = 0;
  for (size_t below = kLevels; below-- > 0;) {
    quieter += histogram_[below];
    floor = -static_cast<int>(below);
    if (quieter * kFloorShare > steps_) break;
  }
  const int above_floor = std::min(floor, kLoudestFloorDbov) + kAboveFloorDb;
  const int quietest = std::max(kQuietestVoiceDbov, above_floor);
  return -(options_.adaptive ? std::max(quietest, loud_level() - kBelowLoudDb) : quietest);
}

/// Returns the level that one in twenty steps exceeds, in dBov.
int MachineDetector::loud_level() const noexcept {
  size_t louder = 0;
  for (size_t below = 0; below < kLevels; ++below) {
    louder += histogram_[below];
    if (louder * kFloorShare > steps_) return -static_cast<int>(below);
  }
  return -static_cast<int>(kLevels);
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
      if (options_.adaptive) {
        const bool sentences = words.sentences > 1 && words.voice_ms > kLongestSentencesMs;
        if (sentences || words.span_ms > options_.longest_person_ms) return Reason::greeting;
        continue;
      }
      if (words.count > options_.maximum_words) return Reason::words;
      if (words.voice_ms > options_.greeting_ms) return Reason::greeting;
    }
  }
  return std::nullopt;
}

MachineDetector::Decision MachineDetector::conclude(Reason reason) noexcept {
  decided_ = true;
  // Uncertain results count as a person: talking to a machine is harmless, hanging up on a person is not.
  const bool machine = reason != Reason::human && reason != Reason::timeout;
  return {machine, reason, static_cast<uint32_t>(steps_ * kStepMs)};
}

}  // namespace carillon
