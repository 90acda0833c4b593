// Receiver of a media core's RTP packets that ignores RTCP and changes of addresses; base class for tests of
// RTP.
#pragma once

#include "core/base/events.hpp"

namespace carillon {

struct RtpSink : PacketSink {
  void send_rtcp(LegHandle, const Address&, Bytes) override {}
  void latched(LegHandle, const std::optional<Address>&) override {}
};

}  // namespace carillon
