// Declarations of the libuv functions that a socket on Node's event loop needs. Node's binary exports them.
// Node's package and node-api-headers do not include these headers. Names, types and numbers are those of
// libuv 1's public interface (uv.h), which is stable within version 1.
#pragma once

#include <cstddef>
#include <new>

extern "C" {
// NOLINTBEGIN: names of another project
struct uv_loop_s;
struct uv_poll_s;
struct uv_handle_s;

size_t uv_handle_size(int type);
void uv_handle_set_data(uv_handle_s*, void*);
void* uv_handle_get_data(const uv_handle_s*);
void uv_close(uv_handle_s*, void (*)(uv_handle_s*));
int uv_poll_init(uv_loop_s*, uv_poll_s*, int descriptor);
int uv_poll_start(uv_poll_s*, int events, void (*)(uv_poll_s*, int status, int events));
int uv_poll_stop(uv_poll_s*);
// NOLINTEND
}

namespace carillon::uv {

inline constexpr int kPoll = 8;      // UV_POLL
inline constexpr int kReadable = 1;  // UV_READABLE

/// Calls `ready` from the event loop while `descriptor` is readable. Sets `handle`, which has the data `data`
/// and is to be closed with uv_close() and freed in its callback. Returns 0, or a negated errno without a
/// handle: the system cannot watch the descriptor, or the loop already watches it.
inline int watch_readable(uv_loop_s* loop, int descriptor, void* data,
                          void (*ready)(uv_poll_s*, int status, int events), uv_poll_s*& handle) {
  auto* const made = static_cast<uv_poll_s*>(::operator new(uv_handle_size(kPoll)));
  if (const int error = uv_poll_init(loop, made, descriptor); error != 0) {
    ::operator delete(made);
    return error;
  }
  uv_handle_set_data(reinterpret_cast<uv_handle_s*>(made), data);
  handle = made;
  // Fails only for a handle that is being closed.
  static_cast<void>(uv_poll_start(made, kReadable, ready));
  return 0;
}

}  // namespace carillon::uv
