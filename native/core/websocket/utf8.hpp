// Validity of UTF-8 (RFC 3629), as RFC 6455 §8.1 asks of text messages.
#pragma once

#include "core/base/bytes.hpp"

namespace carillon {

bool is_utf8(Bytes text);

}  // namespace carillon
