// Reading JavaScript arguments. Whatever is missing, of another type, out of range or unknown is a TypeError
// that names the method and the value; nothing is guessed.
//
//   Arguments args(info, "setMember");
//   Fields fields = args.fields(0);
//   const auto room = fields["room"].handle<RoomHandle>();
//   …
//   if (!fields.good()) return info.Env().Undefined();
#pragma once

#include <napi.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/handles.hpp"

namespace carillon {

class Argument;
class Fields;

/// The arguments of one call; keeps the first fault, which good() throws.
class Arguments {
 public:
  Arguments(const Napi::CallbackInfo& info, const char* method) : info_(info), method_(method) {}

  [[nodiscard]] Argument at(size_t index, const char* name);
  /// The options object at this place.
  [[nodiscard]] Fields fields(size_t index);
  /// False when something was wrong: then the TypeError is on its way, and the method must not act.
  [[nodiscard]] bool good();
  void fault(const std::string& what);
  [[nodiscard]] Napi::Env env() const { return info_.Env(); }

 private:
  const Napi::CallbackInfo& info_;
  const char* method_;
  std::string fault_;
};

/// One value under its name: `name` within `path`, which ends with a dot where it is an object's.
class Argument {
 public:
  Argument(Arguments& call, Napi::Value value, const char* name, std::string path = "")
      : call_(call), value_(value), name_(name), path_(std::move(path)) {}

  [[nodiscard]] bool given() const { return !value_.IsEmpty() && !value_.IsUndefined(); }
  [[nodiscard]] const Napi::Value& value() const { return value_; }
  [[nodiscard]] double number(double low, double high);
  /// A whole number within these bounds.
  [[nodiscard]] int64_t integer(int64_t low, int64_t high);
  [[nodiscard]] uint32_t u32() { return static_cast<uint32_t>(integer(0, UINT32_MAX)); }
  [[nodiscard]] uint16_t u16() { return static_cast<uint16_t>(integer(0, UINT16_MAX)); }
  /// Never 0.
  template <typename Name>
  [[nodiscard]] Name handle() {
    return Name(static_cast<uint32_t>(integer(1, UINT32_MAX)));
  }
  [[nodiscard]] uint64_t milliseconds() {
    return static_cast<uint64_t>(number(0, static_cast<double>(std::numeric_limits<int32_t>::max()) * 1000));
  }
  [[nodiscard]] bool boolean();
  [[nodiscard]] std::string text();
  /// A Uint8Array; valid during the call only.
  [[nodiscard]] std::span<uint8_t> bytes();
  /// A Float64Array of this length; valid during the call only.
  [[nodiscard]] std::span<double> numbers(size_t count);
  [[nodiscard]] std::vector<Argument> list();
  [[nodiscard]] Fields fields();
  /// One of these words.
  template <typename T>
  [[nodiscard]] T choice(std::initializer_list<std::pair<const char*, T>> words) {
    if (value_.IsString()) {
      const std::string given = value_.As<Napi::String>().Utf8Value();
      for (const auto& [word, meaning] : words) {
        if (given == word) return meaning;
      }
    }
    std::string names;
    for (const auto& [word, meaning] : words) names += (names.empty() ? "" : ", ") + std::string(word);
    wrong("one of " + names);
    return words.begin()->second;
  }
  /// One of these numbers.
  [[nodiscard]] int one_of(std::initializer_list<int> numbers);
  /// "… must be `wanted`, not …".
  void wrong(const std::string& wanted);

 private:
  /// Put together for what is wrong, and for what is within.
  [[nodiscard]] std::string name() const { return path_ + name_; }

  Arguments& call_;
  Napi::Value value_;
  const char* name_;
  std::string path_;
};

/// The named values of one object. A name that nobody asked for is a fault, found by good() or, of an object
/// within another, when it goes.
class Fields {
 public:
  Fields(Arguments& call, Napi::Value object, std::string path);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  ~Fields();

  [[nodiscard]] Argument operator[](const char* name);
  /// Call when every name has been asked for; as Arguments::good().
  [[nodiscard]] bool good();

 private:
  void check_names();

  Arguments& call_;
  Napi::Value object_;
  std::string path_;
  std::vector<const char*> asked_;
  /// Of them, those that are there.
  uint32_t found_ = 0;
};

}  // namespace carillon
