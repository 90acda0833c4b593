// DTLS-SRTP handshake (RFC 5763, RFC 5764) that negotiates the SRTP keys. Consumes and produces datagrams;
// uses no socket or thread.
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

/// Expected fingerprint of the peer's certificate (RFC 8122).
struct Fingerprint {
  FingerprintHash hash = FingerprintHash::sha256;
  std::vector<uint8_t> value;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct DtlsTerms {
  /// True if we act as client (`a=setup:active`).
  bool client = false;
  Fingerprint peer;
  friend bool operator==(const DtlsTerms&, const DtlsTerms&) = default;
};

/// Our certificate, shared by all sessions.
class DtlsIdentity {
 public:
  /// Parses the PEM certificate and key. Returns null if they are invalid or do not match.
  static std::shared_ptr<DtlsIdentity> read(const std::string& certificate, const std::string& key);
  ~DtlsIdentity();
  DtlsIdentity(const DtlsIdentity&) = delete;
  DtlsIdentity& operator=(const DtlsIdentity&) = delete;
  [[nodiscard]] ssl_ctx_st* context() const { return context_; }

 private:
  explicit DtlsIdentity(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

/// SRTP keys of both directions.
struct DtlsKeys {
  SrtpKeys send;
  SrtpKeys receive;
};

class DtlsSession {
 public:
  enum class State : uint8_t { idle, shaking, secured, failed, closed };
  /// Maximum number of handshake attempts, for the case that forged messages disturb them.
  static constexpr unsigned kMaxStarts = 200;
  /// Maximum datagram size in bytes when combining records (RFC 8261; below any common path MTU).
  static constexpr size_t kMaxDatagram = 1200;

  DtlsSession(std::shared_ptr<DtlsIdentity> identity, DtlsTerms terms);
  ~DtlsSession();
  DtlsSession(const DtlsSession&) = delete;
  DtlsSession& operator=(const DtlsSession&) = delete;

  /// Sends a client's first message. No effect for a server or if already started.
  void begin();
  /// Processes a datagram. Malformed, unexpected and unauthenticated records are discarded silently (RFC 6347
  /// §4.1.2.7).
  void receive(Bytes datagram);
  /// Time until the next retransmission; empty if none is due. time_out() retransmits.
  [[nodiscard]] std::optional<Nanos> until_timeout() const;
  void time_out();

  void abandon() { state_ = State::closed; }

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const DtlsTerms& terms() const { return terms_; }
  /// Reason of a failure as text. Empty without a failure, or after take_fault().
  [[nodiscard]] const std::string& fault() const { return fault_; }
  std::string take_fault() { return std::exchange(fault_, {}); }
  /// Reason why the last attempt failed, as text. Empty without such a failure.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  /// Returns the keys once, after the handshake has completed.
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
