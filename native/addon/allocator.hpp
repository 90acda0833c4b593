// Configuration of the process's memory allocator.
#pragma once

#include <napi.h>

namespace carillon {

/// Configures the allocator once per process, even if the module is loaded several times.
void set_up_allocator();

/// (): returns free heap memory to the system. Promise of the number of bytes that were free. Runs on a pool
/// thread, so audio, sockets and the event loop are not blocked.
Napi::Value trim_memory(const Napi::CallbackInfo& info);

}  // namespace carillon
