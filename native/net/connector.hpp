// Connects to the addresses of a host sequentially.
#pragma once

#include <vector>

#include "core/base/address.hpp"
#include "engine/file_descriptor.hpp"

namespace carillon {

class Connector {
 public:
  /// `addresses`: tried in this order.
  explicit Connector(std::vector<Address> addresses) : addresses_(std::move(addresses)) {}

  /// Starts connecting to the next address and returns the socket. Returns a closed descriptor if no address
  /// is left; error() then has the last failure.
  FileDescriptor next();
  /// Returns true if this socket's connection was established.
  bool succeeded(const FileDescriptor& socket);
  [[nodiscard]] bool has_more() const { return tried_ < addresses_.size(); }
  /// errno of the last failure. 0: there was no address.
  [[nodiscard]] int error() const { return error_; }

 private:
  std::vector<Address> addresses_;
  size_t tried_ = 0;
  int error_ = 0;
};

}  // namespace carillon
