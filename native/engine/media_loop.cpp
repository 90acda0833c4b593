#include "engine/media_loop.hpp"

#include <algorithm>

namespace carillon {

MediaLoop::MediaLoop(RecordRing& events, bool keep_packets)
    : keep_packets_(keep_packets), events_(events), core_(*this, events_) {}

void MediaLoop::release_leg(LegHandle handle, Departed& out) {
  out.leg = core_.release_leg(handle);
  out.sockets = sockets_.release(handle);
  out.there.store(true, std::memory_order_release);
}

void MediaLoop::receive_leg(LegHandle handle, Departed& departed) {
  if (!departed.leg.leg) {
    core_.missed();
    return;
  }
  Leg& leg = *departed.leg.leg;
  leg.stand_at(handle);
  for (const auto& tap : leg.taps()) {
    if (auto* const recording = dynamic_cast<RecordingTap*>(tap.get())) recording->conclude_to(concluding_);
  }
  sockets_.receive(handle, departed.sockets);
  core_.receive_leg(departed.leg, now_);
}

void MediaLoop::run_command(CommandQueue<MediaLoop>::Command& command, Nanos now) {
  now_ = now;
  command.run(*this);
}

bool MediaLoop::run_commands(Nanos now) {
  now_ = now;
  const bool any = commands_.run_all(*this);
  return key_commands_.run_all(*this) || any;
}

void MediaLoop::drain_sockets(Nanos now, Nanos wall_offset) {
  now_ = now;
  sockets_.drain(core_, now, wall_offset);
}

void MediaLoop::drain_prompt(Nanos now, Nanos wall_offset) {
  now_ = now;
  sockets_.drain_prompt(core_, now, wall_offset);
}

void MediaLoop::catch_up(int64_t ticks, Nanos now, Nanos wall_offset) {
  now_ = now;
  core_.skip_ticks(ticks);
  sockets_.catch_up(core_, now, wall_offset, ticks * kTick);
}

void MediaLoop::tick(Nanos now) {
  now_ = now;
  core_.tick(now);
  sockets_.flush();
  if (--until_report_ > 0) return;
  until_report_ = kFrameMs;
  concluding_.report(events_);
}

int64_t MediaLoop::idle_ticks(int64_t limit) const {
  return std::min(core_.idle_ticks(limit), sockets_.idle_ticks(limit));
}

bool MediaLoop::at_rest() const {
  return core_.at_rest() && sockets_.at_rest() && concluding_.empty() && !commands_wait();
}

void MediaLoop::pass(int64_t ticks, Nanos now, Nanos wall_offset) {
  core_.pass(ticks);
  sockets_.pass(ticks, core_, now, wall_offset);
}

void MediaLoop::keep(LegHandle leg, bool rtcp, const Address& to, Bytes packet) {
  const Leg* const sender = core_.peek(leg);
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

void MediaLoop::prompt(LegHandle leg, bool wanted) {
  if (!keep_packets_) sockets_.prompt(leg, wanted);
}

}  // namespace carillon
