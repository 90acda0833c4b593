// UDP socket of signalling on Node's event loop: receives in batches, sends single datagrams.
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

  /// ({ host, port, receiveBuffer, sendBuffer }, onMessages, onUndelivered): `host` is an IP address, buffer
  /// sizes are in bytes. Throws an error with the errno name as `code`.
  /// onMessages([bytes, address, port, ageMs, bytes, …]): datagrams since the last turn, oldest first;
  /// `ageMs` is the time since arrival.
  /// onUndelivered([bytes, bytes, …]): beginnings of sent datagrams that ICMP reports as undelivered.
  explicit SignalSocketObject(const Info& info);
  ~SignalSocketObject() override;

 private:
  /// State that libuv may access after this object was destroyed.
  struct Watch;

  Napi::Value send(const Info& info);
  Napi::Value close(const Info& info);
  Napi::Value port(const Info& info);
  Napi::Value lost(const Info& info);
  void read();
  /// Reads and reports a batch. Returns the number of datagrams.
  size_t read_batch();
  void read_errors();
  void shut();

  UdpSocket socket_;
  /// Null after the socket was closed.
  std::unique_ptr<DatagramBatch> batch_ = std::make_unique<DatagramBatch>();
  uint32_t lost_ = 0;
  /// Empty after the socket was closed: they refer to objects that refer to this one, so that the garbage
  /// collector would keep all of them.
  Napi::FunctionReference on_messages_;
  Napi::FunctionReference on_undelivered_;
  std::unique_ptr<Napi::AsyncContext> context_;
  Watch* watch_ = nullptr;
};

}  // namespace carillon
