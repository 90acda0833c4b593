#include "addon/sockets_object.hpp"

#include <algorithm>
#include <system_error>

#include "addon/stream_format.hpp"
#include "addon/system_error.hpp"
#include "engine/udp_socket.hpp"
#include "tls/tls_client.hpp"

namespace carillon {

Napi::Function SocketsObject::define(Napi::Env env) {
  return DefineClass(env, "Sockets",
                     {
                         InstanceMethod<&SocketsObject::trust>("trust"),
                         InstanceMethod<&SocketsObject::open>("open"),
                         InstanceMethod<&SocketsObject::accept>("accept"),
                         InstanceMethod<&SocketsObject::send>("send"),
                         InstanceMethod<&SocketsObject::ping>("ping"),
                         InstanceMethod<&SocketsObject::take_messages>("takeMessages"),
                         InstanceMethod<&SocketsObject::proceed>("proceed"),
                         InstanceMethod<&SocketsObject::enqueue>("enqueue"),
                         InstanceMethod<&SocketsObject::clear>("clear"),
                         InstanceMethod<&SocketsObject::checkpoint>("checkpoint"),
                         InstanceMethod<&SocketsObject::close>("close"),
                         InstanceMethod<&SocketsObject::drop>("drop"),
                         InstanceMethod<&SocketsObject::media_dropped>("mediaDropped"),
                         InstanceMethod<&SocketsObject::forget>("forget"),
                         InstanceMethod<&SocketsObject::take_events>("takeEvents"),
                         InstanceMethod<&SocketsObject::counters>("counters"),
                         InstanceMethod<&SocketsObject::stop>("stop"),
                     });
}

SocketsObject::SocketsObject(const Info& info) : Napi::ObjectWrap<SocketsObject>(info) {
  Arguments args(info, "Sockets");
  const auto threads = static_cast<size_t>(args.at(1, "threads").integer(1, kMaxThreads));
  if (!args.good()) return;
  std::function<void()> wake = [] {};
  if (info.Length() > 0 && info[0].IsFunction()) {
    wake_ = Napi::ThreadSafeFunction::New(info.Env(), info[0].As<Napi::Function>(), "carillon stream sockets",
                                          0, 1);
    wake_.Unref(info.Env());  // idle sockets do not keep the process alive
    has_wake_ = true;
    wake = [function = wake_]() mutable { static_cast<void>(function.NonBlockingCall()); };
  }
  const auto budgets = std::make_shared<MessageBudgets>();
  try {
    for (size_t i = 0; i < threads; ++i) threads_.push_back({std::make_shared<StreamThread>(wake, budgets)});
  } catch (const std::system_error& failure) {
    threads_.clear();
    if (has_wake_) wake_.Release();
    const std::string what = std::string("the stream sockets cannot start: ") + failure.what();
    throw_system_error(info.Env(), failure.code().value(), what);
    return;
  }
  // Register after the wake-up callback's own hook, because cleanup hooks run in reverse order.
  napi_add_env_cleanup_hook(info.Env(), &SocketsObject::environment_ends, this);
}

SocketsObject::~SocketsObject() {
  if (threads_.empty()) return;
  shut_down();
  napi_remove_env_cleanup_hook(Env(), &SocketsObject::environment_ends, this);
}

void SocketsObject::shut_down() {
  for (const Thread& each : threads_) each.thread->stop();
  if (has_wake_) wake_.Release();
  has_wake_ = false;
}

std::shared_ptr<StreamThread> SocketsObject::thread_of(SocketHandle socket) const {
  const auto found = sockets_.find(socket.value());
  return threads_[found == sockets_.end() ? 0 : found->second.thread].thread;
}

/// Returns the thread with the lowest load: the measured load plus an estimate for new sockets. A lightly
/// loaded thread is preferred over waking an idle one.
size_t SocketsObject::least_loaded() const {
  constexpr double kSocketLoad = 250e-6;
  constexpr double kLittle = 0.1;
  const auto load = [&](const Thread& thread) {
    return std::max(thread.thread->busy(), kSocketLoad * static_cast<double>(thread.sockets));
  };
  size_t best = 0;
  for (size_t i = 1; i < threads_.size() && load(threads_[best]) >= kLittle; ++i) {
    if (load(threads_[i]) < load(threads_[best])) best = i;
  }
  return best;
}

template <typename Action>
Napi::Value SocketsObject::command(Arguments& args, uint32_t handle, Action action) {
  if (!args.good()) return args.env().Undefined();
  thread_of(SocketHandle(handle))->post([handle, action = std::move(action)](SocketLoop& loop) mutable {
    if (StreamSocket* const socket = loop.find(handle)) action(*socket, loop);
  });
  return args.env().Undefined();
}

namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 31;
constexpr double kMaxRate = 1e12;

void read_limits(Fields limits, SocketOptions& options) {
  const auto bytes = [&](const char* name) {
    return static_cast<size_t>(limits[name].integer(0, kMaxBytes));
  };
  const auto rate = [&](const char* name) { return limits[name].number(0, kMaxRate); };
  options.max_message_bytes = bytes("maxMessageBytes");
  options.account_message_bytes = bytes("accountMessageBytes");
  options.send_queue.media_messages = bytes("waitingMedia");
  options.send_queue.control_bytes = bytes("waitingControlBytes");
  options.flood.messages = {rate("messagesPerSecond"), rate("messagesBurst")};
  options.flood.bytes = {rate("bytesPerSecond"), rate("bytesBurst")};
  options.flood.longest_rest = static_cast<int64_t>(limits["floodMs"].milliseconds()) * kMillisecond;
}

}  // namespace

/// (PEM certificates): false if there is no certificate among them
Napi::Value SocketsObject::trust(const Info& info) {
  Arguments args(info, "trust");
  const std::string authorities = args.at(0, "authorities").text();
  if (!args.good()) return info.Env().Undefined();
  SecureTransports secure = make_tls_client(authorities);
  const bool any = secure != nullptr;
  for (const Thread& each : threads_) {
    each.thread->post([secure](SocketLoop& loop) { loop.secure_by(secure); });
  }
  return Napi::Boolean::New(info.Env(), any);
}

/// ({ socket, addresses, port, secureHost, request, limits, account }); `limits` as in native.ts
Napi::Value SocketsObject::open(const Info& info) {
  Arguments args(info, "open");
  Fields fields = args.fields(0);
  const uint32_t handle = fields["socket"].handle<SocketHandle>().value();
  SocketOptions options;
  const auto port = static_cast<uint16_t>(fields["port"].integer(1, UINT16_MAX));
  for (Argument& item : fields["addresses"].list()) {
    const auto address = parse_address(item.text(), port);
    if (!address) item.wrong("an IP address");
    options.addresses.push_back(address.value_or(Address{}));
  }
  options.secure_host = fields["secureHost"].text();
  const std::span<const uint8_t> request = fields["request"].bytes();
  options.request.assign(request.begin(), request.end());
  read_limits(fields["limits"].fields(), options);
  options.account = fields["account"].text();
  if (!fields.good()) return info.Env().Undefined();

  const auto mailbox = std::make_shared<SocketMailbox>();
  const size_t thread = least_loaded();
  sockets_[handle] = {thread, mailbox};
  ++threads_[thread].sockets;
  threads_[thread].thread->post([handle, options = std::move(options), mailbox](SocketLoop& loop) mutable {
    loop.open(handle, std::move(options), std::move(mailbox));
  });
  return info.Env().Undefined();
}

Napi::Value SocketsObject::accept(const Info& info) {
  Arguments args(info, "accept");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  return command(args, handle, [](StreamSocket& socket, SocketLoop& loop) { socket.accept(loop.now()); });
}

/// (socket, text, isMedia)
Napi::Value SocketsObject::send(const Info& info) {
  Arguments args(info, "send");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  const std::span<uint8_t> text = args.at(1, "text").bytes();
  const bool is_media = args.at(2, "isMedia").boolean();
  return command(args, handle,
                 [text = std::vector<uint8_t>(text.begin(), text.end()), is_media](
                     StreamSocket& socket, SocketLoop&) mutable { socket.send(text, is_media); });
}

Napi::Value SocketsObject::ping(const Info& info) {
  Arguments args(info, "ping");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  return command(args, handle, [](StreamSocket& socket, SocketLoop&) { socket.ping(); });
}

/// (socket): messages announced by the last `messages` event
Napi::Value SocketsObject::take_messages(const Info& info) {
  Arguments args(info, "takeMessages");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  if (!args.good()) return info.Env().Undefined();
  Napi::Array out = Napi::Array::New(info.Env());
  const auto found = sockets_.find(handle);
  if (found == sockets_.end()) return out;
  const std::vector<std::vector<uint8_t>> messages = std::exchange(found->second.mailbox->messages, {});
  for (uint32_t i = 0; i < messages.size(); ++i) {
    out.Set(i, Napi::Buffer<uint8_t>::Copy(info.Env(), messages[i].data(), messages[i].size()));
  }
  return out;
}

Napi::Value SocketsObject::proceed(const Info& info) {
  Arguments args(info, "proceed");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  return command(args, handle, [](StreamSocket& socket, SocketLoop& loop) { socket.proceed(loop.now()); });
}

/// ({ socket, encoding, rate, audio })
Napi::Value SocketsObject::enqueue(const Info& info) {
  Arguments args(info, "enqueue");
  Fields fields = args.fields(0);
  const uint32_t handle = fields["socket"].handle<SocketHandle>().value();
  const StreamFormat format = playable_format(fields["encoding"], fields["rate"]);
  const std::span<uint8_t> audio = fields["audio"].bytes();
  if (!fields.good()) return info.Env().Undefined();
  return command(args, handle,
                 [format, audio = std::vector<uint8_t>(audio.begin(), audio.end())](
                     StreamSocket& socket, SocketLoop&) { socket.enqueue(format, audio); });
}

Napi::Value SocketsObject::clear(const Info& info) {
  Arguments args(info, "clear");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  return command(args, handle, [](StreamSocket& socket, SocketLoop&) { socket.clear(); });
}

/// (socket, id)
Napi::Value SocketsObject::checkpoint(const Info& info) {
  Arguments args(info, "checkpoint");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  const uint32_t id = args.at(1, "id").u32();
  return command(args, handle, [id](StreamSocket& socket, SocketLoop&) { socket.checkpoint(id); });
}

/// ({ socket, code, reason, last }); `last`: message to send before closing, or empty
Napi::Value SocketsObject::close(const Info& info) {
  Arguments args(info, "close");
  Fields fields = args.fields(0);
  const uint32_t handle = fields["socket"].handle<SocketHandle>().value();
  const uint16_t code = fields["code"].u16();
  const std::string reason = fields["reason"].text();
  const std::span<uint8_t> last = fields["last"].bytes();
  if (!fields.good()) return info.Env().Undefined();
  return command(
      args, handle,
      [code, reason, last = std::vector<uint8_t>(last.begin(), last.end())](
          StreamSocket& socket, SocketLoop& loop) mutable { socket.close(code, reason, last, loop.now()); });
}

Napi::Value SocketsObject::drop(const Info& info) {
  Arguments args(info, "drop");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  return command(args, handle, [](StreamSocket& socket, SocketLoop&) { socket.drop(); });
}

Napi::Value SocketsObject::media_dropped(const Info& info) {
  Arguments args(info, "mediaDropped");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  if (!args.good()) return info.Env().Undefined();
  const auto found = sockets_.find(handle);
  const uint64_t dropped =
      found == sockets_.end() ? 0 : found->second.mailbox->media_dropped.load(std::memory_order_relaxed);
  return Napi::Number::New(info.Env(), static_cast<double>(dropped));
}

/// (socket): releases the socket after its end
Napi::Value SocketsObject::forget(const Info& info) {
  Arguments args(info, "forget");
  const uint32_t handle = args.at(0, "socket").handle<SocketHandle>().value();
  if (!args.good()) return info.Env().Undefined();
  if (const auto found = sockets_.find(handle); found != sockets_.end()) {
    --threads_[found->second.thread].sockets;
    sockets_.erase(found);
  }
  return info.Env().Undefined();
}

Napi::Value SocketsObject::take_events(const Info& info) {
  Arguments args(info, "takeEvents");
  const std::span<uint8_t> batch = args.at(0, "batch").bytes();
  if (!args.good()) return info.Env().Undefined();
  size_t taken = 0;
  for (const Thread& each : threads_) taken += each.thread->take_events(batch.subspan(taken));
  return Napi::Number::New(info.Env(), static_cast<double>(taken));
}

Napi::Value SocketsObject::counters(const Info& info) {
  const Napi::Env env = info.Env();
  uint64_t media_sent = 0;
  uint64_t messages_received = 0;
  Napi::Array threads = Napi::Array::New(env, threads_.size());
  for (uint32_t i = 0; i < threads_.size(); ++i) {
    const SocketWorld::Counters& counters = threads_[i].thread->counters();
    media_sent += counters.media_sent.load(std::memory_order_relaxed);
    messages_received += counters.messages_received.load(std::memory_order_relaxed);
    Napi::Object thread = Napi::Object::New(env);
    thread.Set("sockets", static_cast<double>(threads_[i].sockets));
    thread.Set("busy", threads_[i].thread->busy());
    threads.Set(i, thread);
  }
  Napi::Object out = Napi::Object::New(env);
  out.Set("mediaSent", static_cast<double>(media_sent));
  out.Set("messagesReceived", static_cast<double>(messages_received));
  out.Set("threads", threads);
  return out;
}

Napi::Value SocketsObject::stop(const Info& info) {
  shut_down();
  sockets_.clear();
  return info.Env().Undefined();
}

}  // namespace carillon
