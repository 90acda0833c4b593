// Synchronous PostgreSQL connection with pipelining: statements are queued, sent without waiting, and their
// results read together. Blocks its thread, so it must not be used on the thread that serves calls.
#pragma once

#include <napi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "addon/libpq.hpp"

namespace carillon {

class PostgresLink : public Napi::ObjectWrap<PostgresLink> {
 public:
  using Info = Napi::CallbackInfo;
  using Deadline = std::chrono::steady_clock::time_point;

  static Napi::Function define(Napi::Env env);

  /// (conninfo, timeoutMs): connects, with a timeout for each host. Throws an error with the reason if it
  /// fails.
  explicit PostgresLink(const Info& info);
  ~PostgresLink() override;

 private:
  Napi::Value prepare(const Info& info);
  Napi::Value execute(const Info& info);
  Napi::Value wait(const Info& info);
  Napi::Value notified(const Info& info);
  Napi::Value watch(const Info& info);
  Napi::Value server_version(const Info& info);
  Napi::Value close(const Info& info);

  void connect(const std::string& conninfo, std::chrono::milliseconds timeout);
  /// Sends the queue and reads results up to the sync point of `wait`. Returns a failure as text, or an empty
  /// string.
  std::string collect(Napi::Env env, Napi::Array results, Deadline deadline);
  std::string flush(Deadline deadline);
  std::string read_some(Deadline deadline);
  Napi::Value answer_of(Napi::Env env, pg_result* result);
  static Napi::Value failure_of(Napi::Env env, const char* state, const std::string& message);
  Napi::Value rows_of(Napi::Env env, const pg_result* result);
  Napi::Value value_of(Napi::Env env, const char* text, int length, unsigned type);
  static void noticed(void* link, const pg_result* notice);
  Napi::Error lost(Napi::Env env, const std::string& why);
  Napi::Error refused(Napi::Env env, const char* method);
  void drop();
  void unwatch();

  struct Watch;

  const libpq::Functions* pq_ = nullptr;
  pg_conn* connection_ = nullptr;
  Watch* watch_ = nullptr;
  /// True if the server has announced that it ends the connection.
  bool ends_ = false;
  Napi::FunctionReference on_readable_;
  std::unique_ptr<Napi::AsyncContext> context_;
  /// Number of commands sent without a result so far.
  uint32_t queued_ = 0;
  /// True if the current result contains an integer that JavaScript cannot represent exactly.
  bool too_large_ = false;
  std::vector<std::string> texts_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

}  // namespace carillon
