// The UDP socket of signalling, on Node's own loop: batches in, single datagrams out.
#pragma once

#include <napi.h>

#include <memory>

#include "engine/datagram_batch.hpp"
#include "engine/udp_socket.hpp"

struct uv_poll_s;

namespace carillon {

class SignalSocketObject : public Napi::ObjectWrap<SignalSocketObject> {
 public:
  using Info = Napi::CallbackInfo;

  static Napi::Function define(Napi::Env env);

  /// ({ host, port, receiveBuffer, sendBuffer }, onMessages, onUndelivered): `host` is an IP address, buffers
  /// are in bytes. Throws an error with the errno's name as `code`. onMessages([bytes, address, port, ageMs,
  /// bytes, …]): what has come since the last turn, the oldest first; `ageMs` since it came to the machine.
  /// onUndelivered([bytes, bytes, …]): how datagrams of ours began that ICMP says did not arrive.
  explicit SignalSocketObject(const Info& info);
  ~SignalSocketObject() override;

 private:
  /// What libuv may still touch after the object has gone.
  struct Watch;

  Napi::Value send(const Info& info);
  Napi::Value close(const Info& info);
  Napi::Value port(const Info& info);
  Napi::Value lost(const Info& info);
  void read();
  /// Datagrams read and told.
  size_t read_batch();
  void read_errors();
  void shut();

  UdpSocket socket_;
  DatagramBatch batch_;
  Napi::FunctionReference on_messages_;
  Napi::FunctionReference on_undelivered_;
  std::unique_ptr<Napi::AsyncContext> context_;
  Watch* watch_ = nullptr;
};

}  // namespace carillon
