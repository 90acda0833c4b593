#include "addon/sockets_object.hpp"

#include "addon/arguments.hpp"
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
  std::function<void()> wake = [] {};
  if (info.Length() > 0 && info[0].IsFunction()) {
    wake_ = Napi::ThreadSafeFunction::New(info.Env(), info[0].As<Napi::Function>(), "carillon stream sockets",
                                          0, 1);
    wake_.Unref(info.Env());  // idle sockets do not keep the process alive
    has_wake_ = true;
    wake = [function = wake_]() mutable { static_cast<void>(function.NonBlockingCall()); };
  }
  thread_ = std::make_shared<StreamThread>(std::move(wake));
  // After the wake-up call's own: they run in the opposite order.
  napi_add_env_cleanup_hook(info.Env(), &SocketsObject::environment_ends, this);
}

SocketsObject::~SocketsObject() {
  shut_down();
  napi_remove_env_cleanup_hook(Env(), &SocketsObject::environment_ends, this);
}

void SocketsObject::shut_down() {
  thread_->stop();
  if (has_wake_) wake_.Release();
  has_wake_ = false;
}

template <typename Action>
Napi::Value SocketsObject::command(const Info& info, Action action) {
  thread_->post([handle = u32_at(info, 0), action = std::move(action)](SocketLoop& loop) mutable {
    if (StreamSocket* const socket = loop.find(handle)) action(*socket, loop);
  });
  return info.Env().Undefined();
}

/// (PEM certificates): false when there is none among them
Napi::Value SocketsObject::trust(const Info& info) {
  SecureTransports secure = make_tls_client(string_at(info, 0));
  const bool any = secure != nullptr;
  thread_->post([secure = std::move(secure)](SocketLoop& loop) { loop.secure_by(secure); });
  return Napi::Boolean::New(info.Env(), any);
}

/// (socket, addresses, port, secureHost, request, limits, account), limits as in native.ts
Napi::Value SocketsObject::open(const Info& info) {
  SocketOptions options;
  if (info.Length() < 6 || !info[1].IsArray() || !info[5].IsObject()) return info.Env().Undefined();
  const auto addresses = info[1].As<Napi::Array>();
  for (uint32_t i = 0; i < addresses.Length(); ++i) {
    const std::string ip = Napi::Value(addresses.Get(i)).ToString().Utf8Value();
    const auto address = parse_address(ip, static_cast<uint16_t>(u32_at(info, 2)));
    if (address) options.addresses.push_back(*address);
  }
  options.secure_host = string_at(info, 3);
  const std::span<const uint8_t> request = bytes_at(info, 4);
  options.request.assign(request.begin(), request.end());
  const auto limits = info[5].As<Napi::Object>();
  const auto limit = [&](const char* key) { return Napi::Value(limits.Get(key)).ToNumber().DoubleValue(); };
  options.max_message_bytes = static_cast<size_t>(limit("maxMessageBytes"));
  options.account = string_at(info, 6);
  options.account_message_bytes = static_cast<size_t>(limit("accountMessageBytes"));
  options.outbox.media_messages = static_cast<size_t>(limit("waitingMedia"));
  options.outbox.control_bytes = static_cast<size_t>(limit("waitingControlBytes"));
  options.flood.messages = {limit("messagesPerSecond"), limit("messagesBurst")};
  options.flood.bytes = {limit("bytesPerSecond"), limit("bytesBurst")};
  options.flood.longest_rest = static_cast<Nanos>(limit("floodMs")) * kMillisecond;

  const uint32_t handle = u32_at(info, 0);
  const auto mailbox = std::make_shared<SocketMailbox>();
  mailboxes_[handle] = mailbox;
  thread_->post([handle, options = std::move(options), mailbox](SocketLoop& loop) mutable {
    loop.open(handle, std::move(options), std::move(mailbox));
  });
  return info.Env().Undefined();
}

Napi::Value SocketsObject::accept(const Info& info) {
  return command(info, [](StreamSocket& socket, SocketLoop& loop) { socket.accept(loop.now()); });
}

/// (socket, text, isMedia)
Napi::Value SocketsObject::send(const Info& info) {
  const std::span<uint8_t> text = bytes_at(info, 1);
  return command(info, [text = std::vector<uint8_t>(text.begin(), text.end()), is_media = bool_at(info, 2)](
                           StreamSocket& socket, SocketLoop&) mutable { socket.send(text, is_media); });
}

Napi::Value SocketsObject::ping(const Info& info) {
  return command(info, [](StreamSocket& socket, SocketLoop&) { socket.ping(); });
}

/// (socket): the messages that the last `messages` event told of
Napi::Value SocketsObject::take_messages(const Info& info) {
  Napi::Array out = Napi::Array::New(info.Env());
  const auto found = mailboxes_.find(u32_at(info, 0));
  if (found == mailboxes_.end()) return out;
  const std::vector<std::vector<uint8_t>> messages = std::exchange(found->second->messages, {});
  for (uint32_t i = 0; i < messages.size(); ++i) {
    out.Set(i, Napi::Buffer<uint8_t>::Copy(info.Env(), messages[i].data(), messages[i].size()));
  }
  return out;
}

Napi::Value SocketsObject::proceed(const Info& info) {
  return command(info, [](StreamSocket& socket, SocketLoop& loop) { socket.proceed(loop.now()); });
}

/// (socket, encoding, rate, audio)
Napi::Value SocketsObject::enqueue(const Info& info) {
  const StreamFormat format{u32_at(info, 1) == 0 ? StreamEncoding::l16 : StreamEncoding::mulaw,
                            i32_at(info, 2)};
  const std::span<uint8_t> audio = bytes_at(info, 3);
  return command(info, [format, audio = std::vector<uint8_t>(audio.begin(), audio.end())](
                           StreamSocket& socket, SocketLoop&) { socket.enqueue(format, audio); });
}

Napi::Value SocketsObject::clear(const Info& info) {
  return command(info, [](StreamSocket& socket, SocketLoop&) { socket.clear(); });
}

/// (socket, id)
Napi::Value SocketsObject::checkpoint(const Info& info) {
  return command(info, [id = u32_at(info, 1)](StreamSocket& socket, SocketLoop&) { socket.checkpoint(id); });
}

/// (socket, code, reason, last message or empty)
Napi::Value SocketsObject::close(const Info& info) {
  const std::span<uint8_t> last = bytes_at(info, 3);
  return command(info, [code = static_cast<uint16_t>(u32_at(info, 1)), reason = string_at(info, 2),
                        last = std::vector<uint8_t>(last.begin(), last.end())](StreamSocket& socket,
                                                                               SocketLoop& loop) mutable {
    socket.close(code, reason, last, loop.now());
  });
}

Napi::Value SocketsObject::drop(const Info& info) {
  return command(info, [](StreamSocket& socket, SocketLoop&) { socket.drop(); });
}

Napi::Value SocketsObject::media_dropped(const Info& info) {
  const auto found = mailboxes_.find(u32_at(info, 0));
  const uint64_t dropped =
      found == mailboxes_.end() ? 0 : found->second->media_dropped.load(std::memory_order_relaxed);
  return Napi::Number::New(info.Env(), static_cast<double>(dropped));
}

/// (socket), after its end
Napi::Value SocketsObject::forget(const Info& info) {
  mailboxes_.erase(u32_at(info, 0));
  return info.Env().Undefined();
}

Napi::Value SocketsObject::take_events(const Info& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(thread_->take_events(bytes_at(info, 0))));
}

Napi::Value SocketsObject::counters(const Info& info) {
  const SocketWorld::Counters& counters = thread_->counters();
  Napi::Object out = Napi::Object::New(info.Env());
  out.Set("mediaSent", static_cast<double>(counters.media_sent.load(std::memory_order_relaxed)));
  out.Set("messagesReceived",
          static_cast<double>(counters.messages_received.load(std::memory_order_relaxed)));
  return out;
}

Napi::Value SocketsObject::stop(const Info& info) {
  shut_down();
  mailboxes_.clear();
  return info.Env().Undefined();
}

}  // namespace carillon
