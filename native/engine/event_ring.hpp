// Events from the media threads to the control thread.
#pragma once

#include <string_view>

#include "core/base/events.hpp"
#include "engine/record_ring.hpp"

namespace carillon {

enum class EventType : uint8_t {
  media = 1,             // handle: stream; payload: message
  played = 2,            // handle: stream; payload: ReachedCheckpoint
  dtmf = 3,              // handle: leg; a: digit; b: 1 as tone; payload: f64 monotonic ms
  media_timeout = 4,     // handle: leg; payload: f64 monotonic ms of the expiry
  playback_ended = 5,    // handle: player
  digits_sent = 6,       // handle: job
  recording_ended = 7,   // handle: recording; a: reason; payload: u32 ms
  machine_detected = 8,  // handle: job; a: machine; b: reason; payload: u32 ms
  silence_waited = 9,    // handle: job; a: silent
  floor_changed = 10,    // handle: room; payload: u32 member
  source_changed = 11,   // handle: leg; a: change; b: port; payload: the IP address as text
  secured = 12,          // handle: leg; a: 1 if keys were negotiated; payload: failure reason as text
  speech = 13,           // handle: stream; a: 1 began, 0 ended; b: confidence; payload: f64 monotonic ms
  interrupted = 14,      // handle: stream; a: 1 with a discarded checkpoint; payload: ReachedCheckpoint
  turn = 15,             // handle: stream; payload: u32 latency in ms
};

/// Writes events of one media thread to the ring shared by all threads.
class EventRing : public Events {
 public:
  /// 8 MiB hold more than 0.5 s of 300 streams in L16 at 16 kHz. If the control thread is blocked longer,
  /// audio is lost.
  static constexpr size_t kCapacity = size_t{8} << 20;
  /// Audio cannot use the last quarter, so that events that end a call always fit.
  static constexpr size_t kReservedForControl = kCapacity / 4;

  explicit EventRing(RecordRing& ring) : ring_(ring) {}

  /// Returns true if events were added since the last wake-up of the control thread.
  [[nodiscard]] bool fresh() const { return fresh_; }
  void called() { fresh_ = false; }

  void media(StreamHandle stream, Bytes message) override;
  void played(StreamHandle stream, const ReachedCheckpoint& reached) override;
  void speech(StreamHandle stream, bool started, uint32_t confidence, Nanos at) override;
  void interrupted(StreamHandle stream, const PlayPosition& at, std::optional<uint32_t> checkpoint) override;
  void turn(StreamHandle stream, Nanos latency) override;
  void dtmf(LegHandle leg, char digit, bool as_tone, Nanos at) override;
  void media_timeout(LegHandle leg, Nanos at) override;
  void source_changed(LegHandle leg, SourceChange change, const Address& peer) override;
  void playback_ended(PlayerHandle player) override;
  void digits_sent(JobHandle job) override;
  void recording_ended(TapHandle recording, RecordingEnd reason, uint32_t duration_ms) override;
  void machine_detected(TapHandle job, bool machine, MachineReason reason, uint32_t after_ms) override;
  void silence_waited(TapHandle job, bool silent) override;
  void floor_changed(RoomHandle room, MemberHandle member) override;
  /// Reports the result of a key exchange. Called from outside the core, which does not negotiate keys.
  void secured(LegHandle leg, bool good, std::string_view fault);

 private:
  struct Head {
    EventType type;
    uint8_t a = 0;
    uint16_t b = 0;
    uint32_t handle = 0;
  };
  void put(const Head& head, Bytes payload, size_t reserve = 0);
  void put_u32(const Head& head, uint32_t value);

  RecordRing& ring_;
  bool fresh_ = false;
};

}  // namespace carillon
