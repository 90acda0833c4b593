#include "addon/postgres_link.hpp"

#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace carillon {

namespace {

using Clock = std::chrono::steady_clock;

// Type OIDs from pg_type.dat of PostgreSQL; they never change.
constexpr unsigned kBool = 16;
constexpr unsigned kBytea = 17;
constexpr unsigned kInt8 = 20;
constexpr unsigned kInt2 = 21;
constexpr unsigned kInt4 = 23;
constexpr unsigned kFloat4 = 700;
constexpr unsigned kFloat8 = 701;
constexpr unsigned kNumeric = 1700;

/// Largest integer that JavaScript represents exactly: 2^53 - 1.
constexpr double kLargest = 9007199254740991.0;

constexpr const char* kLate = "the database did not respond in time";

std::chrono::milliseconds timeout_of(const Napi::CallbackInfo& info, size_t index) {
  const double ms = info[index].IsNumber() ? info[index].As<Napi::Number>().DoubleValue() : 0;
  return std::chrono::milliseconds(static_cast<int64_t>(std::max(0.0, ms)));
}

PostgresLink::Deadline deadline_of(const Napi::CallbackInfo& info, size_t index) {
  return Clock::now() + timeout_of(info, index);
}

/// Returns false on timeout.
bool wait_for(int socket, short events, PostgresLink::Deadline deadline) {
  pollfd watched{socket, events, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int ready = poll(&watched, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT32_MAX)));
    if (ready > 0) return true;
    if (left <= 0) return false;
  }
}

std::string without_newline(const char* text) {
  std::string line = text == nullptr ? "" : text;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return line;
}

uint8_t nibble(char digit) { return static_cast<uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

/// Converts bytea in text form: `\x` and two hex digits per byte (bytea_output = hex).
Napi::Value bytes_of(Napi::Env env, const char* text, int length) {
  if (length < 2) return Napi::Buffer<uint8_t>::New(env, 0);
  const auto size = static_cast<size_t>(length - 2) / 2;
  auto bytes = Napi::Buffer<uint8_t>::New(env, size);
  const char* digits = text + 2;
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<uint8_t>((nibble(digits[2 * i]) << 4) | nibble(digits[2 * i + 1]));
  return bytes;
}

}  // namespace

Napi::Function PostgresLink::define(Napi::Env env) {
  return DefineClass(
      env, "PostgresLink",
      {InstanceMethod("prepare", &PostgresLink::prepare), InstanceMethod("execute", &PostgresLink::execute),
       InstanceMethod("wait", &PostgresLink::wait), InstanceMethod("notified", &PostgresLink::notified),
       InstanceMethod("watch", &PostgresLink::watch),
       InstanceMethod("serverVersion", &PostgresLink::server_version),
       InstanceMethod("close", &PostgresLink::close)});
}

PostgresLink::PostgresLink(const Info& info) : Napi::ObjectWrap<PostgresLink>(info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 2 || !info[0].IsString() || !info[1].IsNumber()) {
    Napi::TypeError::New(env, "PostgresLink: conninfo and timeoutMs").ThrowAsJavaScriptException();
    return;
  }
  std::string why;
  pq_ = libpq::open(why);
  if (pq_ == nullptr) {
    lost(env, why).ThrowAsJavaScriptException();
    return;
  }
  connect(info[0].As<Napi::String>(), timeout_of(info, 1));
}

PostgresLink::~PostgresLink() { drop(); }

void PostgresLink::connect(const std::string& conninfo, std::chrono::milliseconds timeout) {
  // The timeout is for each host of the URL, so that one that does not respond does not hide the next. The
  // functions of libpq that do not block have no such timeout. Values of the URL precede, because they follow
  // it here.
  const std::string seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(timeout).count());
  const char* const keywords[] = {"connect_timeout", "dbname", nullptr};
  const char* const values[] = {seconds.c_str(), conninfo.c_str(), nullptr};
  connection_ = pq_->connect(keywords, values, 1);
  if (connection_ != nullptr && pq_->status(connection_) == libpq::kConnectionOk &&
      pq_->set_nonblocking(connection_, 1) == 0 && pq_->enter_pipeline_mode(connection_) == 1) {
    pq_->set_notice_receiver(connection_, &PostgresLink::noticed, this);
    return;
  }
  lost(Env(), without_newline(pq_->error_message(connection_))).ThrowAsJavaScriptException();
}

/// (name, sql): prepares a statement. Its result is `null`.
Napi::Value PostgresLink::prepare(const Info& info) {
  if (connection_ == nullptr || info.Length() < 2 || !info[0].IsString() || !info[1].IsString()) {
    refused(info.Env(), "prepare").ThrowAsJavaScriptException();
    return info.Env().Undefined();
  }
  const std::string name = info[0].As<Napi::String>();
  const std::string sql = info[1].As<Napi::String>();
  if (pq_->send_prepare(connection_, name.c_str(), sql.c_str(), 0, nullptr) == 1)
    ++queued_;
  else
    lost(info.Env(), without_newline(pq_->error_message(connection_))).ThrowAsJavaScriptException();
  return info.Env().Undefined();
}

/// (name, values): executes a prepared statement. Values are strings, numbers, bytes or null.
Napi::Value PostgresLink::execute(const Info& info) {
  const Napi::Env env = info.Env();
  if (connection_ == nullptr || info.Length() < 2 || !info[0].IsString() || !info[1].IsArray()) {
    refused(env, "execute").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  const std::string name = info[0].As<Napi::String>();
  const auto given = info[1].As<Napi::Array>();
  const size_t count = given.Length();
  if (texts_.size() < count) texts_.resize(count);
  values_.assign(count, nullptr);
  lengths_.assign(count, 0);
  formats_.assign(count, libpq::kText);
  for (size_t i = 0; i < count; ++i) {
    const Napi::Value value = given[static_cast<uint32_t>(i)];
    if (value.IsNull() || value.IsUndefined()) continue;
    if (value.IsTypedArray()) {
      const auto bytes = value.As<Napi::Uint8Array>();
      values_[i] = bytes.ByteLength() == 0 ? "" : reinterpret_cast<const char*>(bytes.Data());
      lengths_[i] = static_cast<int>(bytes.ByteLength());
      formats_[i] = libpq::kBinary;
    } else {
      texts_[i] = value.ToString().Utf8Value();
      values_[i] = texts_[i].c_str();
    }
  }
  const int sent = pq_->send_query_prepared(connection_, name.c_str(), static_cast<int>(count),
                                            values_.data(), lengths_.data(), formats_.data(), libpq::kText);
  if (sent == 1)
    ++queued_;
  else
    lost(env, without_newline(pq_->error_message(connection_))).ThrowAsJavaScriptException();
  return env.Undefined();
}

/// (timeoutMs): sends the queued commands and returns one result per command: rows, the number of changed
/// rows, or an error { sqlState, message }. Null: not executed because of an earlier error. Throws if the
/// connection is lost.
Napi::Value PostgresLink::wait(const Info& info) {
  const Napi::Env env = info.Env();
  if (connection_ == nullptr) {
    refused(env, "wait").ThrowAsJavaScriptException();
    return env.Undefined();
  }
  const Napi::Array results = Napi::Array::New(env);
  const std::string failure = collect(env, results, deadline_of(info, 0));
  if (failure.empty()) return results;
  drop();
  lost(env, failure).ThrowAsJavaScriptException();
  return env.Undefined();
}

std::string PostgresLink::collect(Napi::Env env, Napi::Array results, Deadline deadline) {
  if (pq_->pipeline_sync(connection_) != 1) return without_newline(pq_->error_message(connection_));
  if (std::string failure = flush(deadline); !failure.empty()) return failure;
  uint32_t answered = 0;
  for (;;) {
    while (pq_->is_busy(connection_) != 0)
      if (std::string failure = read_some(deadline); !failure.empty()) return failure;
    pg_result* result = pq_->get_result(connection_);
    // A null result ends the results of one command.
    if (result == nullptr) {
      if (pq_->status(connection_) != libpq::kConnectionOk)
        return without_newline(pq_->error_message(connection_));
      if (answered > queued_) return "the database sent more results than commands";
      continue;
    }
    const bool is_end = pq_->result_status(result) == libpq::kPipelineSync;
    if (!is_end) results.Set(answered++, answer_of(env, result));
    pq_->clear(result);
    if (is_end) break;
  }
  queued_ = 0;
  return "";
}

std::string PostgresLink::flush(Deadline deadline) {
  for (;;) {
    const int left = pq_->flush(connection_);
    if (left == 0) return "";
    if (left < 0) return without_newline(pq_->error_message(connection_));
    // The server may stop reading until its results are read.
    if (!wait_for(pq_->socket(connection_), POLLIN | POLLOUT, deadline)) return kLate;
    if (pq_->consume_input(connection_) != 1) return without_newline(pq_->error_message(connection_));
  }
}

std::string PostgresLink::read_some(Deadline deadline) {
  if (!wait_for(pq_->socket(connection_), POLLIN, deadline)) return kLate;
  if (pq_->consume_input(connection_) == 1) return "";
  return without_newline(pq_->error_message(connection_));
}

Napi::Value PostgresLink::answer_of(Napi::Env env, pg_result* result) {
  switch (pq_->result_status(result)) {
    case libpq::kTuplesOk: {
      too_large_ = false;
      const Napi::Value rows = rows_of(env, result);
      return too_large_ ? failure_of(env, "22003", "an integer exceeds 2^53 - 1") : rows;
    }
    case libpq::kCommandOk: {
      const char* changed = pq_->cmd_tuples(result);
      return Napi::Number::New(env, *changed == '\0' ? 0 : std::strtod(changed, nullptr));
    }
    case libpq::kPipelineAborted:
      return env.Null();
    default: {
      const char* state = pq_->result_error_field(result, libpq::kDiagSqlState);
      return failure_of(env, state == nullptr ? "" : state,
                        without_newline(pq_->result_error_message(result)));
    }
  }
}

Napi::Value PostgresLink::failure_of(Napi::Env env, const char* state, const std::string& message) {
  auto error = Napi::Object::New(env);
  error.Set("sqlState", state);
  error.Set("message", message);
  return error;
}

Napi::Value PostgresLink::rows_of(Napi::Env env, const pg_result* result) {
  const int count = pq_->ntuples(result);
  const int width = pq_->nfields(result);
  std::vector<Napi::Value> names;
  names.reserve(static_cast<size_t>(width));
  for (int column = 0; column < width; ++column)
    names.push_back(Napi::String::New(env, pq_->fname(result, column)));
  auto rows = Napi::Array::New(env, static_cast<size_t>(count));
  for (int index = 0; index < count; ++index) {
    auto row = Napi::Object::New(env);
    for (int column = 0; column < width; ++column) {
      const bool is_null = pq_->getisnull(result, index, column) != 0;
      row.Set(names[static_cast<size_t>(column)],
              is_null ? env.Null()
                      : value_of(env, pq_->getvalue(result, index, column),
                                 pq_->getlength(result, index, column), pq_->ftype(result, column)));
    }
    rows.Set(static_cast<uint32_t>(index), row);
  }
  return rows;
}

Napi::Value PostgresLink::value_of(Napi::Env env, const char* text, int length, unsigned type) {
  switch (type) {
    case kInt8:
    case kInt2:
    case kInt4:
    case kFloat4:
    case kFloat8:
    case kNumeric: {
      const double number = std::strtod(text, nullptr);
      if (number > kLargest || number < -kLargest) too_large_ = true;
      return Napi::Number::New(env, number);
    }
    case kBool:
      return Napi::Number::New(env, *text == 't' ? 1 : 0);
    case kBytea:
      return bytes_of(env, text, length);
    default:
      return Napi::String::New(env, text, static_cast<size_t>(length));
  }
}

Napi::Value PostgresLink::server_version(const Info& info) {
  return Napi::Number::New(info.Env(), connection_ == nullptr ? 0 : pq_->server_version(connection_));
}

Napi::Value PostgresLink::close(const Info& info) {
  drop();
  return info.Env().Undefined();
}

void PostgresLink::drop() {
  unwatch();
  if (connection_ != nullptr) pq_->finish(connection_);
  connection_ = nullptr;
  queued_ = 0;
}

Napi::Error PostgresLink::lost(Napi::Env env, const std::string& why) {
  auto error = Napi::Error::New(env, why);
  error.Set("code", Napi::String::New(env, "PG_CONNECTION"));
  return error;
}

Napi::Error PostgresLink::refused(Napi::Env env, const char* method) {
  if (connection_ == nullptr) return lost(env, "the connection is closed");
  return Napi::TypeError::New(env, std::string("PostgresLink.") + method + ": wrong arguments");
}

}  // namespace carillon
