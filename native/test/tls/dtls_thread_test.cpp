// Tests the thread of the key exchange with the system's OpenSSL.
#include "tls/dtls_thread.hpp"

#include <doctest/doctest.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

#include "engine/socket_address.hpp"
#include "test/support/no_threads.hpp"

namespace carillon {

namespace {

constexpr int kPatienceMs = 10'000;
constexpr uint8_t kHandshake = 22;
const Address kHere = *parse_address("127.0.0.1", 0);

std::string text_of(BIO* bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  std::string out(text, static_cast<size_t>(size));
  BIO_free(bio);
  return out;
}

/// Returns a new self-signed certificate with its key.
std::shared_ptr<DtlsIdentity> new_identity() {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86'400);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  BIO* const written = BIO_new(BIO_s_mem());
  BIO* const written_key = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(written, certificate);
  PEM_write_bio_PrivateKey(written_key, key, nullptr, nullptr, 0, nullptr, nullptr);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return DtlsIdentity::read(text_of(written), text_of(written_key));
}

/// A leg that sends to a socket on loopback, and a key exchange that begins as client.
struct Rig {
  MediaEngine engine{MediaEngine::Drive::thread, kHere, [] {}};
  DtlsThread dtls{engine, MediaEngine::Drive::thread};
  UdpSocket peer;
  Address peer_address;
  LegHandle leg;
  DtlsTerms terms;

  Rig() {
    UdpSocket::Bound bound = UdpSocket::bind(kHere);
    REQUIRE(bound.error == 0);
    peer = std::move(bound.socket);
    sockaddr_storage name{};
    socklen_t length = sizeof(name);
    REQUIRE(::getsockname(peer.descriptor(), reinterpret_cast<sockaddr*>(&name), &length) == 0);
    peer_address = from_sockaddr(name);
    MediaEngine::Opened opened{{}, EADDRINUSE};
    for (uint16_t port = 42'000; opened.error == EADDRINUSE; port = static_cast<uint16_t>(port + 2)) {
      opened = engine.open_leg(port, {});
    }
    REQUIRE(opened.error == 0);
    leg = opened.handle;
    engine.at_leg(leg, [to = peer_address](MediaLoop& loop, LegHandle at) {
      LegRemote remote;
      remote.receive.source.signalled = to;
      if (Leg* const found = loop.core().leg(at)) found->configure(remote, loop.now());
    });
    terms.client = true;
    terms.peer.value.resize(32);
    dtls.use(new_identity());
  }
  ~Rig() { dtls.stop(); }
  /// Returns true if the first message of the key exchange reaches the peer.
  [[nodiscard]] bool begins() const {
    pollfd readable{peer.descriptor(), POLLIN, 0};
    std::array<uint8_t, 2000> bytes{};
    return ::poll(&readable, 1, kPatienceMs) == 1 &&
           ::recv(peer.descriptor(), bytes.data(), bytes.size(), 0) > 0 && bytes[0] == kHandshake;
  }
  /// Returns the reasons of failed key exchanges.
  std::vector<std::string> failures() {
    std::vector<uint8_t> batch(100'000);
    std::vector<std::string> out;
    const size_t bytes = engine.take_events(batch);
    for_each_record(std::span(batch).first(bytes), [&](const Record& record, std::span<uint8_t> payload) {
      if (record.type == static_cast<uint8_t>(EventType::secured))
        out.emplace_back(payload.begin(), payload.end());
    });
    return out;
  }
};

}  // namespace

TEST_SUITE("key exchange thread") {
  TEST_CASE("learns the address of a peer while others flood it with datagrams") {
    Rig rig;
    const std::vector<uint8_t> datagram(64, kHandshake);
    // The small ones fill the rest of the queue.
    for (const size_t size : {datagram.size(), size_t{1}}) {
      for (int i = 0; i < 10'000; ++i) rig.dtls.received(LegHandle(99), Bytes(datagram).first(size));
    }
    rig.dtls.reachable(rig.leg, rig.peer_address);
    rig.dtls.begin(rig.leg, rig.terms);
    CHECK(rig.begins());
  }

  TEST_CASE("a lack of threads ends only the calls that begin during it") {
    Rig rig;
    {
      const NoThreads none;
      rig.dtls.begin(rig.leg, rig.terms);
      CHECK(rig.dtls.share_port(kHere) == EAGAIN);
      CHECK(rig.dtls.shared_port() == 0);
    }
    std::vector<std::string> reasons;
    for (int i = 0; i < kPatienceMs && reasons.empty(); ++i) {
      reasons = rig.failures();
      ::poll(nullptr, 0, 1);
    }
    REQUIRE(reasons.size() == 1);
    CHECK(reasons[0].find("thread") != std::string::npos);
    rig.dtls.begin(rig.leg, rig.terms);
    rig.dtls.reachable(rig.leg, rig.peer_address);
    CHECK(rig.begins());
  }
}

}  // namespace carillon
