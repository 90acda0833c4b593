// TCP connections to the addresses of one host, one after the other.
#pragma once

#include <vector>

#include "core/base/address.hpp"
#include "engine/file_descriptor.hpp"

namespace carillon {

class Connector {
 public:
  /// Tried in their order.
  explicit Connector(std::vector<Address> addresses) : addresses_(std::move(addresses)) {}

  /// A socket whose connection to the next address is under way; not open: no address is left, error() says
  /// why the last one failed.
  FileDescriptor next();
  /// Whether the connection of this socket has come about.
  bool succeeded(const FileDescriptor& socket);
  [[nodiscard]] bool has_more() const { return tried_ < addresses_.size(); }
  /// errno of the last failure; 0: there was no address at all.
  [[nodiscard]] int error() const { return error_; }

 private:
  std::vector<Address> addresses_;
  size_t tried_ = 0;
  int error_ = 0;
};

}  // namespace carillon
