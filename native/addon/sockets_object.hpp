// `new Sockets(onEvents)` of JavaScript: WebSockets towards bots, on a thread of their own. Every method is
// one command, named by the socket's handle, which JavaScript chooses. See src/edge/stream/native.ts.
#pragma once

#include <napi.h>

#include <memory>
#include <unordered_map>

#include "addon/arguments.hpp"
#include "net/stream_thread.hpp"

namespace carillon {

class SocketsObject : public Napi::ObjectWrap<SocketsObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit SocketsObject(const Napi::CallbackInfo& info);
  ~SocketsObject() override;

  [[nodiscard]] const std::shared_ptr<StreamThread>& thread() const { return thread_; }

 private:
  using Info = Napi::CallbackInfo;

  Napi::Value trust(const Info& info);
  Napi::Value open(const Info& info);
  Napi::Value accept(const Info& info);
  Napi::Value send(const Info& info);
  Napi::Value ping(const Info& info);
  Napi::Value take_messages(const Info& info);
  Napi::Value proceed(const Info& info);
  Napi::Value enqueue(const Info& info);
  Napi::Value clear(const Info& info);
  Napi::Value checkpoint(const Info& info);
  Napi::Value close(const Info& info);
  Napi::Value drop(const Info& info);
  Napi::Value media_dropped(const Info& info);
  Napi::Value forget(const Info& info);
  Napi::Value take_events(const Info& info);
  Napi::Value counters(const Info& info);
  Napi::Value stop(const Info& info);

  /// Runs `action(StreamSocket&, SocketLoop&)` on the thread when the socket still exists.
  template <typename Action>
  Napi::Value command(Arguments& args, uint32_t handle, Action action);
  /// Ends the thread, then gives the wake-up call back. Also called by the environment when it ends before
  /// this object: the wake-up call does not outlive it.
  void shut_down();
  static void environment_ends(void* self) { static_cast<SocketsObject*>(self)->shut_down(); }

  Napi::ThreadSafeFunction wake_;
  bool has_wake_ = false;
  std::shared_ptr<StreamThread> thread_;
  std::unordered_map<uint32_t, std::shared_ptr<SocketMailbox>> mailboxes_;
};

}  // namespace carillon
