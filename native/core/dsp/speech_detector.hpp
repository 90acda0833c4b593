// Detects the begin and the end of a caller's speech for a bot.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/frame.hpp"

namespace carillon {

/// Detects speech frame by frame with the audio that arrives, without lookahead.
///
/// A frame is active if its level in the band from 200 to 1800 Hz exceeds three references: the noise floor
/// (the minimum of the last 1.6 s), the usual fluctuation of the noise, and the expected echo of the audio
/// that we send. Speech begins when active frames contain a voiced sound: a peak of the autocorrelation in
/// the range of human pitch. Noise, coughs and hisses have none, and a steady tone is recognized because few
/// coefficients predict it. Speech ends after a time without active frames. Frames that are much quieter than
/// the speaker are background, and so is quiet sound that follows louder speech.
class SpeechDetector {
 public:
  struct Options {
    /// 0 detects only loud and clear speech, 100 detects everything that might be speech.
    uint32_t sensitivity = 50;
    /// Minimum duration of speech in ms before it is reported, 20-1000.
    uint32_t minimum_ms = 40;
    /// Silence in ms after which speech has ended, 200-5000.
    uint32_t end_ms = 500;
  };

  enum class Kind : uint8_t { started, stopped };
  struct Event {
    Kind kind = Kind::started;
    /// Time in ms between the begin of speech (`started`) or its last active frame (`stopped`) and the end of
    /// the frame that reports it.
    uint32_t ago_ms = 0;
    /// `started`: 0-100. `stopped`: mean over the speech.
    uint32_t confidence = 0;
  };

  explicit SpeechDetector(const Options& options) noexcept;

  /// Processes 20 ms of the caller's audio at any line rate.
  std::optional<Event> feed(AudioView heard) noexcept;
  /// Processes 20 ms of the audio sent to the caller, whose echo is not the caller's speech.
  void sent(AudioView audio) noexcept;

  [[nodiscard]] bool speaking() const noexcept { return speaking_; }
  /// Time since the last active frame, in ms.
  [[nodiscard]] uint32_t quiet_ms() const noexcept { return quiet_frames_ * kFrameMs; }

 private:
  static constexpr SampleRate kRate{4000};
  static constexpr size_t kFrame = frame_samples(kRate);
  /// Longest pitch period, for 65 Hz.
  static constexpr size_t kLongestLag = 61;
  /// Shortest pitch period, for 400 Hz.
  static constexpr size_t kShortestLag = 10;
  /// Time over which an echo may be delayed.
  static constexpr size_t kEchoFrames = 32;
  static constexpr size_t kFloorWindows = 8;
  static constexpr uint32_t kFramesPerWindow = 10;

  using Band = std::array<Sample, kFrame>;
  using TwoFrames = std::array<Sample, 2 * kFrame>;

  struct Narrower {
    std::array<Sample, 2> past{};
    void reduce(AudioView in, Band& out) noexcept;
  };
  struct Voicing {
    float strength = 0;
    bool tone = false;
  };

  [[nodiscard]] TwoFrames reduced_band() const noexcept;
  [[nodiscard]] bool hears_tone() const noexcept;
  [[nodiscard]] Voicing voicing() const noexcept;
  void track_floor(float level) noexcept;
  void track_noise(float level) noexcept;
  void track_echo(float level) noexcept;
  [[nodiscard]] float floor() const noexcept;
  [[nodiscard]] float echo_bound() const noexcept;
  std::optional<Event> begin(bool active, float above) noexcept;
  std::optional<Event> go_on(bool active, float above) noexcept;

  Options options_;
  float threshold_db_;
  float least_voicing_;

  Narrower heard_;
  Narrower sent_;
  /// The band of the last frames, newest last.
  TwoFrames band_{};

  std::array<float, kFloorWindows> minima_;
  float window_minimum_;
  uint32_t window_frames_ = 0;
  size_t window_ = 0;
  std::array<float, 3> recent_levels_;
  float deviation_ = 1.0F;

  std::array<float, kEchoFrames> sent_levels_;
  size_t sent_at_ = 0;
  float echo_loss_db_;
  float echo_peak_;
  uint32_t echo_frames_ = 0;

  uint32_t frames_ = 0;
  bool speaking_ = false;
  uint32_t run_frames_ = 0;     // since the first active frame of a possible speech
  uint32_t active_frames_ = 0;  // active ones among them
  uint32_t quiet_frames_ = 0;   // since the last active frame
  float evidence_ = 0;
  float speaker_level_ = 0;  // loudest recent level of the speech
  float usual_level_ = -90;  // loudest recent level of all speech
  float confidence_ = 0;
};

}  // namespace carillon
