// Receive side of a leg: turns datagrams into timed audio, key presses and statistics.
#pragma once

#include <optional>

#include "core/base/prefetch.hpp"
#include "core/dsp/resampler.hpp"
#include "core/jitter/jitter_buffer.hpp"
#include "core/leg/source_learner.hpp"
#include "core/record/received_packet.hpp"
#include "core/rtp/quality.hpp"
#include "core/rtp/reception_stats.hpp"
#include "core/rtp/telephone_event.hpp"

namespace carillon {

struct ReceiveConfig {
  ExpectedSource source;
  Coding coding = Coding::pcmu;
  uint8_t payload_type = 0;
  std::optional<uint8_t> telephone_event;
  /// RTP clock of events, which can differ from the audio clock.
  RtpClockRate event_clock{8000};
  /// Negotiated payload type of comfort noise (RFC 3389). Type 13 is accepted regardless, for audio with a
  /// clock of 8 kHz.
  std::optional<uint8_t> comfort_noise = std::nullopt;
};

enum class Received : uint8_t {
  malformed,       // not RTP
  unknown_source,  // from an unexpected address
  ignored,         // duplicate, unknown payload type, or unconfirmed source or sequence
  comfort,         // comfort noise: the sender is silent (RFC 3389); payload empty if not supported
  audio,
  event,
};

class ReceivePath {
 public:
  explicit ReceivePath(std::unique_ptr<JitterBuffer> audio);

  /// Previous coding, its jitter buffer and the converter to the new sample rate.
  struct Former {
    std::unique_ptr<JitterBuffer> audio;
    ReceiveConfig config;
    FrameConverter converter;
  };
  /// Switches to another coding, whose packets go into `audio`. The previous coding stays audible, in
  /// `former`, until the new one arrives. Returns unused objects in the arguments.
  void use(std::unique_ptr<JitterBuffer>& audio, std::unique_ptr<Former>& former);
  /// Applies an initial or later negotiation. Received audio is kept.
  void configure(const ReceiveConfig& config, Nanos now);

  /// Sets the peer's address as if signalled.
  void expect(const Address& peer, Nanos now);

  struct Outcome {
    Outcome() = default;
    explicit Outcome(Received what) : kind(what) {}

    Received kind = Received::ignored;
    /// True if the packet is part of the peer's sequence; the members below describe it.
    bool counted = false;
    RtpPacket packet;
    int64_t sequence = 0;                       // extended sequence number
    Coding coding = Coding::missing;            // of audio
    std::optional<char> digit;                  // new key press
    std::optional<SourceChange> source_change;  // change of the peer's address with this packet
  };
  Outcome receive(Bytes datagram, const Address& source, Nanos arrival);

  /// Returns the packet of this outcome for recorders. Call if `counted`. `source` distinguishes legs.
  [[nodiscard]] ReceivedPacket recorded(const Outcome& outcome, uint32_t source, Nanos arrival) const;

  // Hints. Call each one after the previous one has taken effect.
  /// Hint: receive() or pop() will be called soon.
  void expect() const {
    const auto* const begin = reinterpret_cast<const std::byte*>(this);
    prefetch(this, static_cast<size_t>(reinterpret_cast<const std::byte*>(&former_) - begin));
  }
  void expect_audio() const { audio_->expect(); }
  /// Hint: the call will be receive().
  void expect_packet() const { audio_->expect_packet(); }
  /// Hint: the call will be pop().
  void expect_decoder() const { audio_->decoder().expect(); }
  void expect_frame() const { audio_->expect_frame(); }

  /// Writes the jitter buffer's next frame. Call every 20 ms with space for one frame at rate().
  void pop(Nanos now, std::span<Sample> out);

  [[nodiscard]] SampleRate rate() const { return audio_->rates().sample; }
  [[nodiscard]] const PayloadStore& store() const { return audio_->packets(); }
  /// Skips a frame without listeners. Call instead of pop().
  void leave_out() { audio_->leave_out(); }
  JitterBuffer& audio() { return *audio_; }
  [[nodiscard]] const ReceiveConfig& config() const { return config_; }
  [[nodiscard]] SessionRates rates() const { return audio_->rates(); }
  /// Returns the duration of a packet with the negotiated payload type.
  [[nodiscard]] RtpTicks duration(const RtpPacket& packet) const {
    return audio_->decoder().duration(config_.coding, packet.payload);
  }
  /// Incremented whenever the sequence numbering restarts.
  [[nodiscard]] uint32_t sequence_era() const { return sequence_era_; }
  [[nodiscard]] std::optional<uint32_t> ssrc() const { return ssrc_; }
  [[nodiscard]] const DelayEstimator& delays() const { return audio_->delays(); }
  [[nodiscard]] const SourceLearner& source() const { return source_; }
  /// Counts a packet that transcoding did not use, because it was too late.
  void discarded(int64_t sequence) {
    ++late_before_;
    stats_.discarded(sequence);
  }
  /// Number of packets that arrived after their playout time, in all codings.
  [[nodiscard]] uint64_t late_packets() const { return late_before_ + playout().late_packets; }
  [[nodiscard]] const PlayoutCounters& playout() const { return audio_->playout().counters(); }
  [[nodiscard]] ReceptionSummary reception() const { return stats_.summary(); }
  [[nodiscard]] Quality quality(std::optional<double> round_trip_ms = {}) const;
  [[nodiscard]] LossPatternSummary loss_pattern() const { return stats_.pattern(); }
  [[nodiscard]] Nanos playout_delay() const { return audio_->delay(); }
  /// Returns true during a pause of the sender for which it has described comfort noise.
  [[nodiscard]] bool comforted() const { return comforted_; }
  /// Duration of the peer's packets.
  [[nodiscard]] Nanos packet_time() const { return audio_->playout().packet_time(); }
  /// Arrival time of the last valid packet. Negative: no packet yet.
  [[nodiscard]] Nanos last_arrival() const { return last_arrival_; }
  [[nodiscard]] uint64_t unknown_sources() const { return unknown_sources_; }
  /// Number of packets from the peer's address whose payload type was not negotiated.
  [[nodiscard]] uint64_t not_negotiated() const { return not_negotiated_; }

 private:
  Outcome receive_from_peer(const RtpPacket& packet, bool is_audio, Nanos arrival);
  [[nodiscard]] bool negotiated(uint8_t payload_type) const;
  bool same_source(uint32_t ssrc);
  /// Starts a new stream. A new source address always starts one, even with the same SSRC.
  void begin_stream(uint32_t ssrc);
  void restart_media();
  Coding store_audio(const RtpPacket& packet, int64_t sequence, Nanos arrival);
  [[nodiscard]] bool is_comfort(uint8_t payload_type) const {
    return payload_type == kComfortNoise || payload_type == config_.comfort_noise;
  }
  /// Returns true if the clock of a comfort noise packet is that of the audio.
  [[nodiscard]] bool comfort_usable(uint8_t payload_type) const {
    return payload_type == config_.comfort_noise || audio_->rates().clock == kComfortNoiseClock;
  }
  void store_comfort(const RtpPacket& packet, int64_t sequence, Nanos arrival);
  [[nodiscard]] bool from_former(uint8_t payload_type) const;
  void hear_former(Nanos now, std::span<Sample> out, bool gives_way);

  // Small members first, so that the data every packet needs is contiguous.
  ReceiveConfig config_;
  bool configured_ = false;
  bool comforted_ = false;
  std::optional<uint32_t> ssrc_;
  std::optional<uint32_t> rival_ssrc_;
  std::optional<int64_t> last_sequence_;
  uint32_t sequence_era_ = 0;
  Nanos last_arrival_ = kNever;
  uint64_t unknown_sources_ = 0;
  uint64_t not_negotiated_ = 0;
  SourceLearner source_;
  ReceptionStats stats_;
  TelephoneEventReceiver events_;
  std::unique_ptr<JitterBuffer> audio_;
  // Coding used before the peer's answer took effect.
  std::unique_ptr<Former> former_;
  bool former_heard_ = false;
  uint64_t late_before_ = 0;
};

}  // namespace carillon
