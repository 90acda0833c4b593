// Events that the core reports. The engine batches them for the control thread; tests collect them.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
#include "core/base/handles.hpp"
#include "core/base/play_position.hpp"
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

/// Reason why the leg's remote RTP address changed.
enum class SourceChange : uint8_t {
  learned,    // first accepted source, not the SDP address
  signalled,  // the SDP address replaced another source
  moved,      // the same stream continues from another address
  preferred,  // a source on a host named in signalling replaced one on another host
  replaced,   // the previous source was silent too long
};

/// Receives events. The control thread assigns the handles; the core returns them unchanged.
class Events {
 public:
  virtual ~Events() = default;

  virtual void media(StreamHandle stream, Bytes message) = 0;
  virtual void played(StreamHandle stream, const ReachedCheckpoint& reached) = 0;
  /// Reports that caller speech has begun (`started`) or ended at `at`. `confidence`: 0-100.
  virtual void speech(StreamHandle stream, bool started, uint32_t confidence, Nanos at) = 0;
  /// Reports that speech has interrupted the bot. `checkpoint`: the last discarded one, if any.
  virtual void interrupted(StreamHandle stream, const PlayPosition& at,
                           std::optional<uint32_t> checkpoint) = 0;
  /// Reports that the bot's audio has begun `latency` after the caller's last speech.
  virtual void turn(StreamHandle stream, Nanos latency) = 0;
  /// Reports a received digit. `as_tone`: the digit was detected in the audio, which listeners also hear.
  virtual void dtmf(LegHandle leg, char digit, bool as_tone, Nanos at) = 0;
  /// Reports that no RTP arrived for the configured timeout, which expired at `at`.
  virtual void media_timeout(LegHandle leg, Nanos at) = 0;
  virtual void source_changed(LegHandle leg, SourceChange change, const Address& peer) = 0;
  virtual void playback_ended(PlayerHandle player) = 0;
  virtual void digits_sent(JobHandle job) = 0;
  virtual void recording_ended(TapHandle recording, RecordingEnd reason, uint32_t duration_ms) = 0;
  virtual void machine_detected(TapHandle job, bool machine, MachineReason reason, uint32_t after_ms) = 0;
  virtual void silence_waited(TapHandle job, bool silent) = 0;
  /// Reports the new floor holder. Member 0: the floor is free.
  virtual void floor_changed(RoomHandle room, MemberHandle member) = 0;
};

/// Receives outgoing packets.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  virtual void send(LegHandle leg, const Address& to, Bytes packet) = 0;
  /// Sends an RTCP packet from the leg's RTP port + 1, without delay.
  virtual void send_rtcp(LegHandle leg, const Address& to, Bytes packet) = 0;
  /// Restricts the leg's socket to `peer`. Without a value, the socket receives from any address.
  virtual void latched(LegHandle leg, const std::optional<Address>& peer) = 0;
  /// Sets whether to read the leg's datagrams immediately on arrival, or only around the time they are due.
  virtual void prompt(LegHandle /*leg*/, bool /*wanted*/) {}
};

}  // namespace carillon
