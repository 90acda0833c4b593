// Reading JavaScript arguments. The TypeScript side is the only caller and is typed; a wrong type here is a
// bug of ours and becomes a zero, never a crash.
#pragma once

#include <napi.h>

#include <cstdint>
#include <span>
#include <string>

#include "core/base/bytes.hpp"

namespace carillon {

inline double number_at(const Napi::CallbackInfo& info, size_t index) {
  return info.Length() > index && info[index].IsNumber() ? info[index].As<Napi::Number>().DoubleValue() : 0;
}

inline uint32_t u32_at(const Napi::CallbackInfo& info, size_t index) {
  return info.Length() > index && info[index].IsNumber() ? info[index].As<Napi::Number>().Uint32Value() : 0;
}

inline int32_t i32_at(const Napi::CallbackInfo& info, size_t index) {
  return info.Length() > index && info[index].IsNumber() ? info[index].As<Napi::Number>().Int32Value() : 0;
}

inline bool bool_at(const Napi::CallbackInfo& info, size_t index) {
  return info.Length() > index && info[index].IsBoolean() && info[index].As<Napi::Boolean>().Value();
}

inline std::string string_at(const Napi::CallbackInfo& info, size_t index) {
  return info.Length() > index && info[index].IsString() ? info[index].As<Napi::String>().Utf8Value() : "";
}

/// Valid during the call only.
inline std::span<uint8_t> bytes_at(const Napi::CallbackInfo& info, size_t index) {
  if (info.Length() <= index || !info[index].IsTypedArray()) return {};
  const auto array = info[index].As<Napi::TypedArray>();
  if (array.TypedArrayType() != napi_uint8_array) return {};
  auto view = array.As<Napi::Uint8Array>();
  return {view.Data(), view.ByteLength()};
}

}  // namespace carillon
