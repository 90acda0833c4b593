#include "engine/media_loop.hpp"

namespace carillon {

MediaLoop::MediaLoop(bool keep_packets) : keep_packets_(keep_packets), core_(*this, events_) {}

void MediaLoop::run_command(CommandQueue<MediaLoop>::Command& command, Nanos now) {
  now_ = now;
  command.run(*this);
}

void MediaLoop::run_commands(Nanos now) {
  now_ = now;
  commands_.run_all(*this);
}

void MediaLoop::drain_sockets(Nanos now, Nanos wall_offset) {
  now_ = now;
  sockets_.drain(core_, now, wall_offset);
}

void MediaLoop::tick(Nanos now) {
  now_ = now;
  core_.tick(now);
  if (--until_report_ > 0) return;
  until_report_ = kFrameMs;
  concluding_.report(events_);
}

void MediaLoop::keep(LegHandle leg, bool rtcp, const Address& to, Bytes packet) {
  const Leg* const sender = core_.leg(leg);
  if (sender == nullptr || sent_.size() >= kMaxKeptPackets) return;
  const auto port = static_cast<uint16_t>(sender->local_port() + (rtcp ? 1 : 0));
  sent_.push_back({port, to, now_, {packet.begin(), packet.end()}});
}

void MediaLoop::send(LegHandle leg, const Address& to, Bytes packet) {
  if (keep_packets_) {
    keep(leg, false, to, packet);
  } else {
    sockets_.send(leg, to, packet);
  }
}

void MediaLoop::send_rtcp(LegHandle leg, const Address& to, Bytes packet) {
  if (keep_packets_) {
    keep(leg, true, to, packet);
  } else {
    sockets_.send_rtcp(leg, to, packet);
  }
}

void MediaLoop::latched(LegHandle leg, const std::optional<Address>& peer) {
  if (!keep_packets_) sockets_.connect(leg, peer);
}

}  // namespace carillon
