// Performs the DTLS handshakes of all legs on a separate thread. Media threads pass datagrams to it and
// receive keys. In manual mode there is no thread, and calls are processed immediately.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "core/ice/key_exchange.hpp"
#include "engine/file_descriptor.hpp"
#include "engine/ice_port.hpp"
#include "engine/media_engine.hpp"
#include "engine/record_ring.hpp"
#include "tls/dtls_session.hpp"

namespace carillon {

class DtlsThread final : public KeyExchange {
 public:
  /// Throws a std::system_error if descriptors are exhausted.
  DtlsThread(MediaEngine& engine, MediaEngine::Drive drive);
  ~DtlsThread() override;
  DtlsThread(const DtlsThread&) = delete;
  DtlsThread& operator=(const DtlsThread&) = delete;

  // --- control thread ---
  /// Sets our certificate. Call before the first begin().
  void use(std::shared_ptr<DtlsIdentity> identity);
  /// Starts a handshake. Unchanged terms have no effect.
  void begin(LegHandle leg, DtlsTerms terms);
  void end(LegHandle leg);
  void stop();
  /// Opens the port shared by legs with ICE. Call before opening legs. Returns an errno, or 0; EAGAIN also if
  /// the thread cannot start.
  int share_port(const Address& local);
  /// Number of the shared port. 0: not open.
  [[nodiscard]] uint16_t shared_port() const { return ice_port_ ? ice_port_->port() : uint16_t{0}; }
  /// Closes the shared port. Call after all media threads have stopped sending.
  void close_port() { ice_port_.reset(); }
  /// Assigns checks with this username fragment to the leg.
  void expect(LegHandle leg, const std::string& ufrag);

  // --- media thread ---
  void received(LegHandle leg, Bytes datagram) override;
  void reachable(LegHandle leg, const Address& peer) override;
  void unmet() override { ring(); }

 private:
  /// Size of the queue for handshake datagrams. If it is full, datagrams are dropped and the peer
  /// retransmits.
  static constexpr size_t kRingBytes = 256 * 1024;
  /// Part of the queue that datagrams leave free. An address is reported once, so it must always fit.
  static constexpr size_t kReservedForAddresses = kRingBytes / 4;
  /// Time limit for a handshake, after which the key exchange fails.
  static constexpr Nanos kPatience = 15 * kSecond;
  enum class Arrival : uint8_t { datagram, reachable };
  struct Begin {
    LegHandle leg;
    DtlsTerms terms;
  };
  struct Exchange {
    std::unique_ptr<DtlsSession> session;
    Nanos until{};
    bool reachable = false;
  };
  struct End {
    LegHandle leg;
  };
  struct Expect {
    LegHandle leg;
    std::string ufrag;
  };
  using Order = std::variant<Begin, End, Expect>;

  void order(Order order);
  void hand_over(Arrival what, LegHandle leg, Bytes datagram);
  void ring() const;
  void run();
  [[nodiscard]] int wait_ms() const;
  void take_orders();
  void take_arrivals();
  void time_out();
  void give_up(LegHandle leg, Exchange& exchange);
  void carry_out(const Begin& begin);
  void carry_out(const End& end);
  void carry_out(const Expect& expect);
  [[nodiscard]] int start();
  void wait();
  void deliver(LegHandle leg, const Datagram& datagram, std::shared_ptr<StreamPath> path);
  void attach(LegHandle leg, std::shared_ptr<UdpSocket> socket, const Address& peer);
  void arrived(Arrival what, LegHandle leg, Bytes datagram);
  void pass_on(LegHandle leg, DtlsSession& session);
  void report(LegHandle leg, std::string fault);

  MediaEngine& engine_;
  MediaEngine::Drive drive_;
  // Shared state.
  std::mutex mutex_;
  std::vector<Order> orders_;
  std::shared_ptr<DtlsIdentity> identity_;
  bool stopping_ = false;
  RecordRing arrivals_{kRingBytes};
  FileDescriptor bell_;
  std::unique_ptr<IcePort> ice_port_;
  // Thread state.
  std::map<uint32_t, Exchange> exchanges_;
  std::vector<uint8_t> batch_;
  std::vector<pollfd> descriptors_;
  std::thread thread_;
};

}  // namespace carillon
