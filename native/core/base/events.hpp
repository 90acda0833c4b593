// What the core tells: the engine turns it into a batch for the control thread, a test collects it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
#include "core/base/handles.hpp"
#include "core/base/time.hpp"

namespace carillon {

enum class RecordingEnd : uint8_t { stopped, silence, max_length, leg_ended, failed };
enum class MachineReason : uint8_t {
  initial_silence,
  greeting,
  words,
  word_length,
  human,
  timeout,
  beep,
  ended,
};

/// Why a leg's peer is heard, and spoken to, at another address than before.
enum class SourceChange : uint8_t {
  learned,    // the first that was believed, and not the address of the SDP
  signalled,  // the address of the SDP took the leg back
  moved,      // the same stream goes on from elsewhere
  preferred,  // one at a host that signalling names, instead of one at another
  replaced,   // the one before has been silent for long
};

/// Handles come from the control thread; the core only gives them back.
class Events {
 public:
  virtual ~Events() = default;

  virtual void media(StreamHandle stream, Bytes message) = 0;
  virtual void played(StreamHandle stream, uint32_t checkpoint) = 0;
  /// `as_tone`: heard within the audio, which goes on to whoever hears the leg.
  virtual void dtmf(LegHandle leg, char digit, bool as_tone, Nanos at) = 0;
  /// No RTP for the configured time, which was over at `at`.
  virtual void media_timeout(LegHandle leg, Nanos at) = 0;
  virtual void source_changed(LegHandle leg, SourceChange change, const Address& peer) = 0;
  virtual void playback_ended(PlayerHandle player) = 0;
  virtual void digits_sent(JobHandle job) = 0;
  virtual void recording_ended(TapHandle recording, RecordingEnd reason, uint32_t duration_ms) = 0;
  virtual void machine_detected(TapHandle job, bool machine, MachineReason reason, uint32_t after_ms) = 0;
  virtual void silence_waited(TapHandle job, bool silent) = 0;
  /// No member (0): nobody speaks.
  virtual void floor_changed(RoomHandle room, MemberHandle member) = 0;
};

/// Where packets go.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  virtual void send(LegHandle leg, const Address& to, Bytes packet) = 0;
  /// RTCP, from the leg's port + 1.
  virtual void send_rtcp(LegHandle leg, const Address& to, Bytes packet) = 0;
  /// From now on the leg hears and speaks to this address only; nothing: it listens to all again.
  virtual void latched(LegHandle leg, const std::optional<Address>& peer) = 0;
  /// Whether the leg's datagrams are to be fetched as soon as they come, or about when they are due.
  virtual void prompt(LegHandle /*leg*/, bool /*wanted*/) {}
};

}  // namespace carillon
