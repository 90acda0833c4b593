// EngineObject: manual mode, in which a test provides time and network.
#include "addon/arguments.hpp"
#include "addon/engine_object.hpp"

namespace carillon {

namespace {
constexpr double kMaxMs = 1e12;
}

/// ({ localPort, address, port, bytes, atMs })
Napi::Value EngineObject::inject(const Info& info) {
  Arguments args(info, "inject");
  Fields fields = args.fields(0);
  const uint16_t local_port = fields["localPort"].u16();
  Argument ip = fields["address"];
  const std::optional<Address> from = parse_address(ip.text(), fields["port"].u16());
  if (!from) ip.wrong("an IP address");
  const std::span<const uint8_t> bytes = fields["bytes"].bytes();
  const double at_ms = fields["atMs"].number(0, kMaxMs);
  if (!fields.good()) return info.Env().Undefined();
  engine_->inject(local_port, *from, bytes, nanos_of(at_ms, kMillisecond));
  return info.Env().Undefined();
}

Napi::Value EngineObject::advance(const Info& info) {
  Arguments args(info, "advance");
  const double ms = args.at(0, "ms").number(0, kMaxMs);
  if (!args.good()) return info.Env().Undefined();
  engine_->advance(nanos_of(ms, kMillisecond));
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
    item.Set("atMs", in_milliseconds(packet.at));
    item.Set("bytes", Napi::Buffer<uint8_t>::Copy(env, packet.bytes.data(), packet.bytes.size()));
    out.Set(i, item);
  }
  return out;
}

}  // namespace carillon
