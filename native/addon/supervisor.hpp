// Words to the supervisor that started the process: the datagrams of sd_notify(3), without its library.
#pragma once

#include <napi.h>

namespace carillon {

/// (socketPath, text): whether one datagram has left. `socketPath` as in NOTIFY_SOCKET: a path, or a name in
/// the abstract namespace after `@`. Does not wait: a supervisor whose queue is full is told nothing.
Napi::Value notify_supervisor(const Napi::CallbackInfo& info);

}  // namespace carillon
