// Reads JavaScript arguments. A missing, mistyped, out-of-range or unknown value causes a TypeError that
// names the method and the value. There are no implicit conversions.
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
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/handles.hpp"

namespace carillon {

class Argument;
class Fields;

/// Arguments of one call. Stores the first error, which good() throws.
class Arguments {
 public:
  Arguments(const Napi::CallbackInfo& info, const char* method) : info_(info), method_(method) {}

  [[nodiscard]] Argument at(size_t index, const char* name);
  /// Returns the options object at this position.
  [[nodiscard]] Fields fields(size_t index);
  /// Returns false after an error. The TypeError is then pending, and the method must return without effect.
  [[nodiscard]] bool good();
  void fault(const std::string& what);
  [[nodiscard]] Napi::Env env() const { return info_.Env(); }

 private:
  const Napi::CallbackInfo& info_;
  const char* method_;
  std::string fault_;
};

/// Value of one argument. `path` precedes `name` in messages and ends with a dot for object members.
class Argument {
 public:
  Argument(Arguments& call, Napi::Value value, const char* name, std::string path = "")
      : call_(call), value_(value), name_(name), path_(std::move(path)) {}

  [[nodiscard]] bool given() const { return !value_.IsEmpty() && !value_.IsUndefined(); }
  [[nodiscard]] const Napi::Value& value() const { return value_; }
  [[nodiscard]] double number(double low, double high);
  /// Returns a whole number within these bounds.
  [[nodiscard]] int64_t integer(int64_t low, int64_t high);
  [[nodiscard]] uint32_t u32() { return static_cast<uint32_t>(integer(0, UINT32_MAX)); }
  [[nodiscard]] uint16_t u16() { return static_cast<uint16_t>(integer(0, UINT16_MAX)); }
  /// Returns a handle. 0 is an error.
  template <typename Name>
  [[nodiscard]] Name handle() {
    return Name(static_cast<uint32_t>(integer(1, UINT32_MAX)));
  }
  [[nodiscard]] uint64_t milliseconds() {
    return static_cast<uint64_t>(number(0, static_cast<double>(std::numeric_limits<int32_t>::max()) * 1000));
  }
  [[nodiscard]] bool boolean();
  [[nodiscard]] std::string text();
  /// Returns the bytes of a Uint8Array, valid during the call only.
  [[nodiscard]] std::span<uint8_t> bytes();
  /// Returns the elements of a Float64Array of this length, valid during the call only.
  [[nodiscard]] std::span<double> numbers(size_t count);
  [[nodiscard]] std::vector<Argument> list();
  [[nodiscard]] Fields fields();
  /// Returns the value of one of these words.
  template <typename T>
  [[nodiscard]] T choice(std::span<const std::pair<std::string_view, T>> words) {
    if (value_.IsString()) {
      const std::string given = value_.As<Napi::String>().Utf8Value();
      for (const auto& [word, meaning] : words) {
        if (given == word) return meaning;
      }
    }
    std::string names;
    for (const auto& [word, meaning] : words) names += (names.empty() ? "" : ", ") + std::string(word);
    wrong("one of " + names);
    return words.front().second;
  }
  template <typename T>
  [[nodiscard]] T choice(std::initializer_list<std::pair<std::string_view, T>> words) {
    return choice<T>(std::span(words.begin(), words.size()));
  }
  /// Returns one of these numbers.
  [[nodiscard]] int one_of(std::span<const int> numbers);
  [[nodiscard]] int one_of(std::initializer_list<int> numbers) {
    return one_of(std::span(numbers.begin(), numbers.size()));
  }
  /// Records the error "… must be `wanted`, not …".
  void wrong(const std::string& wanted);

 private:
  /// Full name, composed only for error messages and nested values.
  [[nodiscard]] std::string name() const { return path_ + name_; }

  Arguments& call_;
  Napi::Value value_;
  const char* name_;
  std::string path_;
};

/// Members of one object. A member that was never read is an error, detected by good() or, for nested
/// objects, by the destructor.
class Fields {
 public:
  Fields(Arguments& call, Napi::Value object, std::string path);
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  ~Fields();

  [[nodiscard]] Argument operator[](const char* name);
  /// Call after reading all members. See Arguments::good().
  [[nodiscard]] bool good();

 private:
  void check_names();

  Arguments& call_;
  Napi::Value object_;
  std::string path_;
  std::vector<const char*> asked_;
  /// Number of read members that exist.
  uint32_t found_ = 0;
};

}  // namespace carillon
