// Declarations of the libuv functions that a socket on Node's event loop needs. Node's binary exports them.
// Node's package and node-api-headers do not include these headers. Names, types and numbers are those of
// libuv 1's public interface (uv.h), which is stable within version 1.
#pragma once

#include <cstddef>

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

}  // namespace carillon::uv
