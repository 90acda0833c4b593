#include "core/rtp/rtcp.hpp"

#include <algorithm>
#include <utility>

#include "core/rtp/packet_room.hpp"

namespace carillon {

namespace {

constexpr uint8_t kRtcpVersionBits = 0x80;
constexpr uint8_t kSenderReport = 200;
constexpr uint8_t kReceiverReport = 201;
constexpr uint8_t kSourceDescription = 202;
constexpr uint8_t kGoodbye = 203;
constexpr uint8_t kCname = 1;
constexpr size_t kHeaderBytes = 8;  // including the sender's SSRC
constexpr size_t kSenderInfoBytes = 20;
constexpr size_t kBlockBytes = 24;
constexpr int32_t kMaxCumulativeLost = 0x7fffff;

ReportBlock read_block(Bytes bytes) {
  ReportBlock block;
  block.ssrc = read_u32(bytes, 0);
  block.fraction_lost = bytes[4];
  // Signed 24-bit value: duplicates can make it negative.
  block.cumulative_lost = static_cast<int32_t>(read_u32(bytes, 4) << 8) >> 8;
  block.highest_sequence = read_u32(bytes, 8);
  block.jitter = read_u32(bytes, 12);
  block.last_sr = read_u32(bytes, 16);
  block.delay_since_last_sr = read_u32(bytes, 20);
  return block;
}

void write_block(const ReportBlock& block, std::span<uint8_t> out) {
  write_u32(out, 0, block.ssrc);
  write_u32(
      out, 4,
      (uint32_t{block.fraction_lost} << 24) | (static_cast<uint32_t>(block.cumulative_lost) & 0xffffff));
  write_u32(out, 8, block.highest_sequence);
  write_u32(out, 12, block.jitter);
  write_u32(out, 16, block.last_sr);
  write_u32(out, 20, block.delay_since_last_sr);
}

/// `bytes`: length of the whole packet, a multiple of four.
void write_header(std::span<uint8_t> out, size_t at, uint8_t count, uint8_t type, size_t bytes) {
  out[at] = static_cast<uint8_t>(kRtcpVersionBits | count);
  out[at + 1] = type;
  write_u16(out, at + 2, static_cast<uint16_t>(bytes / 4 - 1));
}

/// Reads one SR or RR of a compound packet.
bool read_report(Bytes packet, uint8_t count, bool sender, uint32_t our_ssrc, RtcpContent& content) {
  const size_t blocks_at = kHeaderBytes + (sender ? kSenderInfoBytes : 0);
  if (packet.size() < blocks_at + count * kBlockBytes) return false;
  if (sender) {
    content.sender_report = (read_u32(packet, 8) << 16) | (read_u32(packet, 12) >> 16);
    content.sender = read_u32(packet, 4);
  }
  for (size_t i = 0; i < count; ++i) {
    const ReportBlock block = read_block(packet.subspan(blocks_at + i * kBlockBytes, kBlockBytes));
    if (block.ssrc == our_ssrc) content.about_us = block;
  }
  return true;
}

}  // namespace

uint64_t ntp_of(Nanos now) {
  const auto seconds = static_cast<uint64_t>(now / kSecond);
  const auto rest = static_cast<uint64_t>((now % kSecond).count());
  return (seconds << 32) | ((rest << 32) / static_cast<uint64_t>(kSecond.count()));
}

std::optional<uint32_t> sender_of_rtcp(Bytes datagram) {
  if (datagram.size() < kHeaderBytes) return std::nullopt;
  return read_u32(datagram, 4);
}

std::optional<RtcpContent> parse_rtcp(Bytes datagram, uint32_t our_ssrc) {
  RtcpContent content;
  bool first = true;
  while (!datagram.empty()) {
    if (datagram.size() < 4 || (datagram[0] & 0xc0) != kRtcpVersionBits) return std::nullopt;
    const uint8_t type = datagram[1];
    const size_t bytes = size_t{4} * (read_u16(datagram, 2) + size_t{1});
    if (bytes > datagram.size()) return std::nullopt;
    const bool sender = type == kSenderReport;
    // Every compound packet begins with a report (§6.1).
    if (first && !sender && type != kReceiverReport) return std::nullopt;
    first = false;
    if (sender || type == kReceiverReport) {
      const uint8_t count = datagram[0] & 0x1f;
      if (!read_report(datagram.first(bytes), count, sender, our_ssrc, content)) return std::nullopt;
    }
    if (type == kExtendedReport &&
        !read_extended_report(datagram.first(bytes), our_ssrc, content.metrics_about_us)) {
      return std::nullopt;
    }
    datagram = datagram.subspan(bytes);
  }
  if (first) return std::nullopt;
  return content;
}

bool RtcpSession::due(Nanos now) {
  if (next_ >= Nanos{} && now < next_) return false;
  const bool started = next_ >= Nanos{};
  // A linear congruential generator is random enough to desynchronize the legs' reports.
  random_ = random_ * 1664525U + 1013904223U;
  next_ = now + kInterval / 2 + static_cast<int64_t>(random_ >> 16) * (kInterval / 65536);
  return started;
}

ReportBlock RtcpSession::block_of(const Facts& facts, Nanos now) {
  const ReceptionSummary& reception = facts.reception;
  ReportBlock block;
  block.ssrc = *facts.peer_ssrc;
  const uint64_t expected = reception.expected - expected_before_;
  const uint64_t received = reception.received - received_before_;
  expected_before_ = reception.expected;
  received_before_ = reception.received;
  if (expected > received) {
    block.fraction_lost =
        static_cast<uint8_t>(std::min<uint64_t>(255, 256 * (expected - received) / expected));
  }
  block.cumulative_lost = static_cast<int32_t>(std::min<uint64_t>(reception.source_lost, kMaxCumulativeLost));
  block.highest_sequence = reception.highest_sequence;
  block.jitter = static_cast<uint32_t>(reception.jitter_units);
  // Another source's clock says nothing about the delay to this one.
  if (last_sr_ && last_sr_sender_ == block.ssrc && now - last_sr_arrival_ < kOldestAnswered) {
    block.last_sr = *last_sr_;
    block.delay_since_last_sr = static_cast<uint32_t>((now - last_sr_arrival_) * 65536 / kSecond);
  }
  return block;
}

Bytes RtcpSession::report(const Facts& facts, Nanos now) {
  const std::span<uint8_t> out = PacketRoom::next();
  const bool sender = facts.sent.has_value();
  const uint8_t blocks = facts.peer_ssrc ? 1 : 0;
  size_t at = kHeaderBytes;
  write_u32(out, 4, ssrc_);
  if (sender) {
    write_u32(out, at, static_cast<uint32_t>(facts.sent->ntp >> 32));
    write_u32(out, at + 4, static_cast<uint32_t>(facts.sent->ntp));
    write_u32(out, at + 8, facts.sent->rtp_timestamp);
    write_u32(out, at + 12, facts.sent->packets);
    write_u32(out, at + 16, facts.sent->octets);
    at += kSenderInfoBytes;
  }
  if (blocks > 0) {
    write_block(block_of(facts, now), out.subspan(at, kBlockBytes));
    at += kBlockBytes;
  }
  write_header(out, 0, blocks, sender ? kSenderReport : kReceiverReport, at);

  // SDES with one CNAME. RFC 7022 requires it to be short-lived and without private data: the SSRC in hex.
  constexpr size_t kNameBytes = 8;
  constexpr size_t kDescriptionBytes = 4 + 4 + 2 + kNameBytes + 2;  // terminated and padded with zeros
  write_header(out, at, 1, kSourceDescription, kDescriptionBytes);
  write_u32(out, at + 4, ssrc_);
  out[at + 8] = kCname;
  out[at + 9] = kNameBytes;
  for (size_t i = 0; i < kNameBytes; ++i) {
    out[at + 10 + i] = static_cast<uint8_t>("0123456789abcdef"[(ssrc_ >> (28 - 4 * i)) & 0xf]);
  }
  out[at + 10 + kNameBytes] = out[at + 11 + kNameBytes] = 0;
  at += kDescriptionBytes;

  if (facts.metrics) {
    write_voip_metrics(ssrc_, *facts.metrics, out.subspan(at, kVoipMetricsBytes));
    at += kVoipMetricsBytes;
  }
  if (facts.bye) {
    write_header(out, at, 1, kGoodbye, 8);
    write_u32(out, at + 4, ssrc_);
    at += 8;
  }
  const size_t size = protection_->protect_rtcp(out, at);
  if (size == 0) PacketRoom::give_back();
  return Bytes(out).first(size);
}

void RtcpSession::watch(const ReceptionSummary& reception, Nanos now) {
  const uint64_t expected_before = std::exchange(expected_seen_, reception.expected);
  const uint64_t lost_before = std::exchange(lost_seen_, reception.lost);
  // Late packets can reduce the loss count.
  if (about_us_ || reception.expected <= expected_before || reception.lost <= lost_before) return;
  const uint64_t expected = reception.expected - expected_before;
  const uint64_t lost = reception.lost - lost_before;
  note_loss(static_cast<uint8_t>(std::min<uint64_t>(255, 256 * lost / expected)), now);
}

void RtcpSession::note_loss(uint8_t fraction, Nanos now) {
  if (fraction == 0) return;
  fraction_lost_ = fraction;
  loss_told_ = now;
}

int RtcpSession::loss_percent(Nanos now) const {
  if (loss_told_ == kNever || now - loss_told_ > kLossRemembered) return 0;
  return (100 * fraction_lost_ + 255) / 256;
}

bool RtcpSession::receive(Bytes datagram, Nanos arrival) {
  const std::optional<RtcpContent> content = parse_rtcp(datagram, ssrc_);
  if (!content) return false;
  if (content->sender_report) {
    last_sr_ = content->sender_report;
    last_sr_sender_ = content->sender;
    last_sr_arrival_ = arrival;
  }
  if (content->about_us) {
    about_us_ = content->about_us;
    note_loss(content->about_us->fraction_lost, arrival);
  }
  if (content->metrics_about_us) metrics_about_us_ = content->metrics_about_us;
  if (!content->about_us || content->about_us->last_sr == 0) return true;
  // A - LSR - DLSR in 1/65536 s (§6.4.1). Values from a faulty peer can be nonsense and are rejected.
  const auto now = static_cast<uint32_t>(ntp_of(arrival) >> 16);
  const uint32_t round_trip = now - content->about_us->last_sr - content->about_us->delay_since_last_sr;
  constexpr uint32_t kLongestBelieved = 10 * 65536;
  if (round_trip < kLongestBelieved) round_trip_ms_ = round_trip * 1000.0 / 65536.0;
  return true;
}

}  // namespace carillon
