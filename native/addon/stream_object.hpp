// JavaScript object for the bot's side of an audio stream without its own socket.
#pragma once

#include <napi.h>

#include <memory>

#include "core/stream/stream_input.hpp"

namespace carillon {

class StreamObject : public Napi::ObjectWrap<StreamObject> {
 public:
  static Napi::Function define(Napi::Env env);
  static Napi::Object create(Napi::Env env, std::unique_ptr<StreamInput> input);
  explicit StreamObject(const Napi::CallbackInfo& info);

 private:
  using Info = Napi::CallbackInfo;

  /// Returns packed bytes from the lowest up: result code, queue fill in percent before, and after.
  Napi::Value receive(const Info& info);
  Napi::Value enqueue(const Info& info);
  Napi::Value clear(const Info& info);
  Napi::Value checkpoint(const Info& info);
  Napi::Value queued_ms(const Info& info);
  Napi::Value outcome(Napi::Env env, PlayResult result, uint32_t fill_before) const;
  [[nodiscard]] uint32_t fill() const { return input_ ? input_->fill_percent() : 0; }

  std::unique_ptr<StreamInput> input_;
};

}  // namespace carillon
