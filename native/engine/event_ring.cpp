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
}

void EventRing::put_u32(const Head& head, uint32_t value) { put(head, bytes_of(value)); }

void EventRing::media(uint32_t stream, Bytes message) {
  put({EventType::media, 0, 0, stream}, message, kReservedForControl);
}
void EventRing::played(uint32_t stream, uint32_t checkpoint) {
  put_u32({EventType::played, 0, 0, stream}, checkpoint);
}
void EventRing::dtmf(uint32_t leg, char digit, bool as_tone, Nanos at) {
  const double at_ms = static_cast<double>(at) / kMillisecond;
  put({EventType::dtmf, static_cast<uint8_t>(digit), static_cast<uint16_t>(as_tone ? 1 : 0), leg},
      bytes_of(at_ms));
}
void EventRing::media_timeout(uint32_t leg, Nanos at) {
  const double at_ms = static_cast<double>(at) / kMillisecond;
  put({EventType::media_timeout, 0, 0, leg}, bytes_of(at_ms));
}
void EventRing::source_changed(uint32_t leg, SourceChange change, const Address& peer) {
  const IpText ip = ip_text(peer);
  const Bytes text(reinterpret_cast<const uint8_t*>(ip.data()), std::strlen(ip.data()));
  put({EventType::source_changed, static_cast<uint8_t>(change), peer.port, leg}, text);
}
void EventRing::playback_ended(uint32_t player) { put({EventType::playback_ended, 0, 0, player}, {}); }
void EventRing::digits_sent(uint32_t job) { put({EventType::digits_sent, 0, 0, job}, {}); }
void EventRing::recording_ended(uint32_t recording, RecordingEnd reason, uint32_t duration_ms) {
  put_u32({EventType::recording_ended, static_cast<uint8_t>(reason), 0, recording}, duration_ms);
}
void EventRing::machine_detected(uint32_t job, bool machine, MachineReason reason, uint32_t after_ms) {
  put_u32({EventType::machine_detected, static_cast<uint8_t>(machine), static_cast<uint16_t>(reason), job},
          after_ms);
}
void EventRing::silence_waited(uint32_t job, bool silent) {
  put({EventType::silence_waited, static_cast<uint8_t>(silent), 0, job}, {});
}
void EventRing::floor_changed(uint32_t room, uint32_t member) {
  put_u32({EventType::floor_changed, 0, 0, room}, member);
}

}  // namespace carillon
