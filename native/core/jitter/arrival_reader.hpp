// Decodes a leg's packets in order as they arrive, without a playout clock: for a bridge whose other leg has
// another coding, sample rate or packet time.
//
// A packet that arrives before its predecessor waits until another one arrives or for 30 ms. After that, the
// predecessor counts as lost. If predecessors often arrive even later, packets wait longer. The payloads stay
// in the leg's store; this object has the order and the decoder.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/dsp/resampler.hpp"
#include "core/jitter/payload_store.hpp"

namespace carillon {

class ArrivalReader {
 public:
  /// Number of packets that may wait for an earlier one: initially, and after earlier ones were too late.
  static constexpr size_t kWindow = 2;
  static constexpr size_t kLongestWindow = 4;
  /// Time after which a longer window that was not needed is shortened.
  static constexpr Nanos kWindowKept = 10 * kSecond;
  /// Longest loss that is concealed. A longer gap continues as a pause.
  static constexpr Nanos kLongestLoss = 200 * kMillisecond;
  /// Audio that may arrive faster than real time. It limits the processing time that a peer can cause.
  static constexpr Nanos kMaxAhead = 300 * kMillisecond;

  /// `decoder` must be used by this reader only, because it decodes packets earlier than the jitter buffer.
  explicit ArrivalReader(std::unique_ptr<AudioDecoder> decoder) : decoder_(std::move(decoder)) {
    decoder_->output_undelayed();
  }

  struct Packet {
    int64_t sequence = 0;  // extended
    RtpTime time;
    RtpTicks duration;
    Nanos arrival{};
    bool marker = false;
  };

  /// Returns true if the decoder accepts this coding.
  [[nodiscard]] bool decodes(Coding coding) const { return decoder_->decodes(coding); }
  /// Returns true between begin() and stop(), unless the stream has restarted since. `era`: number of the
  /// stream's sequence numbering.
  [[nodiscard]] bool running(const PayloadStore& store, uint32_t era) const {
    return running_ && generation_ == store.generation() && era_ == era;
  }
  [[nodiscard]] bool running() const { return running_; }

  /// Starts with a stored packet. Output has the rate `to`; the decoder works at `decoded_at` or its own
  /// lower rate.
  void begin(const Packet& first, const PayloadStore& store, uint32_t era, SampleRate decoded_at,
             SampleRate to);
  void stop() { running_ = false; }

  /// Adds a stored packet after begin(). Returns false if the peer sends more audio than real time.
  bool arrived(const Packet& packet);
  /// Notes a packet without audio, so that it does not count as lost.
  void leave_out(int64_t sequence);

  enum class Kind : uint8_t {
    audio,  // decoded, or restored from the packet after it
    lost,   // concealed
    pause,  // the sender paused: no audio
  };
  struct Piece {
    Kind kind = Kind::audio;
    /// Audio of at most 20 ms in the frame passed to next().
    std::span<Sample> audio;
    /// Length of a pause.
    Nanos pause{};
  };
  /// Returns the next section that is ready, at the rate `to`. Call until it returns nullopt.
  std::optional<Piece> next(Nanos now, const PayloadStore& store, SampleRate to, Frame& out);
  /// Time at which next() has output without further packets, if any packets wait.
  [[nodiscard]] std::optional<Nanos> due() const;

  /// Writes an extrapolation of the output, in frames of 20 ms, and stops.
  void go_on(SampleRate to, std::span<Sample> out);

  /// Rate of the decoded audio: content above half of it does not exist.
  [[nodiscard]] SampleRate rate() const { return decoder_->rates().sample; }
  [[nodiscard]] RtpClockRate clock() const { return decoder_->rates().clock; }
  /// Number of packets that arrived after their successors had been read.
  [[nodiscard]] uint64_t late() const { return late_; }

 private:
  [[nodiscard]] int64_t missing_before(int64_t sequence) const;
  [[nodiscard]] Nanos wait() const;
  void fit_window(const Packet& packet);
  void expect(int64_t sequence);
  bool open_next(Nanos now, std::optional<Piece>& pause);
  Piece read(const PayloadStore& store, SampleRate to, Frame& out);
  Piece conceal(const PayloadStore& store, SampleRate to, Frame& out);
  std::span<Sample> convert(Frame& decoded, size_t samples, SampleRate to, Frame& out);
  [[nodiscard]] size_t block_of(RtpTicks rest) const;

  std::unique_ptr<AudioDecoder> decoder_;
  FrameConverter converter_;
  bool running_ = false;
  uint32_t generation_ = 0;
  uint32_t era_ = 0;
  int64_t next_sequence_ = 0;
  RtpTime next_time_;
  /// Bit i: the packet next_sequence_ + i has no audio.
  uint64_t left_out_ = 0;
  std::array<Packet, kLongestWindow> held_{};  // in order
  size_t held_count_ = 0;
  size_t window_ = kWindow;
  /// Time at which the window was last needed.
  Nanos window_needed_at_{};
  /// Packet that is being read, and the audio lost before it.
  std::optional<Packet> open_;
  RtpTicks into_;
  RtpTicks lost_;
  /// Audio received beyond real time at the last arrival.
  Nanos ahead_{};
  Nanos ahead_at_{};
  uint64_t late_ = 0;
};

}  // namespace carillon
