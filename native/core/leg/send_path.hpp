// From 20 ms frames to the packets of one leg: re-framing to the peer's packet time, encoding, RTP header.
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
  /// Of the events; not always the audio's.
  RtpClockRate event_clock{8000};
  /// The peer understands comfort noise (RFC 3389), under its static payload type.
  bool comfort_noise = false;
  /// What the peer asked for, 10-60 ms in steps of 10.
  int packet_ms = kFrameMs;
  /// False while the peer must not hear us (hold): time goes on, packets do not.
  bool sending = false;
};

class SendPath {
 public:
  /// The start values are random (RFC 3550 §5.1); they are given so that a test can repeat them.
  SendPath(std::unique_ptr<Packetizer> audio, PacketProtection& protection, uint32_t ssrc, uint16_t sequence,
           RtpTimestamp timestamp)
      : protection_(&protection), ssrc_(ssrc), sequence_(sequence), timestamp_(timestamp) {
    use(audio);
  }

  /// Encodes with another codec from now on and gives the one before back.
  void use(std::unique_ptr<Packetizer>& audio);
  /// For packet times other than a frame's.
  void wait_in(Packetizer::Room& room) { audio_->wait_in(room); }
  void configure(const SendConfig& config);
  /// Nothing above half of this rate is to be put: rate() may become it.
  void put_at(SampleRate rate) {
    if (!pending() && audio_->take_at(rate)) rates_ = audio_->encoder().rates();
  }
  /// So many percent of the packets are reckoned to be lost on their way.
  void expect_loss(int percent) {
    loss_percent_ = percent;
    audio_->expect_loss(percent);
  }
  void protect_with(PacketProtection& protection) { protection_ = &protection; }
  [[nodiscard]] const SendConfig& config() const { return config_; }
  /// Packet times that are no multiple of a frame need a visit between frames too.
  [[nodiscard]] bool needs_half_frames() const {
    return config_.sending && config_.packet_ms % kFrameMs != 0;
  }

  /// Hints: put() will be called soon; and, once what this asked for has come, still.
  void expect_audio() const { audio_->expect(); }
  void expect_packet() const { audio_->expect_packet(); }

  /// The audio of the next 20 ms at the codec's rate, which stands until take_packet: that follows at once.
  /// `content`: it has nothing above half of this rate.
  void put(AudioView audio, SampleRate content = kHighestRate);
  /// The next 20 ms carry no audio of ours: a keypad event is on its way, or the peer is not to hear us.
  void skip_frame() { skip_frames(1); }
  void skip_frames(uint32_t count);
  /// So many frames are left out because nobody says anything. What follows begins a talkspurt (RFC 3551
  /// §4.1).
  void pause(uint32_t frames) {
    skip_frames(frames);
    talkspurt_begins_ = true;
  }

  /// Call after put() and, with needs_half_frames(), 10 ms later: at most one packet each 10 ms. Empty:
  /// nothing due. The packet is as it goes on the wire and stands as PacketRoom's do.
  Bytes take_packet();
  Bytes event_packet(const TelephoneEventSender::Packet& event);
  /// Silence begins, or goes on, and this is how it sounds: a level of so many dB below overload (RFC 3389
  /// §3). pause() follows.
  Bytes comfort_packet(uint8_t level);

  /// A packet of somebody else's.
  struct Relayed {
    RtpPacket packet;
    /// Of its payload: this one's, or one that carries_over() to it.
    Coding coding = Coding::pcmu;
    /// Extended; counted anew with each era.
    int64_t sequence = 0;
    uint32_t era = 0;
    RtpTicks duration;
    Nanos arrival{};
  };
  /// It as a packet of ours that follows the last one, which stands as take_packet's does. From the first on,
  /// and until end_relay(), time is theirs and not that of put() and skip_frames(). `instead`: the audio to
  /// be encoded in the place of its payload. Empty: it belongs to what went before, or is too long.
  Bytes relay(const Relayed& relayed, std::span<const Sample> instead);
  /// A packet of theirs is not relayed, and is not to be missed.
  void leave_out(int64_t sequence) {
    if (relaying_) relay_.leave_out(sequence);
  }
  void end_relay(Nanos now);
  [[nodiscard]] RtpTicks packet_ticks() const { return rates_.clock.in(config_.packet_ms * kMillisecond); }
  [[nodiscard]] SessionRates rates() const { return rates_; }
  [[nodiscard]] SampleRate rate() const { return rates_.sample; }
  [[nodiscard]] RtpClockRate clock() const { return rates_.clock; }
  /// A whole frame of what was put has not been taken yet: it leaves with a later one.
  [[nodiscard]] bool frame_pending() const {
    return audio_->waiting() >= SampleCount(frame_samples(rates_.sample));
  }
  /// Something of what was put has not been taken yet.
  [[nodiscard]] bool pending() const { return audio_->waiting() > SampleCount(); }
  /// Timestamp of the next sample to be put.
  [[nodiscard]] RtpTimestamp timestamp() const { return timestamp_; }
  /// Of what is sent now, be it ours or relayed.
  [[nodiscard]] RtpTimestamp timestamp_at(Nanos now) const;
  [[nodiscard]] uint64_t packets() const { return packets_; }
  [[nodiscard]] ByteCount payload_bytes() const { return payload_bytes_; }
  [[nodiscard]] uint32_t ssrc() const { return ssrc_; }

 private:
  /// A packet's.
  struct Place {
    bool marker = false;
    uint8_t payload_type = 0;
    uint16_t sequence = 0;
    RtpTimestamp timestamp;
  };
  [[nodiscard]] bool goes_on(const Relayed& relayed) const;
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
  int steps_until_due_ = 0;  // of 10 ms
  uint64_t packets_ = 0;
  ByteCount payload_bytes_;
  int loss_percent_ = 0;
  // Of packets that are relayed.
  bool relaying_ = false;
  RelayMap relay_;
  Relayed newest_;
};

}  // namespace carillon
