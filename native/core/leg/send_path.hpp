// From 20 ms frames to the packets of one leg: re-framing to the peer's packet time, encoding, RTP header.
#pragma once

#include <array>
#include <optional>

#include "core/base/frame.hpp"
#include "core/base/prefetch.hpp"
#include "core/codec/codec.hpp"
#include "core/rtp/protection.hpp"
#include "core/rtp/telephone_event.hpp"

namespace carillon {

struct SendConfig {
  Coding coding = Coding::pcmu;
  uint8_t payload_type = 0;
  std::optional<uint8_t> telephone_event;
  /// What the peer asked for, 10-60 ms in steps of 10.
  int packet_ms = kFrameMs;
  /// False while the peer must not hear us (hold): time goes on, packets do not.
  bool sending = false;
};

class SendPath {
 public:
  static constexpr int kMaxPacketMs = 60;
  static constexpr size_t kMaxPacketBytes = kRtpHeaderBytes + size_t{kMaxPacketMs} * kSamplesPerMs;

  /// The start values are random (RFC 3550 §5.1); they are given so that a test can repeat them.
  SendPath(AudioCodec& codec, PacketProtection& protection, uint32_t ssrc, uint16_t sequence,
           RtpTimestamp timestamp)
      : codec_(codec),
        frame_(codec.rates().ticks(SampleCount(kFrameSamples))),
        protection_(&protection),
        ssrc_(ssrc),
        sequence_(sequence),
        timestamp_(timestamp) {}

  void configure(const SendConfig& config);
  void protect_with(PacketProtection& protection) { protection_ = &protection; }
  [[nodiscard]] const SendConfig& config() const { return config_; }
  /// Packet times that are no multiple of a frame need a visit between frames too.
  [[nodiscard]] bool needs_half_frames() const {
    return config_.sending && config_.packet_ms % kFrameMs != 0;
  }

  /// Hint: put() will be called soon.
  void expect_packet() const {
    prefetch(this, sizeof(*this) - sizeof(packet_) + kRtpHeaderBytes + kFrameSamples);
  }

  /// The audio of the next 20 ms. Then call take_packet.
  void put(const Frame& audio);
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
  /// nothing due. The packet is as it goes on the wire and stands until the next call of put, take_packet or
  /// event_packet.
  Bytes take_packet();
  Bytes event_packet(const TelephoneEventSender::Packet& event);

  /// A whole frame of what was put has not been taken yet: it leaves with a later one.
  [[nodiscard]] bool frame_pending() const {
    return codec_.duration(config_.coding, pending_payload()) >= frame_;
  }
  /// Something of what was put has not been taken yet.
  [[nodiscard]] bool pending() const { return pending_ > ByteCount(); }
  /// Timestamp of the next sample to be put.
  [[nodiscard]] RtpTimestamp timestamp() const { return timestamp_; }
  [[nodiscard]] uint64_t packets() const { return packets_; }
  [[nodiscard]] ByteCount payload_bytes() const { return payload_bytes_; }
  [[nodiscard]] uint32_t ssrc() const { return ssrc_; }

 private:
  [[nodiscard]] Bytes finish(bool marker, uint8_t payload_type, RtpTimestamp timestamp, ByteCount payload);
  [[nodiscard]] std::span<uint8_t> payload() { return std::span(packet_).subspan(kRtpHeaderBytes); }
  [[nodiscard]] Bytes pending_payload() const {
    const size_t from = sent_ == ByteCount() ? 0 : sent_.count() + PacketProtection::kMaxTail;
    return Bytes(packet_).subspan(kRtpHeaderBytes + from, pending_.count());
  }
  void drop_sent();
  void make_room_for_tail();

  AudioCodec& codec_;
  RtpTicks frame_;
  PacketProtection* protection_;
  SendConfig config_;
  uint32_t ssrc_;
  uint16_t sequence_;
  bool talkspurt_begins_ = true;
  RtpTimestamp timestamp_;
  int steps_until_due_ = 0;  // of 10 ms
  ByteCount sent_;           // at the front of the payload, of the packet that take_packet gave out
  ByteCount pending_;        // behind them and the protection's tail: encoded, not sent yet
  uint64_t packets_ = 0;
  ByteCount payload_bytes_;
  /// Audio is encoded where the packet's payload will be.
  std::array<uint8_t, kMaxPacketBytes + PacketProtection::kMaxTail + 2 * kFrameSamples> packet_{};
};

}  // namespace carillon
