// Helpers shared by the benchmarks of the core.
#pragma once

#include "core/base/address.hpp"
#include "core/base/bytes.hpp"

namespace carillon {

inline Address address_of(uint16_t port) {
  Address address;
  address.family = Address::Family::ipv4;
  address.ip = {127, 0, 0, 1};
  address.port = port;
  return address;
}

/// FNV-1a hash of all sent and received data. Two builds with equal output behave equally.
class Digest {
 public:
  void add(Bytes bytes) {
    for (const uint8_t byte : bytes) value_ = (value_ ^ byte) * 0x100'0000'01b3;
  }
  [[nodiscard]] uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf2'9ce4'8422'2325;
};

}  // namespace carillon
