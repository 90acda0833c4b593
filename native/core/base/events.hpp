// What the core tells: the engine turns it into a batch for the control thread, a test collects it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"
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

/// Handles are the control thread's names for things; the core only gives them back.
class Events {
 public:
  virtual ~Events() = default;

  virtual void media(uint32_t stream, Bytes message) = 0;
  virtual void played(uint32_t stream, uint32_t checkpoint) = 0;
  /// `as_tone`: heard within the audio, which goes on to whoever hears the leg.
  virtual void dtmf(uint32_t leg, char digit, bool as_tone, Nanos at) = 0;
  /// No RTP for the configured time, which was over at `at`.
  virtual void media_timeout(uint32_t leg, Nanos at) = 0;
  virtual void source_changed(uint32_t leg, SourceChange change, const Address& peer) = 0;
  virtual void playback_ended(uint32_t player) = 0;
  virtual void digits_sent(uint32_t job) = 0;
  virtual void recording_ended(uint32_t recording, RecordingEnd reason, uint32_t duration_ms) = 0;
  virtual void machine_detected(uint32_t job, bool machine, MachineReason reason, uint32_t after_ms) = 0;
  virtual void silence_waited(uint32_t job, bool silent) = 0;
  /// `member` 0: nobody speaks.
  virtual void floor_changed(uint32_t room, uint32_t member) = 0;
};

/// Where packets go.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  virtual void send(uint32_t leg, const Address& to, Bytes packet) = 0;
  /// RTCP, from the leg's port + 1.
  virtual void send_rtcp(uint32_t leg, const Address& to, Bytes packet) = 0;
  /// From now on the leg hears and speaks to this address only; nothing: it listens to all again.
  virtual void latched(uint32_t leg, const std::optional<Address>& peer) = 0;
};

}  // namespace carillon
