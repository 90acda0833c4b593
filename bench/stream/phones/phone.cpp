#include "phone.hpp"

#include <algorithm>

namespace phones {

namespace {

constexpr size_t kRtpHeader = 12;
constexpr uint8_t kRtpVersion2 = 0x80;
constexpr uint8_t kPcmu = 0;
constexpr uint8_t kPcmuSilence = 0xff;
/// Segments of mu-law (ITU-T G.711) from here on hold magnitudes above 1,980.
constexpr int kLoudSegment = 4;

void write16(uint8_t* to, uint32_t value) {
  to[0] = static_cast<uint8_t>(value >> 8);
  to[1] = static_cast<uint8_t>(value);
}

void write32(uint8_t* to, uint32_t value) {
  write16(to, value >> 16);
  write16(to + 2, value);
}

uint32_t read16(const uint8_t* from) { return uint32_t{from[0]} << 8 | from[1]; }

bool is_loud(std::span<const uint8_t> payload) {
  return std::any_of(payload.begin(), payload.end(),
                     [](uint8_t code) { return ((~code >> 4) & 7) >= kLoudSegment; });
}

}  // namespace

Phone::Phone(uint32_t ssrc, bool watched) : watched_(watched) {
  packet_.fill(kPcmuSilence);
  packet_[0] = kRtpVersion2;
  write32(&packet_[8], ssrc);
}

void Phone::send_frame() {
  packet_[1] = static_cast<uint8_t>((frame_ == 0 ? 0x80 : 0) | kPcmu);
  write16(&packet_[2], frame_);
  write32(&packet_[4], frame_ * kFrameSamples);
  if (watched_) {
    const auto code = static_cast<uint8_t>(0x80 + 1 + frame_ % kCodes);
    std::fill(packet_.begin() + kRtpHeader, packet_.end(), code);
    if (noting_) sent_.push_back(monotonic_now());
  }
  socket_.send(peer_port_, packet_);
  ++frame_;
}

void Phone::listen() {
  socket_.receive([this](std::span<const uint8_t> packet, Nanos arrived) {
    if (noting_) note(packet, arrived);
  });
}

void Phone::note(std::span<const uint8_t> packet, Nanos arrived) {
  if (packet.size() <= kRtpHeader || packet[0] != kRtpVersion2 || (packet[1] & 0x7f) != kPcmu) return;
  const auto payload = packet.subspan(kRtpHeader);
  const uint32_t timestamp = read16(&packet[4]) << 16 | read16(&packet[6]);
  arrivals_.push_back(
      {arrived, timestamp, static_cast<uint16_t>(read16(&packet[2])), watched_ && is_loud(payload)});
}

void Phone::begin_window() {
  listen();
  sent_.clear();
  arrivals_.clear();
  first_sent_ = frame_;
  noting_ = true;
}

void Phone::add_lateness(std::vector<Nanos>& out) const {
  if (arrivals_.empty()) return;
  std::vector<Nanos> offsets;
  for (const Arrival& arrival : arrivals_) {
    const auto since_first = static_cast<int32_t>(arrival.timestamp - arrivals_.front().timestamp);
    offsets.push_back(arrival.at - Nanos{since_first} * kFrame / kFrameSamples);
  }
  const Nanos grid = *std::min_element(offsets.begin(), offsets.end());
  for (const Nanos offset : offsets) out.push_back(offset - grid);
}

size_t Phone::lost() const {
  if (arrivals_.empty()) return 0;
  const auto span = static_cast<uint16_t>(arrivals_.back().sequence - arrivals_.front().sequence);
  return size_t{span} + 1 - arrivals_.size();
}

}  // namespace phones
