#include "core/leg/source_learner.hpp"

namespace carillon {

void SourceLearner::expect(const Address& signalled) {
  if (signalled == signalled_) return;
  signalled_ = signalled;
  locked_ = false;
  candidate_packets_ = 0;
  window_began_ = -1;
}

bool SourceLearner::consider(const Address& source, uint16_t sequence) {
  const bool follows = source == candidate_ && static_cast<uint16_t>(candidate_sequence_ + 1) == sequence;
  candidate_packets_ = follows ? candidate_packets_ + 1 : 1;
  candidate_ = source;
  candidate_sequence_ = sequence;
  return candidate_packets_ >= kPacketsToBelieve;
}

bool SourceLearner::accept(const Address& source, uint16_t sequence, Nanos now) {
  if (locked_) return source == learned_;
  if (window_began_ < 0) window_began_ = now;
  const bool believed =
      source == signalled_ || (now - window_began_ <= kWindow && consider(source, sequence));
  if (!believed) return false;
  locked_ = true;
  learned_ = source;
  return true;
}

}  // namespace carillon
