// Addon module: { Engine, Sockets, SignalSocket, PostgresLink, makeClip, trimMemory, notifySupervisor,
// codecNames, opusVersion }.
#include <napi.h>

#include "addon/addon_data.hpp"
#include "addon/allocator.hpp"
#include "addon/clip.hpp"
#include "addon/engine_object.hpp"
#include "addon/postgres_link.hpp"
#include "addon/signal_socket_object.hpp"
#include "addon/sockets_object.hpp"
#include "addon/speex.hpp"
#include "addon/stream_object.hpp"
#include "addon/supervisor.hpp"
#include "core/codec/opus_codec.hpp"

namespace {

/// (): why audio cannot be cleaned, or an empty string
Napi::Value cleaning_problem(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), carillon::speex::problem());
}

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  carillon::set_up_allocator();
  auto data = std::make_unique<carillon::AddonData>();
  data->stream_constructor = Napi::Persistent(carillon::StreamObject::define(env));
  const Napi::Function sockets = carillon::SocketsObject::define(env);
  data->sockets_constructor = Napi::Persistent(sockets);
  env.SetInstanceData(data.release());  // freed by the environment
  exports.Set("Engine", carillon::EngineObject::define(env));
  exports.Set("Sockets", sockets);
  exports.Set("SignalSocket", carillon::SignalSocketObject::define(env));
  exports.Set("PostgresLink", carillon::PostgresLink::define(env));
  exports.Set("makeClip", Napi::Function::New(env, carillon::make_clip, "makeClip"));
  exports.Set("cleaningProblem", Napi::Function::New(env, cleaning_problem, "cleaningProblem"));
  exports.Set("trimMemory", Napi::Function::New(env, carillon::trim_memory, "trimMemory"));
  exports.Set("notifySupervisor", Napi::Function::New(env, carillon::notify_supervisor, "notifySupervisor"));
  Napi::Array codecs = Napi::Array::New(env);
  for (const carillon::CodecProperties& codec : carillon::all_codecs()) {
    codecs.Set(codecs.Length(), std::string(codec.name));
  }
  exports.Set("codecNames", codecs);
  exports.Set("opusVersion", Napi::String::New(env, carillon::opus_version()));
  return exports;
}

}  // namespace

NODE_API_MODULE(carillon, initialise)
