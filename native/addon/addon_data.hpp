// Data of one JavaScript environment.
#pragma once

#include <napi.h>

namespace carillon {

struct AddonData {
  Napi::FunctionReference stream_constructor;
  Napi::FunctionReference sockets_constructor;
};

}  // namespace carillon
