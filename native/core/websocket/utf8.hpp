// UTF-8 validation (RFC 3629), required for text messages by RFC 6455 §8.1.
#pragma once

#include "core/base/bytes.hpp"

namespace carillon {

bool is_utf8(Bytes text);

}  // namespace carillon
