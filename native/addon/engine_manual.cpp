// EngineObject: the manual mode, where a test is clock and network.
#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"

namespace carillon {

/// (localPort, ip, port, bytes, atMs)
Napi::Value EngineObject::inject(const Info& info) {
  const std::optional<Address> from =
      parse_address(string_at(info, 1), static_cast<uint16_t>(u32_at(info, 2)));
  const auto at = static_cast<Nanos>(number_at(info, 4) * kMillisecond);
  engine_->inject(static_cast<uint16_t>(u32_at(info, 0)), from.value_or(Address{}), bytes_at(info, 3), at);
  return info.Env().Undefined();
}

Napi::Value EngineObject::advance(const Info& info) {
  engine_->advance(static_cast<Nanos>(number_at(info, 0) * kMillisecond));
  return info.Env().Undefined();
}

Napi::Value EngineObject::drain(const Info& info) {
  const Napi::Env env = info.Env();
  const std::vector<SentPacket> packets = engine_->take_sent();
  Napi::Array out = Napi::Array::New(env, packets.size());
  for (uint32_t i = 0; i < packets.size(); ++i) {
    const SentPacket& packet = packets[i];
    Napi::Object item = Napi::Object::New(env);
    item.Set("localPort", packet.local_port);
    item.Set("address", format_ip(packet.to));
    item.Set("port", packet.to.port);
    item.Set("atMs", static_cast<double>(packet.at) / kMillisecond);
    item.Set("bytes", Napi::Buffer<uint8_t>::Copy(env, packet.bytes.data(), packet.bytes.size()));
    out.Set(i, item);
  }
  return out;
}

}  // namespace carillon
