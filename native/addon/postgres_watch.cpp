// Asynchronous messages of a PostgreSQL connection: notifications and notices.
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "addon/event_callback.hpp"
#include "addon/postgres_link.hpp"
#include "addon/uv_poll.hpp"

namespace carillon {

namespace {

constexpr const char* kEnds = "the database is closing the connection";
/// SQLSTATE prefix of server or connection shutdown: 57P01 admin_shutdown, 57P02 crash_shutdown …
constexpr const char* kEnding = "57P";

}  // namespace

struct PostgresLink::Watch {
  uv_poll_s* poll = nullptr;
  PostgresLink* owner = nullptr;
  napi_async_cleanup_hook_handle hook = nullptr;

  static void ready(uv_poll_s* poll, int, int) {
    const auto* const watch = static_cast<Watch*>(uv_handle_get_data(reinterpret_cast<uv_handle_s*>(poll)));
    if (watch->owner == nullptr) return;
    const Napi::HandleScope scope(watch->owner->Env());
    call_for_event(watch->owner->on_readable_, watch->owner->Value(), {}, *watch->owner->context_);
  }

  static void closed(uv_handle_s* handle) {
    auto* const watch = static_cast<Watch*>(uv_handle_get_data(handle));
    ::operator delete(watch->poll);
    napi_remove_async_cleanup_hook(watch->hook);
    delete watch;
  }
};

/// Returns true if a notification arrived on a channel that is listened to. Does not block.
Napi::Value PostgresLink::notified(const Info& info) {
  const Napi::Env env = info.Env();
  if (connection_ == nullptr) {
    refused(env, "notified").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  const bool is_there = pq_->consume_input(connection_) == 1;
  bool any = false;
  while (pgNotify* one = is_there ? pq_->notifies(connection_) : nullptr) {
    any = true;
    pq_->freemem(one);
  }
  if (is_there && !ends_) return Napi::Boolean::New(env, any);
  const std::string why = ends_ ? kEnds : "the database connection is lost";
  drop();
  lost(env, why).ThrowAsJavaScriptException();
  return env.Undefined();
}

/// Handles notices, which libpq would otherwise write to standard error.
void PostgresLink::noticed(void* link, const pg_result* notice) {
  auto* const self = static_cast<PostgresLink*>(link);
  const char* state = self->pq_->result_error_field(notice, libpq::kDiagSqlState);
  if (state != nullptr && std::strncmp(state, kEnding, std::strlen(kEnding)) == 0) self->ends_ = true;
}

/// (onReadable): calls onReadable from this thread's event loop when unrequested data is readable: a
/// notification, or the end of the connection. Call once per connection.
Napi::Value PostgresLink::watch(const Info& info) {
  const Napi::Env env = info.Env();
  uv_loop_s* loop = nullptr;
  if (connection_ == nullptr || watch_ != nullptr || info.Length() < 1 || !info[0].IsFunction() ||
      napi_get_uv_event_loop(env, &loop) != napi_ok) {
    refused(env, "watch").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  on_readable_ = Napi::Persistent(info[0].As<Napi::Function>());
  context_ = std::make_unique<Napi::AsyncContext>(env, "carillon postgres");
  auto watch = std::make_unique<Watch>();
  watch->owner = this;
  const int error =
      uv::watch_readable(loop, pq_->socket(connection_), watch.get(), &Watch::ready, watch->poll);
  if (error != 0) {
    on_readable_.Reset();
    drop();
    lost(env, std::string("the connection cannot be watched: ") + std::strerror(-error))
        .ThrowAsJavaScriptException();
    return env.Undefined();
  }
  watch_ = watch.release();
  napi_add_async_cleanup_hook(
      env,
      [](napi_async_cleanup_hook_handle, void* data) {
        auto* const ended = static_cast<Watch*>(data);
        if (ended->owner != nullptr) ended->owner->unwatch();
      },
      watch_, &watch_->hook);
  return env.Undefined();
}

/// Stops watching the socket. libpq owns it and may close it afterwards.
void PostgresLink::unwatch() {
  if (watch_ == nullptr) return;
  Watch* const watch = std::exchange(watch_, nullptr);
  watch->owner = nullptr;
  // It refers to objects that refer to this one, so that the garbage collector would keep all of them.
  on_readable_.Reset();
  uv_poll_stop(watch->poll);
  uv_close(reinterpret_cast<uv_handle_s*>(watch->poll), &Watch::closed);
}

}  // namespace carillon
