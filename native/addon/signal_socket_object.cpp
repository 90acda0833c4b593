#include "addon/signal_socket_object.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>

#include "addon/arguments.hpp"
#include "addon/event_callback.hpp"
#include "addon/system_error.hpp"
#include "addon/uv_poll.hpp"
#include "engine/icmp_errors.hpp"
#include "engine/socket_address.hpp"

namespace carillon {

namespace {

/// Maximum time per turn for reading and processing messages, so that timers and other sockets get their
/// turn. After the loop was blocked, this bounds its response time to other requests.
constexpr Nanos kTimeATurn = Nanos(10'000'000);
constexpr int64_t kMaxBuffer = int64_t{1} << 30;

Nanos now_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * kSecond + Nanos(time.tv_nsec);
}

Nanos wall_now() { return now_of(CLOCK_REALTIME); }

/// Returns 0 without an arrival time, or if the wall clock was changed.
double age_ms(const Datagram& datagram, Nanos now) {
  if (datagram.arrived_wall == Nanos()) return 0;
  return std::max(0.0, in_milliseconds(now - datagram.arrived_wall));
}

void set_buffers(const UdpSocket& socket, int64_t receive, int64_t send) {
  const auto set = [&](int beyond_limit, int within_limit, int64_t bytes) {
    const int value = static_cast<int>(bytes);
    // Values above the system limit need permission.
    if (::setsockopt(socket.descriptor(), SOL_SOCKET, beyond_limit, &value, sizeof(value)) == 0) return;
    ::setsockopt(socket.descriptor(), SOL_SOCKET, within_limit, &value, sizeof(value));
  };
  set(SO_RCVBUFFORCE, SO_RCVBUF, receive);
  set(SO_SNDBUFFORCE, SO_SNDBUF, send);
}

}  // namespace

struct SignalSocketObject::Watch {
  uv_poll_s* poll = nullptr;
  SignalSocketObject* owner = nullptr;
  napi_async_cleanup_hook_handle hook = nullptr;
  /// Closed after libuv has released it.
  UdpSocket socket;

  /// libuv stops watching a socket after an error, so start it again.
  static void ready(uv_poll_s* poll, int status, int) {
    const auto* const watch = static_cast<Watch*>(uv_handle_get_data(reinterpret_cast<uv_handle_s*>(poll)));
    if (watch->owner != nullptr && status < 0) {
      watch->owner->read_errors();
      if (watch->owner != nullptr) uv_poll_start(poll, uv::kReadable, &Watch::ready);
    }
    if (watch->owner != nullptr) watch->owner->read();
  }

  static void closed(uv_handle_s* handle) {
    auto* const watch = static_cast<Watch*>(uv_handle_get_data(handle));
    ::operator delete(watch->poll);
    napi_remove_async_cleanup_hook(watch->hook);
    delete watch;
  }
};

Napi::Function SignalSocketObject::define(Napi::Env env) {
  return DefineClass(env, "SignalSocket",
                     {
                         InstanceMethod<&SignalSocketObject::send>("send"),
                         InstanceMethod<&SignalSocketObject::close>("close"),
                         InstanceMethod<&SignalSocketObject::port>("port"),
                         InstanceMethod<&SignalSocketObject::lost>("lost"),
                     });
}

SignalSocketObject::SignalSocketObject(const Info& info) : Napi::ObjectWrap<SignalSocketObject>(info) {
  Arguments args(info, "SignalSocket");
  Fields fields = args.fields(0);
  const std::string host = fields["host"].text();
  const uint16_t port = fields["port"].u16();
  const int64_t receive_buffer = fields["receiveBuffer"].integer(0, kMaxBuffer);
  const int64_t send_buffer = fields["sendBuffer"].integer(0, kMaxBuffer);
  const std::optional<Address> local = parse_address(host, port);
  if (!local) args.fault("host must be an IP address, not " + host);
  if (info.Length() < 2 || !info[1].IsFunction()) args.fault("onMessages must be a function");
  if (info.Length() < 3 || !info[2].IsFunction()) args.fault("onUndelivered must be a function");
  if (!fields.good()) return;

  UdpSocket::Bound bound = UdpSocket::bind(local.value_or(Address{}));
  if (bound.error != 0) {
    throw_system_error(info.Env(), bound.error, std::strerror(bound.error));
    return;
  }
  socket_ = std::move(bound.socket);
  set_buffers(socket_, receive_buffer, send_buffer);
  DatagramBatch::count_losses(socket_);
  IcmpErrors::ask_for(socket_);
  on_undelivered_ = Napi::Persistent(info[2].As<Napi::Function>());
  on_messages_ = Napi::Persistent(info[1].As<Napi::Function>());
  context_ = std::make_unique<Napi::AsyncContext>(info.Env(), "carillon signalling");

  uv_loop_s* loop = nullptr;
  napi_get_uv_event_loop(info.Env(), &loop);
  auto watch = std::make_unique<Watch>();
  watch->owner = this;
  const int error = uv::watch_readable(loop, socket_.descriptor(), watch.get(), &Watch::ready, watch->poll);
  if (error != 0) {
    throw_system_error(info.Env(), -error,
                       std::string("the socket cannot be watched: ") + std::strerror(-error));
    return;
  }
  watch_ = watch.release();
  napi_add_async_cleanup_hook(
      info.Env(),
      [](napi_async_cleanup_hook_handle, void* data) {
        auto* const ended = static_cast<Watch*>(data);
        if (ended->owner != nullptr) ended->owner->shut();
      },
      watch_, &watch_->hook);
  Ref();  // until it is closed
}

SignalSocketObject::~SignalSocketObject() { shut(); }

void SignalSocketObject::shut() {
  if (watch_ == nullptr) return;
  Watch* const watch = std::exchange(watch_, nullptr);
  watch->owner = nullptr;
  watch->socket = std::move(socket_);
  lost_ = batch_->lost();
  batch_.reset();
  on_messages_.Reset();
  on_undelivered_.Reset();
  uv_poll_stop(watch->poll);
  uv_close(reinterpret_cast<uv_handle_s*>(watch->poll), &Watch::closed);
}

void SignalSocketObject::read() {
  const Napi::HandleScope scope(Env());
  // Keeps the object alive if a callback closes the socket.
  [[maybe_unused]] const Napi::Object alive = Value();
  const Nanos until = now_of(CLOCK_MONOTONIC) + kTimeATurn;
  while (read_batch() == DatagramBatch::kMost && now_of(CLOCK_MONOTONIC) < until) {
  }
}

size_t SignalSocketObject::read_batch() {
  // A callback for the previous batch may have closed the socket.
  if (watch_ == nullptr) return 0;
  const Napi::Env env = Env();
  const Napi::HandleScope scope(env);
  const size_t count = batch_->receive(socket_);
  if (count == 0) return 0;
  const Napi::Array messages = Napi::Array::New(env);
  const Nanos now = wall_now();
  uint32_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const Datagram datagram = batch_->datagram(i);
    messages.Set(at++, Napi::Buffer<uint8_t>::Copy(env, datagram.bytes.data(), datagram.bytes.size()));
    messages.Set(at++, Napi::String::New(env, ip_text(datagram.source).data()));
    messages.Set(at++, Napi::Number::New(env, datagram.source.port));
    messages.Set(at++, Napi::Number::New(env, age_ms(datagram, now)));
  }
  call_for_event(on_messages_, Value(), {messages}, *context_);
  return count;
}

void SignalSocketObject::read_errors() {
  const Napi::Env env = Env();
  const Napi::HandleScope scope(env);
  const Napi::Array starts = Napi::Array::New(env);
  uint32_t at = 0;
  IcmpErrors errors;
  while (const std::optional<Bytes> start = errors.next(socket_)) {
    starts.Set(at++, Napi::Buffer<uint8_t>::Copy(env, start->data(), start->size()));
  }
  if (at > 0) call_for_event(on_undelivered_, Value(), {starts}, *context_);
}

/// (bytes, address, port): 0, or errno if nothing was sent
Napi::Value SignalSocketObject::send(const Info& info) {
  Arguments args(info, "send");
  const std::span<const uint8_t> bytes = args.at(0, "bytes").bytes();
  const std::string ip = args.at(1, "address").text();
  const uint16_t to_port = args.at(2, "port").u16();
  if (!args.good()) return info.Env().Undefined();
  const std::optional<Address> to = parse_address(ip, to_port);
  if (!to) return Napi::Number::New(info.Env(), EINVAL);
  if (watch_ == nullptr) return Napi::Number::New(info.Env(), EBADF);
  sockaddr_storage name;
  const socklen_t length = to_sockaddr(*to, name);
  const auto once = [&] {
    return ::sendto(socket_.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&name), length);
  };
  ssize_t sent = once();
  // The call after an ICMP error for another datagram reports that error once. Retry.
  if (sent < 0 && IcmpErrors::may_be_anothers(errno)) sent = once();
  return Napi::Number::New(info.Env(), sent >= 0 ? 0 : errno);
}

Napi::Value SignalSocketObject::port(const Info& info) {
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  if (::getsockname(socket_.descriptor(), reinterpret_cast<sockaddr*>(&name), &length) != 0)
    return Napi::Number::New(info.Env(), 0);
  return Napi::Number::New(info.Env(), from_sockaddr(name).port);
}

/// (): number of datagrams that the kernel dropped
Napi::Value SignalSocketObject::lost(const Info& info) {
  return Napi::Number::New(info.Env(), batch_ ? batch_->lost() : lost_);
}

Napi::Value SignalSocketObject::close(const Info& info) {
  if (watch_ != nullptr) {
    shut();
    Unref();
  }
  return info.Env().Undefined();
}

}  // namespace carillon
