// What a codec does for one session: decoding in order of time, what is heard where nothing came, encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes.hpp"
#include "core/base/frame.hpp"

namespace carillon {

/// What stands at an instant of a received stream.
enum class Coding : uint8_t {
  missing,
  silence,  // the sender chose not to send: known to be silent, without a payload
  pcmu,
  pcma,
};

/// One reader's or one sender's codec: it has a past, so it belongs to one stream of audio alone. Calls are
/// one a packet or frame, never one a sample.
class AudioCodec {
 public:
  virtual ~AudioCodec() = default;

  /// The next payload in order of time; exactly `out.size()` samples of audio are in it.
  virtual void decode(Coding coding, Bytes payload, std::span<Sample> out) = 0;
  /// The sender was silent for so long.
  virtual void silence(std::span<Sample> out) = 0;
  /// Nothing came for this time: what a listener is to hear instead.
  virtual void conceal(std::span<Sample> out) = 0;

  /// Returns the bytes written; `out` has room for the longest payload of so many samples.
  virtual size_t encode(Coding coding, std::span<const Sample> in, std::span<uint8_t> out) = 0;

  /// Hint: decode() will be called soon.
  virtual void expect_decode() const = 0;
};

}  // namespace carillon
