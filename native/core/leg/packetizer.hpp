// From frames to the payloads of one coding: replaced as a whole when another is negotiated.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/prefetch.hpp"
#include "core/codec/codec.hpp"
#include "core/rtp/packet.hpp"
#include "core/rtp/protection.hpp"

namespace carillon {

/// Collects audio until a packet is full. Owns the memory in which packets are written, payload behind
/// header.
class Packetizer {
 public:
  static constexpr int kMaxPacketMs = 60;
  /// 20 ms at 64 kbit/s.
  static constexpr size_t kExpectedPacket = kRtpHeaderBytes + 160;

  explicit Packetizer(std::unique_ptr<AudioEncoder> encoder)
      : encoder_(std::move(encoder)),
        waiting_(static_cast<size_t>(encoder_->rates().sample.per_ms()) * (kMaxPacketMs + kFrameMs)),
        packet_(kRtpHeaderBytes + encoder_->max_payload() + PacketProtection::kMaxTail) {}

  [[nodiscard]] const AudioEncoder& encoder() const { return *encoder_; }
  /// Room for header, the longest payload, and the protection's tail.
  [[nodiscard]] std::span<uint8_t> packet() { return packet_; }

  /// `audio` stands until keep() or take().
  void put(std::span<const Sample> audio) {
    keep();
    fresh_ = audio;
  }
  /// Nothing of what is put from now on is above half of this rate.
  void carries(SampleRate content) { encoder_->carries(content); }
  /// What was put is not going to stand any longer.
  void keep() {
    if (fresh_.empty()) return;
    if (count_ + fresh_.size() > waiting_.size()) count_ = 0;
    std::ranges::copy(fresh_, waiting_.begin() + static_cast<std::ptrdiff_t>(count_));
    count_ += fresh_.size();
    fresh_ = {};
  }
  /// Encodes the oldest so many, which must be there, behind the header.
  ByteCount take(Coding coding, SampleCount samples) {
    const auto out = std::span(packet_).subspan(kRtpHeaderBytes);
    // Mostly a packet is a frame: then it is encoded from where it stands.
    if (count_ == 0 && fresh_.size() == samples.count()) {
      return encoder_->encode(coding, std::exchange(fresh_, {}), out);
    }
    keep();
    const auto audio = std::span<const Sample>(waiting_).first(samples.count());
    const ByteCount written = encoder_->encode(coding, audio, out);
    std::copy(waiting_.begin() + static_cast<std::ptrdiff_t>(samples.count()),
              waiting_.begin() + static_cast<std::ptrdiff_t>(count_), waiting_.begin());
    count_ -= samples.count();
    return written;
  }
  /// Encodes what was not put, behind the header.
  ByteCount encode(Coding coding, std::span<const Sample> audio) {
    return encoder_->encode(coding, audio, std::span(packet_).subspan(kRtpHeaderBytes));
  }
  void drop() {
    count_ = 0;
    fresh_ = {};
  }
  [[nodiscard]] SampleCount waiting() const { return SampleCount(count_ + fresh_.size()); }

  /// Hints: put() will be called soon; and, once what this asked for has come, still.
  void expect() const { prefetch(this, sizeof(*this)); }
  void expect_packet() const {
    encoder_->expect();
    prefetch(packet_.data(), std::min(packet_.size(), kExpectedPacket));
  }

 private:
  std::unique_ptr<AudioEncoder> encoder_;
  std::vector<Sample> waiting_;
  size_t count_ = 0;
  std::span<const Sample> fresh_;
  std::vector<uint8_t> packet_;
};

}  // namespace carillon
