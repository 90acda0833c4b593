#include "addon/libpq.hpp"

#include <dlfcn.h>

#include <mutex>

namespace carillon::libpq {

namespace {

constexpr const char* kNames[] = {"libpq.so.5", "libpq.5.dylib"};

#ifdef RTLD_DEEPBIND
// Node's binary exports its own OpenSSL. libpq must resolve to the one it was linked with.
constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#else
constexpr int kMode = RTLD_NOW | RTLD_LOCAL;
#endif

class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr && missing.empty()) missing = name;
  }

  std::string missing;

 private:
  void* library_;
};

std::string find_all(void* library, Functions& to) {
  Finder in(library);
  in.find(to.connect, "PQconnectdbParams");
  in.find(to.finish, "PQfinish");
  in.find(to.status, "PQstatus");
  in.find(to.socket, "PQsocket");
  in.find(to.server_version, "PQserverVersion");
  in.find(to.error_message, "PQerrorMessage");
  in.find(to.set_nonblocking, "PQsetnonblocking");
  in.find(to.enter_pipeline_mode, "PQenterPipelineMode");
  in.find(to.pipeline_sync, "PQpipelineSync");
  in.find(to.send_prepare, "PQsendPrepare");
  in.find(to.send_query_prepared, "PQsendQueryPrepared");
  in.find(to.flush, "PQflush");
  in.find(to.consume_input, "PQconsumeInput");
  in.find(to.is_busy, "PQisBusy");
  in.find(to.get_result, "PQgetResult");
  in.find(to.notifies, "PQnotifies");
  in.find(to.set_notice_receiver, "PQsetNoticeReceiver");
  in.find(to.freemem, "PQfreemem");
  in.find(to.result_status, "PQresultStatus");
  in.find(to.result_error_message, "PQresultErrorMessage");
  in.find(to.result_error_field, "PQresultErrorField");
  in.find(to.clear, "PQclear");
  in.find(to.ntuples, "PQntuples");
  in.find(to.nfields, "PQnfields");
  in.find(to.fname, "PQfname");
  in.find(to.ftype, "PQftype");
  in.find(to.getvalue, "PQgetvalue");
  in.find(to.getlength, "PQgetlength");
  in.find(to.getisnull, "PQgetisnull");
  in.find(to.cmd_tuples, "PQcmdTuples");
  return in.missing;
}

}  // namespace

const Functions* open(std::string& why) {
  static std::mutex mutex;
  static Functions functions{};
  static bool is_open = false;
  const std::scoped_lock lock(mutex);
  if (is_open) return &functions;
  void* library = nullptr;
  for (const char* name : kNames)
    if (library == nullptr) library = dlopen(name, kMode);
  if (library == nullptr) {
    why = "libpq, the client library of PostgreSQL, is not installed: sudo apt-get install libpq5";
    return nullptr;
  }
  const std::string missing = find_all(library, functions);
  if (!missing.empty()) {
    why = "libpq is too old (no " + missing + "): version 14 or later is required";
    return nullptr;
  }
  is_open = true;  // stays open until the process ends
  return &functions;
}

}  // namespace carillon::libpq
