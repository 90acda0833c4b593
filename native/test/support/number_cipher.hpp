// SRTP ciphers without cryptography, for tests of the surrounding code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/srtp/packet_cipher.hpp"

namespace carillon::test {

/// No cryptography: combines the body with a number derived from key, packet name and additional data, and
/// uses that number as the tag. Opening with another index fails.
class NumberCipher final : public PacketCipher {
 public:
  NumberCipher(uint32_t key, bool rtcp) : key_(rtcp ? ~key : key) {}

  void seal(PacketName name, const PacketParts& parts, std::span<uint8_t> tag) override {
    const uint32_t number = number_of(name, parts);
    for (uint8_t& byte : parts.body) byte ^= static_cast<uint8_t>(number);
    write_tag(number, tag);
  }
  bool open(PacketName name, const PacketParts& parts, Bytes tag) override {
    const uint32_t number = number_of(name, parts);
    std::vector<uint8_t> expected(tag.size());
    write_tag(number, expected);
    if (!std::ranges::equal(expected, tag)) return false;
    for (uint8_t& byte : parts.body) byte ^= static_cast<uint8_t>(number);
    return true;
  }

 private:
  static void write_tag(uint32_t number, std::span<uint8_t> tag) {
    for (size_t i = 0; i < tag.size(); ++i) tag[i] = static_cast<uint8_t>(number >> (8 * (i % 4)));
  }
  [[nodiscard]] uint32_t number_of(PacketName name, const PacketParts& parts) const {
    uint32_t number = key_ ^ name.ssrc;
    const auto mix = [&number](uint64_t value) {
      number = (number ^ static_cast<uint32_t>(value)) * 0x9e3779b1U;
    };
    mix(name.index);
    mix(name.index >> 32);
    for (const uint8_t byte : parts.header) mix(byte);
    for (const uint8_t byte : parts.aad_bytes) mix(byte);
    return number;
  }

  uint32_t key_;
};

inline CipherPair numbers(const SrtpKeys& keys, CipherUse /*use*/) {
  const uint32_t key = keys.master[0];
  return {std::make_unique<NumberCipher>(key, false), std::make_unique<NumberCipher>(key, true)};
}

}  // namespace carillon::test
