#include "engine/event_ring.hpp"

#include <cstring>

#include "engine/socket_address.hpp"

namespace carillon {

namespace {
template <typename T>
Bytes bytes_of(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(T)};
}
}  // namespace

void EventRing::put(const Head& head, Bytes payload, size_t reserve) {
  ring_.put({static_cast<uint8_t>(head.type), head.a, head.b, head.handle}, payload, reserve);
  fresh_ = true;
}

void EventRing::put_u32(const Head& head, uint32_t value) { put(head, bytes_of(value)); }

void EventRing::media(StreamHandle stream, Bytes message) {
  put({EventType::media, 0, 0, stream.value()}, message, kReservedForControl);
}
void EventRing::played(StreamHandle stream, const ReachedCheckpoint& reached) {
  put({EventType::played, 0, 0, stream.value()}, bytes_of(reached));
}
void EventRing::speech(StreamHandle stream, bool started, uint32_t confidence, Nanos at) {
  const double at_ms = in_milliseconds(at);
  put({EventType::speech, static_cast<uint8_t>(started), static_cast<uint16_t>(confidence), stream.value()},
      bytes_of(at_ms));
}
void EventRing::interrupted(StreamHandle stream, const PlayPosition& at, std::optional<uint32_t> checkpoint) {
  const ReachedCheckpoint dropped{checkpoint.value_or(0), at};
  put({EventType::interrupted, static_cast<uint8_t>(checkpoint.has_value()), 0, stream.value()},
      bytes_of(dropped));
}
void EventRing::turn(StreamHandle stream, Nanos latency) {
  put_u32({EventType::turn, 0, 0, stream.value()}, static_cast<uint32_t>(latency / kMillisecond));
}
void EventRing::dtmf(LegHandle leg, char digit, bool as_tone, Nanos at) {
  const double at_ms = in_milliseconds(at);
  put({EventType::dtmf, static_cast<uint8_t>(digit), static_cast<uint16_t>(as_tone ? 1 : 0), leg.value()},
      bytes_of(at_ms));
}
void EventRing::media_timeout(LegHandle leg, Nanos at) {
  const double at_ms = in_milliseconds(at);
  put({EventType::media_timeout, 0, 0, leg.value()}, bytes_of(at_ms));
}
void EventRing::source_changed(LegHandle leg, SourceChange change, const Address& peer) {
  const IpText ip = ip_text(peer);
  const Bytes text(reinterpret_cast<const uint8_t*>(ip.data()), std::strlen(ip.data()));
  put({EventType::source_changed, static_cast<uint8_t>(change), peer.port, leg.value()}, text);
}
void EventRing::secured(LegHandle leg, bool good, std::string_view fault) {
  const Bytes text(reinterpret_cast<const uint8_t*>(fault.data()), fault.size());
  put({EventType::secured, static_cast<uint8_t>(good), 0, leg.value()}, text);
}
void EventRing::playback_ended(PlayerHandle player) {
  put({EventType::playback_ended, 0, 0, player.value()}, {});
}
void EventRing::digits_sent(JobHandle job) { put({EventType::digits_sent, 0, 0, job.value()}, {}); }
void EventRing::recording_ended(TapHandle recording, RecordingEnd reason, uint32_t duration_ms) {
  put_u32({EventType::recording_ended, static_cast<uint8_t>(reason), 0, recording.value()}, duration_ms);
}
void EventRing::machine_detected(TapHandle job, bool machine, MachineReason reason, uint32_t after_ms) {
  put_u32({EventType::machine_detected, static_cast<uint8_t>(machine), static_cast<uint16_t>(reason),
           job.value()},
          after_ms);
}
void EventRing::silence_waited(TapHandle job, bool silent) {
  put({EventType::silence_waited, static_cast<uint8_t>(silent), 0, job.value()}, {});
}
void EventRing::floor_changed(RoomHandle room, MemberHandle member) {
  put_u32({EventType::floor_changed, 0, 0, room.value()}, member.value());
}

}  // namespace carillon
