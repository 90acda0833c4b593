// Send side of a leg: turns 20 ms frames into RTP packets with the peer's packet time.
#pragma once

#include <memory>
#include <optional>

#include "core/leg/packetizer.hpp"
#include "core/rtp/packet_room.hpp"
#include "core/rtp/relay_map.hpp"
#include "core/rtp/telephone_event.hpp"

namespace carillon {

struct SendConfig {
  Coding coding = Coding::pcmu;
  uint8_t payload_type = 0;
  std::optional<uint8_t> telephone_event;
  /// RTP clock of events, which can differ from the audio clock.
  RtpClockRate event_clock{8000};
  /// Payload type of comfort noise (RFC 3389) at the clock of the audio, if the peer supports it.
  std::optional<uint8_t> comfort_noise;
  /// Packet time that the peer requests, 10-60 ms in steps of 10. Default 20.
  int packet_ms = kFrameMs;
  /// False on hold: time advances but no packets are sent.
  bool sending = false;
};

class SendPath {
 public:
  /// The caller provides the random initial values (RFC 3550 §5.1), so that tests are reproducible.
  SendPath(std::unique_ptr<Packetizer> audio, PacketProtection& protection, uint32_t ssrc, uint16_t sequence,
           RtpTimestamp timestamp)
      : protection_(&protection), ssrc_(ssrc), sequence_(sequence), timestamp_(timestamp) {
    use(audio);
  }

  /// Switches to another encoder and returns the previous one.
  void use(std::unique_ptr<Packetizer>& audio);
  /// Sets the buffer for packet times other than one frame.
  void wait_in(Packetizer::Room& room) { audio_->wait_in(room); }
  /// Returns true if audio can be added in pieces of any length.
  [[nodiscard]] bool can_wait() const { return audio_->can_wait(); }
  void configure(const SendConfig& config);
  /// Sets the bandwidth of the next audio: no content above half of this rate. rate() may change to it.
  void put_at(SampleRate rate) {
    if (!pending() && audio_->take_at(rate)) rates_ = audio_->encoder().rates();
  }
  /// Sets the expected packet loss in percent.
  void expect_loss(int percent) {
    loss_percent_ = percent;
    audio_->expect_loss(percent);
  }
  void protect_with(PacketProtection& protection) { protection_ = &protection; }
  [[nodiscard]] const SendConfig& config() const { return config_; }
  /// Returns true for packet times that are not a multiple of a frame. They also need a visit between frames.
  [[nodiscard]] bool needs_half_frames() const {
    return config_.sending && config_.packet_ms % kFrameMs != 0;
  }

  /// Hints. expect_audio(): put() will be called soon. expect_packet(): the same, after expect_audio() has
  /// taken effect.
  void expect_audio() const { audio_->expect(); }
  void expect_packet() const { audio_->expect_packet(); }

  /// Adds the next 20 ms at the codec's rate. `audio` must stay valid until take_packet(), which must follow
  /// directly. `content`: the audio has nothing above half of this rate.
  void put(AudioView audio, SampleRate content = kHighestRate);
  /// Advances 20 ms without audio, because a key event is being sent or the peer is on hold.
  void skip_frame() { skip_frames(1); }
  void skip_frames(uint32_t count);
  /// Skips frames of silence. The next audio begins a talkspurt (RFC 3551 §4.1).
  void pause(uint32_t frames) {
    skip_frames(frames);
    talkspurt_begins_ = true;
  }

  /// Returns the next packet as sent on the wire, or an empty span. Call after put() and, with
  /// needs_half_frames(), 10 ms later. Returns at most one packet every 10 ms; it is valid as long as packets
  /// of PacketRoom.
  Bytes take_packet();
  Bytes event_packet(const TelephoneEventSender::Packet& event);
  /// Returns a comfort noise packet with a level in dB below overload (RFC 3389 §3). pause() must follow.
  Bytes comfort_packet(uint8_t level);

  /// Packet received by another leg.
  struct Relayed {
    RtpPacket packet;
    /// Coding of its payload: the configured one, or one that carries_over() to it.
    Coding coding = Coding::pcmu;
    /// Extended sequence number, restarted with each era.
    int64_t sequence = 0;
    uint32_t era = 0;
    RtpTicks duration;
    Nanos arrival{};
  };
  /// Turns `relayed` into the next packet of this stream, valid as long as those of take_packet(). Until
  /// end_relay(), its timestamps replace the time of put() and skip_frames(). `instead`: audio to encode
  /// instead of the payload. Returns an empty span if the packet is obsolete or too long.
  Bytes relay(const Relayed& relayed, std::span<const Sample> instead);
  /// Marks a packet as not relayed, so that it leaves no gap in the sequence.
  void leave_out(int64_t sequence) {
    if (mode_ == Mode::relaying) relay_.leave_out(sequence);
  }
  /// Transcoding: audio decoded on arrival replaces the time of put() and skip_frames() until end_relay().
  /// transcode() precedes the audio of each packet that arrives; `duration` is its length.
  void transcode(Nanos arrival, Nanos duration);
  /// Adds at most 20 ms at rate(). `lost`: the audio replaces a lost packet. It must stay
  /// valid until take_complete(), which must follow until complete() is false.
  void put_arrived(AudioView audio, SampleRate content, bool lost);
  [[nodiscard]] bool complete() const { return audio_->waiting() >= packet_samples(); }
  /// Returns the next packet, or an empty span for a lost one (which leaves a gap in the sequence) and for
  /// one that the codec does not send.
  Bytes take_complete();
  /// Advances the RTP time by a pause of the sender, after completing the packet that waits.
  void pause_arrived(Nanos length);
  /// Duration of the audio that a packet that waits still needs. 0: none waits.
  [[nodiscard]] SampleCount needed() const {
    return pending() ? packet_samples() - audio_->waiting() : SampleCount();
  }
  void end_relay(Nanos now);
  [[nodiscard]] RtpTicks packet_ticks() const { return rates_.clock.in(config_.packet_ms * kMillisecond); }
  [[nodiscard]] SessionRates rates() const { return rates_; }
  [[nodiscard]] SampleRate rate() const { return rates_.sample; }
  [[nodiscard]] RtpClockRate clock() const { return rates_.clock; }
  /// Returns true if a whole frame waits for a later packet.
  [[nodiscard]] bool frame_pending() const {
    return audio_->waiting() >= SampleCount(frame_samples(rates_.sample));
  }
  /// Returns true if any added audio waits for a later packet.
  [[nodiscard]] bool pending() const { return audio_->waiting() > SampleCount(); }
  /// RTP timestamp of the next sample to be added.
  [[nodiscard]] RtpTimestamp timestamp() const { return timestamp_; }
  /// RTP timestamp at `now` of the stream that is being sent, own or relayed.
  [[nodiscard]] RtpTimestamp timestamp_at(Nanos now) const;
  [[nodiscard]] uint64_t packets() const { return packets_; }
  [[nodiscard]] ByteCount payload_bytes() const { return payload_bytes_; }
  [[nodiscard]] uint32_t ssrc() const { return ssrc_; }

 private:
  [[nodiscard]] SampleCount packet_samples() const {
    return SampleCount(static_cast<size_t>(config_.packet_ms) * static_cast<size_t>(rates_.sample.per_ms()));
  }
  /// Header fields of a packet.
  struct Place {
    bool marker = false;
    uint8_t payload_type = 0;
    uint16_t sequence = 0;
    RtpTimestamp timestamp;
  };
  [[nodiscard]] bool goes_on(const Relayed& relayed) const;
  Bytes encode_waiting();
  void begin_relay(const Relayed& first);
  using Room = std::span<uint8_t, PacketRoom::kBytes>;
  [[nodiscard]] static std::span<uint8_t> payload_in(Room room) {
    return room.subspan(kRtpHeaderBytes, PacketRoom::kLongestPayload);
  }
  [[nodiscard]] Bytes finish(Room room, const Place& place, ByteCount payload);
  [[nodiscard]] Bytes finish(Room room, bool marker, uint8_t payload_type, RtpTimestamp timestamp,
                             ByteCount payload);

  std::unique_ptr<Packetizer> audio_;
  SessionRates rates_{RtpClockRate(8000), SampleRate(8000)};
  RtpTicks frame_;
  PacketProtection* protection_;
  SendConfig config_;
  uint32_t ssrc_;
  uint16_t sequence_;
  bool talkspurt_begins_ = true;
  RtpTimestamp timestamp_;
  int steps_until_due_ = 0;  // 10 ms steps until a packet is due
  uint64_t packets_ = 0;
  ByteCount payload_bytes_;
  int loss_percent_ = 0;
  // State of relaying and transcoding.
  enum class Mode : uint8_t { own, relaying, transcoding };
  Mode mode_ = Mode::own;
  /// Samples at the end of the waiting audio that replace lost packets.
  SampleCount lost_;
  RelayMap relay_;
  Relayed newest_;
};

}  // namespace carillon
