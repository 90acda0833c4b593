// Declarations of the PostgreSQL client library functions in use. The library is loaded only when a database
// is configured, so that it is an optional dependency. Names, types and numbers are those
// of its public interface (libpq-fe.h of PostgreSQL 14 and later;
// https://www.postgresql.org/docs/current/libpq.html).
#pragma once

#include <string>

extern "C" {
// NOLINTBEGIN: names of another project
struct pg_conn;
struct pg_result;
struct pgNotify {
  char* relname;
  int be_pid;
  char* extra;
  pgNotify* next;
};
// NOLINTEND
}

namespace carillon::libpq {

inline constexpr int kConnectionOk = 0;      // CONNECTION_OK
inline constexpr int kCommandOk = 1;         // PGRES_COMMAND_OK
inline constexpr int kTuplesOk = 2;          // PGRES_TUPLES_OK
inline constexpr int kPipelineSync = 10;     // PGRES_PIPELINE_SYNC
inline constexpr int kPipelineAborted = 11;  // PGRES_PIPELINE_ABORTED
inline constexpr int kDiagSqlState = 'C';    // PG_DIAG_SQLSTATE
inline constexpr int kText = 0;
inline constexpr int kBinary = 1;

/// Function pointers, resolved by name.
struct Functions {
  pg_conn* (*connect)(const char* const* keywords, const char* const* values, int expand_dbname);
  void (*finish)(pg_conn*);
  int (*status)(const pg_conn*);
  int (*socket)(const pg_conn*);
  int (*server_version)(const pg_conn*);
  char* (*error_message)(const pg_conn*);
  int (*set_nonblocking)(pg_conn*, int);
  int (*enter_pipeline_mode)(pg_conn*);
  int (*pipeline_sync)(pg_conn*);
  int (*send_prepare)(pg_conn*, const char* name, const char* sql, int parameters, const unsigned* types);
  int (*send_query_prepared)(pg_conn*, const char* name, int parameters, const char* const* values,
                             const int* lengths, const int* formats, int result_format);
  int (*flush)(pg_conn*);
  int (*consume_input)(pg_conn*);
  int (*is_busy)(pg_conn*);
  pg_result* (*get_result)(pg_conn*);
  pgNotify* (*notifies)(pg_conn*);
  void* (*set_notice_receiver)(pg_conn*, void (*)(void*, const pg_result*), void*);
  void (*freemem)(void*);
  int (*result_status)(const pg_result*);
  char* (*result_error_message)(const pg_result*);
  char* (*result_error_field)(const pg_result*, int);
  void (*clear)(pg_result*);
  int (*ntuples)(const pg_result*);
  int (*nfields)(const pg_result*);
  char* (*fname)(const pg_result*, int);
  unsigned (*ftype)(const pg_result*, int);
  char* (*getvalue)(const pg_result*, int, int);
  int (*getlength)(const pg_result*, int, int);
  int (*getisnull)(const pg_result*, int, int);
  char* (*cmd_tuples)(pg_result*);
};

/// Loads the library once per process. Returns null if it is missing or too old, with the reason in `why`.
const Functions* open(std::string& why);

}  // namespace carillon::libpq
