// JavaScript class `new Sockets(onEvents, threads)`: WebSockets to bots on separate threads. A socket stays
// on one thread. Each method is one command and refers to a socket by its handle, which JavaScript assigns.
// See src/edge/stream/native.ts.
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

  /// Returns the socket's thread. For unknown sockets, any thread, where commands find no target.
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

  /// Runs `action(StreamSocket&, SocketLoop&)` on the thread if the socket still exists.
  template <typename Action>
  Napi::Value command(Arguments& args, uint32_t handle, Action action);
  [[nodiscard]] size_t least_loaded() const;
  /// Ends the threads, then releases the wake-up callback. The environment also calls it if it ends before
  /// this object, because the callback does not outlive the environment.
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
