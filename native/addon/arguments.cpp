#include "addon/arguments.hpp"

#include <algorithm>
#include <cmath>

namespace carillon {

namespace {

constexpr size_t kShownCharacters = 40;

/// Formats a value for an error message, truncated.
std::string shown(const Napi::Value& value) {
  if (value.IsString()) {
    const std::string text = value.As<Napi::String>().Utf8Value();
    return '"' + (text.size() > kShownCharacters ? text.substr(0, kShownCharacters) + "…" : text) + '"';
  }
  if (value.IsNumber() || value.IsBoolean() || value.IsNull()) return value.ToString().Utf8Value();
  return value.IsArray() ? "an array" : value.IsFunction() ? "a function" : "an object";
}

/// Formats a bound, so that 0 reads "0" instead of "0.000000".
std::string shown(double bound) {
  const bool whole = std::floor(bound) == bound && std::abs(bound) < 1e15;
  return whole ? std::to_string(static_cast<int64_t>(bound)) : std::to_string(bound);
}

}  // namespace

Argument Arguments::at(size_t index, const char* name) {
  return {*this, index < info_.Length() ? info_[index] : info_.Env().Undefined(), name};
}

Fields Arguments::fields(size_t index) {
  return {*this, index < info_.Length() ? info_[index] : info_.Env().Undefined(), ""};
}

void Arguments::fault(const std::string& what) {
  if (fault_.empty()) fault_ = std::string(method_) + ": " + what;
}

bool Arguments::good() {
  if (fault_.empty()) return true;
  Napi::TypeError::New(info_.Env(), fault_).ThrowAsJavaScriptException();
  return false;
}

void Argument::wrong(const std::string& wanted) {
  if (!given()) {
    call_.fault(name() + " is missing");
  } else {
    call_.fault(name() + " must be " + wanted + ", not " + shown(value_));
  }
}

double Argument::number(double low, double high) {
  const double value = value_.IsNumber() ? value_.As<Napi::Number>().DoubleValue() : std::nan("");
  if (value >= low && value <= high) return value;
  wrong("a number from " + shown(low) + " to " + shown(high));
  return low;
}

int64_t Argument::integer(int64_t low, int64_t high) {
  const double value = value_.IsNumber() ? value_.As<Napi::Number>().DoubleValue() : std::nan("");
  const bool within = value >= static_cast<double>(low) && value <= static_cast<double>(high);
  if (within && std::floor(value) == value) return static_cast<int64_t>(value);
  wrong("a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return low;
}

int Argument::one_of(std::span<const int> numbers) {
  const double value = value_.IsNumber() ? value_.As<Napi::Number>().DoubleValue() : std::nan("");
  for (const int number : numbers) {
    if (value == number) return number;
  }
  std::string names;
  for (const int number : numbers) names += (names.empty() ? "" : ", ") + std::to_string(number);
  wrong("one of " + names);
  return numbers.front();
}

bool Argument::boolean() {
  if (value_.IsBoolean()) return value_.As<Napi::Boolean>().Value();
  wrong("true or false");
  return false;
}

std::string Argument::text() {
  if (value_.IsString()) return value_.As<Napi::String>().Utf8Value();
  wrong("a string");
  return "";
}

std::span<uint8_t> Argument::bytes() {
  if (value_.IsTypedArray() && value_.As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array) {
    auto view = value_.As<Napi::Uint8Array>();
    return {view.Data(), view.ByteLength()};
  }
  wrong("a Uint8Array");
  return {};
}

std::span<double> Argument::numbers(size_t count) {
  if (value_.IsTypedArray() && value_.As<Napi::TypedArray>().TypedArrayType() == napi_float64_array) {
    auto view = value_.As<Napi::Float64Array>();
    if (view.ElementLength() == count) return {view.Data(), count};
  }
  wrong("a Float64Array of " + std::to_string(count));
  return {};
}

std::vector<Argument> Argument::list() {
  std::vector<Argument> items;
  if (!value_.IsArray()) {
    wrong("an array");
    return items;
  }
  const auto array = value_.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    items.emplace_back(call_, array.Get(i), "", name() + "[" + std::to_string(i) + "]");
  }
  return items;
}

Fields Argument::fields() { return {call_, value_, name() + "."}; }

Fields::Fields(Arguments& call, Napi::Value object, std::string path)
    : call_(call), object_(object), path_(std::move(path)) {
  if (object_.IsObject() && !object_.IsArray() && !object_.IsFunction()) return;
  const std::string name = path_.empty() ? "the options object" : path_.substr(0, path_.size() - 1);
  Argument(call_, object_, name.c_str()).wrong("an object");
  object_ = call_.env().Undefined();
}

Fields::~Fields() { check_names(); }

bool Fields::good() {
  check_names();
  return call_.good();
}

void Fields::check_names() {
  if (!object_.IsObject()) return;
  const Napi::Array names = object_.As<Napi::Object>().GetPropertyNames();
  // If all names were read, there are no unknown ones.
  const uint32_t count = names.Length() == found_ ? 0 : names.Length();
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = Napi::Value(names.Get(i)).ToString().Utf8Value();
    const auto is_name = [&](const char* asked) { return name == asked; };
    if (std::ranges::none_of(asked_, is_name)) call_.fault(path_ + name + " is unknown");
  }
  object_ = call_.env().Undefined();
}

Argument Fields::operator[](const char* name) {
  asked_.push_back(name);
  const Napi::Value value =
      object_.IsObject() ? object_.As<Napi::Object>().Get(name) : call_.env().Undefined();
  if (!value.IsUndefined()) ++found_;
  return {call_, value, name, path_};
}

}  // namespace carillon
