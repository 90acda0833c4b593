// JavaScript class `new Engine(...)`. Each method is one command and refers to objects by handle. See
// src/edge/media/native.ts.
#pragma once

#include <napi.h>

#include <map>
#include <memory>
#include <optional>

#include "addon/leg_sessions.hpp"
#include "addon/places.hpp"
#include "engine/media_engine.hpp"
#include "net/stream_thread.hpp"
#include "tls/dtls_thread.hpp"

namespace carillon {

class EngineObject : public Napi::ObjectWrap<EngineObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit EngineObject(const Napi::CallbackInfo& info);
  ~EngineObject() override;

 private:
  using Info = Napi::CallbackInfo;

  // Legs.
  Napi::Value open_leg(const Info& info);
  Napi::Value configure_leg(const Info& info);
  Napi::Value share_ice_port(const Info& info);
  Napi::Value use_identity(const Info& info);
  Napi::Value hear_tones(const Info& info);
  Napi::Value statistics(const Info& info);
  Napi::Value close_leg(const Info& info);
  Napi::Value bridge(const Info& info);
  Napi::Value unbridge(const Info& info);
  void equip(LegHandle leg);
  // Playback.
  Napi::Value play_clip(const Info& info);
  Napi::Value play_tone(const Info& info);
  Napi::Value stop_player(const Info& info);
  Napi::Value remove_player(const Info& info);
  Napi::Value send_digits(const Info& info);
  Napi::Value remove_digits(const Info& info);
  // Taps.
  Napi::Value record(const Info& info);
  Napi::Value pause_recording(const Info& info);
  Napi::Value leave_out_sent(const Info& info);
  Napi::Value stop_recording(const Info& info);
  Napi::Value remove_recording(const Info& info);
  Napi::Value remove_tap(const Info& info);
  Napi::Value detect_machine(const Info& info);
  Napi::Value wait_for_silence(const Info& info);
  // Rooms.
  Napi::Value open_room(const Info& info);
  Napi::Value close_room(const Info& info);
  Napi::Value join_room(const Info& info);
  Napi::Value set_member(const Info& info);
  Napi::Value leave_room(const Info& info);
  // Streams.
  Napi::Value open_stream(const Info& info);
  Napi::Value pause_stream(const Info& info);
  Napi::Value close_stream(const Info& info);
  Napi::Value cleared_at(const Info& info);
  // Events and state.
  Napi::Value take_events(const Info& info);
  Napi::Value now_ms(const Info& info);
  Napi::Value busy(const Info& info);
  Napi::Value status(const Info& info);
  Napi::Value stop(const Info& info);
  // Manual mode.
  Napi::Value inject(const Info& info);
  Napi::Value advance(const Info& info);
  Napi::Value drain(const Info& info);

  Napi::Object thread_status(Napi::Env env, size_t thread) const;
  void post_removal(PlaceHandle place, TapHandle tap);
  /// Returns the feed through which legs of this engine send to the sockets of `sockets`.
  std::shared_ptr<MediaFeed> feed_of(const std::shared_ptr<StreamThread>& sockets);
  /// Ends the media threads, then releases the wake-up callback. The environment also calls it if it ends
  /// before this object, because the callback does not outlive the environment.
  void shut_down();
  static void environment_ends(void* self) { static_cast<EngineObject*>(self)->shut_down(); }

  Napi::ThreadSafeFunction wake_;
  bool has_wake_ = false;
  std::unique_ptr<MediaEngine> engine_;
  std::unique_ptr<DtlsThread> dtls_;
  /// DTLS terms of each leg known to the key exchange thread, if it uses DTLS. Legs without ICE and DTLS are
  /// not listed and do not wake that thread.
  std::map<LegHandle, std::optional<DtlsTerms>> exchanging_;
  LegSessions sessions_;
  /// Playback queues of the open bidirectional streams, for the positions of clears.
  std::map<StreamHandle, std::shared_ptr<const PlaybackQueue>> queues_;
  std::vector<std::pair<std::weak_ptr<StreamThread>, std::shared_ptr<SocketFeed>>> feeds_;
};

}  // namespace carillon
