// Errors of the system as JavaScript errors.
#pragma once

#include <napi.h>

#include <string>

extern "C" const char* uv_err_name(int error);  // NOLINT: libuv's name; Node's binary exports it

namespace carillon {

/// Throws a JavaScript error whose `code` is the name of the errno, as in Node's errors.
inline void throw_system_error(Napi::Env env, int error, const std::string& message) {
  Napi::Error thrown = Napi::Error::New(env, message);
  // On Unix, the error numbers of libuv are negated errnos.
  thrown.Set("code", Napi::String::New(env, uv_err_name(-error)));
  thrown.ThrowAsJavaScriptException();
}

}  // namespace carillon
