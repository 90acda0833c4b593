// Notifications to the process supervisor: datagrams of sd_notify(3), without its library.
#pragma once

#include <napi.h>

namespace carillon {

/// (socketPath, text): true if the datagram was sent. `socketPath` as in NOTIFY_SOCKET: a path, or `@` and a
/// name in the abstract namespace. Does not block: if the supervisor's queue is full, the message is dropped.
Napi::Value notify_supervisor(const Napi::CallbackInfo& info);

}  // namespace carillon
