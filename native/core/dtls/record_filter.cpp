#include "core/dtls/record_filter.hpp"

#include <algorithm>
#include <memory>
#include <span>

namespace carillon {

namespace {

constexpr size_t kRecordHeader = 13;
constexpr size_t kFragmentHeader = 12;
/// Maximum record content in bytes. Encryption adds up to 2048 (RFC 6347 §4.1, RFC 5246 §6.2).
constexpr size_t kMaxPlain = 16'384;
constexpr size_t kMaxEncrypted = kMaxPlain + 2048;
/// Minimum encrypted size: the tag of any supported suite and one octet of content.
constexpr size_t kMinEncrypted = 17;
constexpr uint8_t kVersionMajor = 0xfe;
constexpr uint8_t kDtls10 = 0xff;
constexpr uint8_t kDtls12 = 0xfd;

namespace content {
constexpr uint8_t kChangeCipherSpec = 20;
constexpr uint8_t kAlert = 21;
constexpr uint8_t kHandshake = 22;
constexpr uint8_t kApplicationData = 23;
}  // namespace content

namespace message {
constexpr uint8_t kClientHello = 1;
constexpr uint8_t kServerHello = 2;
constexpr uint8_t kHelloVerify = 3;
constexpr uint8_t kCertificate = 11;
constexpr uint8_t kServerKeyExchange = 12;
constexpr uint8_t kCertificateRequest = 13;
constexpr uint8_t kServerHelloDone = 14;
constexpr uint8_t kCertificateVerify = 15;
constexpr uint8_t kClientKeyExchange = 16;
}  // namespace message

/// Reads a message from its beginning. After a read beyond the end, all further reads fail.
class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}
  size_t number(size_t octets) {
    size_t value = 0;
    for (const uint8_t octet : take(octets)) value = value << 8 | octet;
    return value;
  }
  /// Reads a vector with a length prefix of `octets` octets.
  Bytes vector(size_t octets) { return take(number(octets)); }
  Bytes take(size_t size) {
    good_ = good_ && size <= rest_.size();
    if (!good_) return {};
    const Bytes taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] bool good() const { return good_; }
  /// Returns true if all reads succeeded and no data is left.
  [[nodiscard]] bool complete() const { return good_ && rest_.empty(); }

 private:
  Bytes rest_;
  bool good_ = true;
};

constexpr size_t kRandom = 32;
constexpr size_t kMaxSessionId = 32;
constexpr uint8_t kNamedCurve = 3;

bool is_version(Bytes version) {
  return version.size() == 2 && version[0] == kVersionMajor && version[1] >= kDtls12;
}

/// Returns true if the rest is empty or a list of extensions (RFC 5246 §7.4.1.4).
bool ends_with_extensions(Reader& reader) {
  if (!reader.good()) return false;
  if (reader.empty()) return true;
  Reader extensions(reader.vector(2));
  while (extensions.good() && !extensions.empty()) {
    extensions.take(2);
    extensions.vector(2);
  }
  return extensions.good() && reader.complete();
}

bool is_client_hello(Reader reader) {
  const bool version = is_version(reader.take(2));
  reader.take(kRandom);
  const size_t session = reader.vector(1).size();
  reader.vector(1);  // cookie
  const size_t suites = reader.vector(2).size();
  const Bytes compressions = reader.vector(1);
  return version && session <= kMaxSessionId && suites >= 2 && suites % 2 == 0 &&
         std::ranges::find(compressions, 0) != compressions.end() && ends_with_extensions(reader);
}

bool is_server_hello(Reader reader) {
  const bool version = is_version(reader.take(2));
  reader.take(kRandom);
  const size_t session = reader.vector(1).size();
  reader.take(2);  // cipher suite
  const bool uncompressed = reader.number(1) == 0;
  return version && session <= kMaxSessionId && uncompressed && ends_with_extensions(reader);
}

bool is_hello_verify(Reader reader) {
  const bool version = is_version(reader.take(2));
  return !reader.vector(1).empty() && version && reader.complete();
}

bool is_certificate(Reader reader) {
  Reader certificates(reader.vector(3));
  while (certificates.good() && !certificates.empty()) {
    if (certificates.vector(3).empty()) return false;
  }
  return certificates.good() && reader.complete();
}

bool is_signature(Reader& reader) {
  reader.take(2);  // algorithm
  return !reader.vector(2).empty() && reader.complete();
}

bool is_server_key_exchange(Reader reader) {
  const bool named = reader.number(1) == kNamedCurve;
  reader.take(2);
  return !reader.vector(1).empty() && named && is_signature(reader);
}

bool is_certificate_request(Reader reader) {
  const bool types = !reader.vector(1).empty();
  const size_t algorithms = reader.vector(2).size();
  reader.vector(2);  // authorities
  return types && algorithms >= 2 && algorithms % 2 == 0 && reader.complete();
}

bool is_client_key_exchange(Reader reader) { return !reader.vector(1).empty() && reader.complete(); }

/// Returns true if the complete message is well-formed for its type.
bool is_well_formed(uint8_t type, Bytes body) {
  Reader reader(body);
  switch (type) {
    case message::kClientHello:
      return is_client_hello(reader);
    case message::kServerHello:
      return is_server_hello(reader);
    case message::kHelloVerify:
      return is_hello_verify(reader);
    case message::kCertificate:
      return is_certificate(reader);
    case message::kServerKeyExchange:
      return is_server_key_exchange(reader);
    case message::kCertificateRequest:
      return is_certificate_request(reader);
    case message::kServerHelloDone:
      return body.empty();
    case message::kCertificateVerify:
      return is_signature(reader);
    case message::kClientKeyExchange:
      return is_client_key_exchange(reader);
    default:
      return false;
  }
}

/// Range of possible positions of a message within the messages of its side. A server that requests a cookie
/// also counts its HelloVerifyRequest.
struct Places {
  uint8_t type;
  uint16_t first;
  uint16_t last;
};

constexpr Places kServerPlaces[] = {
    {message::kHelloVerify, 0, 2},        {message::kServerHello, 0, 3},
    {message::kCertificate, 1, 4},        {message::kServerKeyExchange, 2, 5},
    {message::kCertificateRequest, 3, 6}, {message::kServerHelloDone, 3, 7},
};

/// We request a certificate but no cookie, so the order is fixed.
constexpr Places kClientPlaces[] = {
    {message::kClientHello, 0, 0},
    {message::kCertificate, 1, 1},
    {message::kClientKeyExchange, 2, 2},
    {message::kCertificateVerify, 3, 3},
};

/// Returns the places of the type, or null if the side does not send it in epoch 0.
const Places* places_of(std::span<const Places> side, uint8_t type) {
  const auto found = std::ranges::find(side, type, &Places::type);
  return found == side.end() ? nullptr : std::to_address(found);
}

}  // namespace

std::vector<uint8_t> RecordFilter::accepted(Bytes datagram) {
  std::vector<uint8_t> out;
  while (datagram.size() >= kRecordHeader) {
    const size_t size = kRecordHeader + read_u16(datagram, kRecordHeader - 2);
    if (size > datagram.size()) break;
    const Bytes record = datagram.first(size);
    if (accepts(record)) out.insert(out.end(), record.begin(), record.end());
    datagram = datagram.subspan(size);
  }
  return out;
}

bool RecordFilter::accepts(Bytes record) {
  if (record[1] != kVersionMajor || (record[2] != kDtls10 && record[2] != kDtls12)) return false;
  const uint16_t epoch = read_u16(record, 3);
  const Bytes body = record.subspan(kRecordHeader);
  if (epoch == 1) {
    const bool known = record[0] >= content::kAlert && record[0] <= content::kApplicationData;
    return known && body.size() >= kMinEncrypted && body.size() <= kMaxEncrypted;
  }
  // Without renegotiation there is no later epoch. Alerts and data in epoch 0 could be forged.
  if (epoch != 0 || secured_ || body.size() > kMaxPlain) return false;
  if (record[0] == content::kChangeCipherSpec) return body.size() == 1 && body[0] == 1;
  return record[0] == content::kHandshake && accepts_handshake(body);
}

bool RecordFilter::accepts_handshake(Bytes fragments) {
  if (fragments.empty()) return false;
  while (!fragments.empty()) {
    if (fragments.size() < kFragmentHeader) return false;
    Reader header(fragments.first(kFragmentHeader));
    Fragment fragment;
    fragment.type = static_cast<uint8_t>(header.number(1));
    fragment.length = header.number(3);
    fragment.message = static_cast<uint16_t>(header.number(2));
    fragment.offset = header.number(3);
    const size_t size = header.number(3);
    if (size > fragments.size() - kFragmentHeader) return false;
    fragment.body = fragments.subspan(kFragmentHeader, size);
    if (!accepts(fragment)) return false;
    fragments = fragments.subspan(kFragmentHeader + size);
  }
  return true;
}

bool RecordFilter::is_expected(const Fragment& fragment) const {
  const Places* places =
      places_of(client_ ? std::span<const Places>(kServerPlaces) : kClientPlaces, fragment.type);
  if (!places || fragment.message < places->first || fragment.message > places->last) return false;
  if (fragment.length > kMaxPlain || fragment.offset + fragment.body.size() > fragment.length) return false;
  // An empty fragment of a non-empty message carries no information.
  if (fragment.body.empty() != (fragment.length == 0)) return false;
  const Known& known = known_[fragment.message];
  return known.type == 0 || (known.type == fragment.type && known.length == fragment.length);
}

bool RecordFilter::accepts(const Fragment& fragment) {
  if (!is_expected(fragment)) return false;
  const bool whole = fragment.body.size() == fragment.length;
  if (whole && !is_well_formed(fragment.type, fragment.body)) return false;
  // The ServerHello can have the same position as the preceding HelloVerifyRequest.
  if (fragment.type == message::kHelloVerify) return ++hello_verifies_ <= kMaxHelloVerifies;
  known_[fragment.message] = {fragment.type, fragment.length};
  return true;
}

}  // namespace carillon
