#include "engine/datagram_batch.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>

#include "engine/icmp_errors.hpp"
#include "engine/socket_address.hpp"

namespace carillon {

// Uninitialized, so that untouched pages use no physical memory.
DatagramBatch::DatagramBatch() : bytes_(new uint8_t[kMost * kMaxBytes]), places_{}, headers_{} {}

void DatagramBatch::count_losses(const UdpSocket& socket) {
  const int on = 1;
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));
}

size_t DatagramBatch::receive(const UdpSocket& socket) {
  for (size_t i = 0; i < kMost; ++i) {
    Place& place = places_[i];
    place.vector = {bytes_.get() + i * kMaxBytes, kMaxBytes};
    msghdr& header = headers_[i].msg_hdr;
    header.msg_iov = &place.vector;
    header.msg_iovlen = 1;
    header.msg_name = &place.source;
    header.msg_namelen = sizeof(place.source);
    header.msg_control = place.control.data();
    header.msg_controllen = place.control.size();
    header.msg_flags = 0;
  }
  const auto once = [&] {
    return ::recvmmsg(socket.descriptor(), headers_.data(), kMost, MSG_DONTWAIT, nullptr);
  };
  int count = once();
  // An ICMP error for an earlier datagram is reported once instead of the pending data, so retry once.
  if (count < 0 && IcmpErrors::may_be_anothers(errno)) count = once();
  if (count <= 0) return 0;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) read_control(i);
  return static_cast<size_t>(count);
}

Datagram DatagramBatch::datagram(size_t index) {
  const Place& place = places_[index];
  return {std::span(bytes_.get() + index * kMaxBytes, headers_[index].msg_len), from_sockaddr(place.source),
          place.arrived_wall};
}

void DatagramBatch::read_control(size_t index) {
  Place& place = places_[index];
  msghdr& header = headers_[index].msg_hdr;
  place.arrived_wall = Nanos();
  for (cmsghdr* reported = CMSG_FIRSTHDR(&header); reported != nullptr;
       reported = CMSG_NXTHDR(&header, reported)) {
    if (reported->cmsg_level != SOL_SOCKET) continue;
    if (reported->cmsg_type == SCM_TIMESTAMPNS) {
      timespec time{};
      std::memcpy(&time, CMSG_DATA(reported), sizeof(time));
      place.arrived_wall = time.tv_sec * kSecond + Nanos(time.tv_nsec);
    } else if (reported->cmsg_type == SO_RXQ_OVFL) {
      std::memcpy(&lost_, CMSG_DATA(reported), sizeof(lost_));
    }
  }
}

}  // namespace carillon
