// From datagrams of one leg to audio on time, keypad presses and statistics.
#pragma once

#include <optional>

#include "core/base/prefetch.hpp"
#include "core/dsp/resampler.hpp"
#include "core/jitter/jitter_buffer.hpp"
#include "core/leg/source_learner.hpp"
#include "core/rtp/quality.hpp"
#include "core/rtp/reception_stats.hpp"
#include "core/rtp/telephone_event.hpp"

namespace carillon {

struct ReceiveConfig {
  ExpectedSource source;
  Coding coding = Coding::pcmu;
  uint8_t payload_type = 0;
  std::optional<uint8_t> telephone_event;
  /// Of the events; not always the audio's.
  RtpClockRate event_clock{8000};
};

enum class Received : uint8_t {
  malformed,       // not RTP
  unknown_source,  // from somewhere else
  ignored,         // repeated, not understood, or a source or sequence that has not proved itself yet
  comfort,         // the sender says that it is silent (RFC 3389)
  audio,
  event,
};

class ReceivePath {
 public:
  explicit ReceivePath(std::unique_ptr<JitterBuffer> audio);

  /// The coding of before, what came in it, and its way to the rate of the new one.
  struct Former {
    std::unique_ptr<JitterBuffer> audio;
    ReceiveConfig config;
    FrameConverter converter;
  };
  /// Another coding was negotiated: its packets go into `audio` from now on. What the peer still sends in the
  /// former one is heard until the new one is, and kept in `former`. Gives back what is not needed any more.
  void use(std::unique_ptr<JitterBuffer>& audio, std::unique_ptr<Former>& former);
  /// First and later negotiations; what was received stays.
  void configure(const ReceiveConfig& config, Nanos now);

  /// The peer is at this address, as signalling would say it.
  void expect(const Address& peer, Nanos now);

  struct Outcome {
    Outcome() = default;
    explicit Outcome(Received what) : kind(what) {}

    Received kind = Received::ignored;
    /// It takes part in the peer's sequence; what it says follows.
    bool counted = false;
    RtpPacket packet;
    int64_t sequence = 0;                       // extended
    std::optional<char> digit;                  // a new keypad press
    std::optional<SourceChange> source_change;  // with this packet the peer is elsewhere
  };
  Outcome receive(Bytes datagram, const Address& source, Nanos arrival);

  // Hints, each once what the one before asked for has come.
  /// receive() or pop() will be called soon.
  void expect() const {
    const auto* const begin = reinterpret_cast<const std::byte*>(this);
    prefetch(this, static_cast<size_t>(reinterpret_cast<const std::byte*>(&former_) - begin));
  }
  void expect_audio() const { audio_->expect(); }
  /// It is receive().
  void expect_packet() const { audio_->expect_packet(); }
  /// It is pop().
  void expect_decoder() const { audio_->decoder().expect(); }
  void expect_frame() const { audio_->expect_frame(); }

  /// The jitter buffer's next frame; call once every 20 ms with room for one at rate().
  void pop(Nanos now, std::span<Sample> out);

  [[nodiscard]] SampleRate rate() const { return audio_->rates().sample; }
  [[nodiscard]] const PayloadStore& store() const { return audio_->packets(); }
  /// In the place of pop() when nobody hears the frame.
  void leave_out() { audio_->leave_out(); }
  JitterBuffer& audio() { return *audio_; }
  [[nodiscard]] const ReceiveConfig& config() const { return config_; }
  [[nodiscard]] SessionRates rates() const { return audio_->rates(); }
  /// How long a packet lasts that bears the negotiated payload type.
  [[nodiscard]] RtpTicks duration(const RtpPacket& packet) const {
    return audio_->decoder().duration(config_.coding, packet.payload);
  }
  /// Changes whenever the sequence numbers are not those of before any more.
  [[nodiscard]] uint32_t sequence_era() const { return sequence_era_; }
  [[nodiscard]] std::optional<uint32_t> ssrc() const { return ssrc_; }
  [[nodiscard]] const DelayEstimator& delays() const { return audio_->delays(); }
  [[nodiscard]] const SourceLearner& source() const { return source_; }
  /// Packets that came after their place had been played, under every coding.
  [[nodiscard]] uint64_t late_packets() const { return late_before_ + playout().late_packets; }
  [[nodiscard]] const PlayoutCounters& playout() const { return audio_->playout().counters(); }
  [[nodiscard]] ReceptionSummary reception() const { return stats_.summary(); }
  [[nodiscard]] Quality quality(std::optional<double> round_trip_ms = {}) const;
  [[nodiscard]] LossPatternSummary loss_pattern() const { return stats_.pattern(); }
  [[nodiscard]] Nanos playout_delay() const { return audio_->playout().delay(); }
  /// Of the peer's packets.
  [[nodiscard]] Nanos packet_time() const { return audio_->playout().packet_time(); }
  /// Arrival of the last valid packet; negative: none yet.
  [[nodiscard]] Nanos last_arrival() const { return last_arrival_; }
  [[nodiscard]] uint64_t unknown_sources() const { return unknown_sources_; }
  /// Packets from where the peer is whose payload type was not negotiated.
  [[nodiscard]] uint64_t not_negotiated() const { return not_negotiated_; }

 private:
  Outcome receive_from_peer(const RtpPacket& packet, bool is_audio, Nanos arrival);
  [[nodiscard]] bool negotiated(uint8_t payload_type) const;
  bool same_source(uint32_t ssrc);
  /// The packets of another address are another stream, whatever SSRC it bears.
  void begin_stream(uint32_t ssrc);
  void restart_media();
  void store_audio(const RtpPacket& packet, int64_t sequence, Nanos arrival);
  [[nodiscard]] bool from_former(uint8_t payload_type) const;
  void hear_former(Nanos now, std::span<Sample> out, bool gives_way);

  // Small things first: what every packet needs stands together.
  ReceiveConfig config_;
  bool configured_ = false;
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
  // What the peer sent before its answer took effect.
  std::unique_ptr<Former> former_;
  bool former_heard_ = false;
  uint64_t late_before_ = 0;
};

}  // namespace carillon
