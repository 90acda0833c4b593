#include "addon/stream_object.hpp"

#include "addon/addon_data.hpp"
#include "addon/stream_format.hpp"

namespace carillon {

Napi::Function StreamObject::define(Napi::Env env) {
  return DefineClass(env, "Stream",
                     {
                         InstanceMethod<&StreamObject::receive>("receive"),
                         InstanceMethod<&StreamObject::enqueue>("enqueue"),
                         InstanceMethod<&StreamObject::clear>("clear"),
                         InstanceMethod<&StreamObject::checkpoint>("checkpoint"),
                         InstanceMethod<&StreamObject::queued_ms>("queuedMs"),
                     });
}

StreamObject::StreamObject(const Info& info) : Napi::ObjectWrap<StreamObject>(info) {}

Napi::Object StreamObject::create(Napi::Env env, std::unique_ptr<StreamInput> input) {
  const Napi::Object object = env.GetInstanceData<AddonData>()->stream_constructor.New({});
  Unwrap(object)->input_ = std::move(input);
  return object;
}

Napi::Value StreamObject::outcome(Napi::Env env, PlayResult result, uint32_t fill_before) const {
  return Napi::Number::New(env, static_cast<uint32_t>(result) | (fill_before << 8) | (fill() << 16));
}

Napi::Value StreamObject::receive(const Info& info) {
  Arguments args(info, "receive");
  const std::span<const uint8_t> message = args.at(0, "message").bytes();
  if (!args.good()) return info.Env().Undefined();
  if (!input_) return outcome(info.Env(), PlayResult::other, 0);
  const uint32_t fill_before = fill();
  const std::string_view text(reinterpret_cast<const char*>(message.data()), message.size());
  return outcome(info.Env(), input_->receive(text), fill_before);
}

Napi::Value StreamObject::enqueue(const Info& info) {
  Arguments args(info, "enqueue");
  const StreamFormat format = playable_format(args.at(0, "encoding"), args.at(1, "rate"));
  const std::span<const uint8_t> audio = args.at(2, "payload").bytes();
  if (!args.good()) return info.Env().Undefined();
  if (!input_) return outcome(info.Env(), PlayResult::buffer_full, 0);
  const uint32_t fill_before = fill();
  return outcome(info.Env(), input_->enqueue(format, audio), fill_before);
}

Napi::Value StreamObject::clear(const Info& info) {
  if (input_) input_->clear();
  return info.Env().Undefined();
}

Napi::Value StreamObject::checkpoint(const Info& info) {
  Arguments args(info, "checkpoint");
  const uint32_t id = args.at(0, "id").u32();
  if (args.good() && input_) input_->checkpoint(id);
  return info.Env().Undefined();
}

Napi::Value StreamObject::queued_ms(const Info& info) {
  return Napi::Number::New(info.Env(), input_ ? static_cast<double>(input_->queued_ms()) : 0);
}

}  // namespace carillon
