// Calls JavaScript from events of Node's loop.
#pragma once

#include <napi.h>

#include <initializer_list>

namespace carillon {

/// Calls `function`. An exception becomes an uncaught exception, as in other event handlers. Otherwise
/// Node-API would keep it, fail all later calls, and throw it from an unrelated method of the addon.
inline void call_for_event(const Napi::FunctionReference& function, napi_value receiver,
                           const std::initializer_list<napi_value>& arguments, napi_async_context context) {
  const Napi::Env env = function.Env();
  function.MakeCallback(receiver, arguments, context);
  if (env.IsExceptionPending()) napi_fatal_exception(env, env.GetAndClearPendingException().Value());
}

}  // namespace carillon
