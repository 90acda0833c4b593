// DTLS-SRTP (RFC 5763, RFC 5764): the handshake that gives two peers their keys. Datagrams in, datagrams and
// keys out; no socket and no thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/time.hpp"
#include "core/dtls/record_filter.hpp"
#include "core/srtp/suite.hpp"

struct ssl_ctx_st;
struct ssl_st;
struct bio_st;

namespace carillon {

enum class FingerprintHash : uint8_t { sha256, sha384, sha512 };

/// What the peer's certificate must be (RFC 8122).
struct Fingerprint {
  FingerprintHash hash = FingerprintHash::sha256;
  std::vector<uint8_t> value;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct DtlsTerms {
  /// We begin (`a=setup:active`).
  bool client = false;
  Fingerprint peer;
  friend bool operator==(const DtlsTerms&, const DtlsTerms&) = default;
};

/// Our certificate, for all sessions.
class DtlsIdentity {
 public:
  /// Both as PEM. Nothing when they cannot be read or do not belong together.
  static std::shared_ptr<DtlsIdentity> read(const std::string& certificate, const std::string& key);
  ~DtlsIdentity();
  DtlsIdentity(const DtlsIdentity&) = delete;
  DtlsIdentity& operator=(const DtlsIdentity&) = delete;
  [[nodiscard]] ssl_ctx_st* context() const { return context_; }

 private:
  explicit DtlsIdentity(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

/// Keys of both directions, ours first.
struct DtlsKeys {
  SrtpKeys send;
  SrtpKeys receive;
};

class DtlsSession {
 public:
  enum class State : uint8_t { idle, shaking, secured, failed, closed };
  /// A handshake that forged messages have spoilt begins anew, so often at most.
  static constexpr unsigned kMaxStarts = 200;
  /// Records are joined to datagrams up to this size (RFC 8261 and practice: below any path's).
  static constexpr size_t kMaxDatagram = 1200;

  DtlsSession(std::shared_ptr<DtlsIdentity> identity, DtlsTerms terms);
  ~DtlsSession();
  DtlsSession(const DtlsSession&) = delete;
  DtlsSession& operator=(const DtlsSession&) = delete;

  /// A client's first message. Does nothing when it has begun, or for a server.
  void begin();
  /// Malformed, unexpected and unauthentic records are discarded silently (RFC 6347 §4.1.2.7).
  void receive(Bytes datagram);
  /// What is due is sent once more. The time until that; nothing: nothing is due.
  [[nodiscard]] std::optional<Nanos> until_timeout() const;
  void time_out();

  void abandon() { state_ = State::closed; }

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const DtlsTerms& terms() const { return terms_; }
  /// Why it failed, in plain words; empty once it has been taken.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  std::string take_fault() { return std::exchange(fault_, {}); }
  /// What spoilt the latest attempt, in plain words; empty: nothing has.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Once, when it is secured.
  std::optional<DtlsKeys> take_keys();
  std::vector<std::vector<uint8_t>> take_datagrams();

 private:
  [[nodiscard]] bool open();
  void proceed();
  void read_secured();
  void conclude();
  void start_over(std::string why);
  void fail(std::string why);
  [[nodiscard]] bool is_expected_peer() const;

  std::shared_ptr<DtlsIdentity> identity_;
  DtlsTerms terms_;
  RecordFilter filter_;
  ssl_st* ssl_ = nullptr;
  bio_st* in_ = nullptr;
  bio_st* out_ = nullptr;
  State state_ = State::idle;
  unsigned starts_ = 0;
  std::string fault_;
  std::string trouble_;
  std::optional<DtlsKeys> keys_;
};

}  // namespace carillon
