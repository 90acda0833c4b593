// How the process's allocator deals with memory that is free again.
#pragma once

#include <napi.h>

namespace carillon {

/// Once for the process, however often the module is loaded.
void set_up_allocator();

/// (): a promise of the bytes that the allocator had free, after giving them back to the system. Works on a
/// thread of the pool: audio, sockets and the event loop do not wait for it.
Napi::Value trim_memory(const Napi::CallbackInfo& info);

}  // namespace carillon
