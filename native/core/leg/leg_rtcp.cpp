// RTCP of a leg: validates received reports and sends its own.
#include "core/leg/leg.hpp"

namespace carillon {

/// Returns the port at which the peer receives RTCP according to its SDP. It does not apply to a peer behind
/// a NAT.
uint16_t Leg::expected_rtcp_port() const {
  const SourceLearner& source = receive_.source();
  if (rtcp_mux_) return source.target().port;
  if (described_rtcp_port_ && source.target() == source.signalled()) return *described_rtcp_port_;
  return static_cast<uint16_t>(source.target().port + 1);
}

Received Leg::receive_rtcp(std::span<uint8_t> datagram, const Address& source, Nanos arrival) {
  // RTCP must come from the RTP host. Other ports than the expected one must send the SSRC of the received
  // stream.
  const Address& peer = receive_.source().target();
  if (!same_host(source, peer)) return Received::unknown_source;
  if (protection_->awaits_keys()) return Received::ignored;
  const Bytes packet = protection_->unprotect_rtcp(datagram);
  const bool known_port = source.port == expected_rtcp_port() || source.port == rtcp_port_;
  if (!known_port && sender_of_rtcp(packet) != receive_.ssrc()) return Received::unknown_source;
  if (!rtcp_.receive(packet, arrival)) return Received::malformed;
  send_.expect_loss(rtcp_.loss_percent(arrival));
  rtcp_port_ = source.port;
  return Received::ignored;
}

void Leg::send_report(Nanos now, bool bye, PacketSink& sink) {
  Address to = receive_.source().target();
  const bool anything = send_.packets() > 0 || receive_.ssrc().has_value();
  if (!to.sendable() || !has_consent_ || !anything) return;
  if (!rtcp_mux_) {
    if (rtcp_learned_ && !rtcp_port_) return;
    to.port = rtcp_port_.value_or(expected_rtcp_port());
  }
  RtcpSession::Facts facts;
  if (send_.packets() > packets_at_report_) {
    facts.sent = {ntp_of(now), send_.timestamp_at(now).value(), static_cast<uint32_t>(send_.packets()),
                  static_cast<uint32_t>(send_.payload_bytes().count())};
  }
  packets_at_report_ = send_.packets();
  facts.peer_ssrc = receive_.ssrc();
  facts.reception = receive_.reception();
  if (voip_metrics_ && facts.peer_ssrc) facts.metrics = voip_metrics();
  facts.bye = bye;
  const Bytes report = rtcp_.report(facts, now);
  if (report.empty()) return;
  if (rtcp_mux_) {
    sink.send(config_.handle, to, report);
  } else {
    sink.send_rtcp(config_.handle, to, report);
    PacketRoom::give_back();
  }
}

}  // namespace carillon
