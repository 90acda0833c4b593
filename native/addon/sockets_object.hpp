// `new Sockets(onEvents, threads)` of JavaScript: WebSockets towards bots, on threads of their own, each
// socket on one for life. Every method is one command, named by the socket's handle, which JavaScript
// chooses. See src/edge/stream/native.ts.
#pragma once

#include <napi.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "addon/arguments.hpp"
#include "net/stream_thread.hpp"

namespace carillon {

class SocketsObject : public Napi::ObjectWrap<SocketsObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit SocketsObject(const Napi::CallbackInfo& info);
  ~SocketsObject() override;

  static constexpr size_t kMaxThreads = 64;

  /// On which this socket is; of one that is not there any more, one where nobody has its name.
  [[nodiscard]] std::shared_ptr<StreamThread> thread_of(SocketHandle socket) const;

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
  [[nodiscard]] size_t least_loaded() const;
  /// Ends the threads, then gives the wake-up call back. Also called by the environment when it ends before
  /// this object: the wake-up call does not outlive it.
  void shut_down();
  static void environment_ends(void* self) { static_cast<SocketsObject*>(self)->shut_down(); }

  Napi::ThreadSafeFunction wake_;
  bool has_wake_ = false;
  struct Thread {
    std::shared_ptr<StreamThread> thread;
    size_t sockets = 0;
  };
  struct Known {
    size_t thread = 0;
    std::shared_ptr<SocketMailbox> mailbox;
  };
  std::vector<Thread> threads_;
  std::unordered_map<uint32_t, Known> sockets_;
};

}  // namespace carillon
