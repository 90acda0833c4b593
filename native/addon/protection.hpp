// How packets are protected: a MediaProtection of src/domain/call/needs.ts.
#pragma once

#include <memory>

#include "addon/arguments.hpp"
#include "core/rtp/protection.hpp"

namespace carillon {

/// 'none', or { suite, send, receive, receiveMkiBytes }; keys are bytes, master key and salt in one.
std::unique_ptr<PacketProtection> protection_of(Argument value);

}  // namespace carillon
