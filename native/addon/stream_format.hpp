// The audio formats of streams under the names that they have in the protocol.
#pragma once

#include "addon/arguments.hpp"
#include "core/stream/format.hpp"

namespace carillon {

inline StreamEncoding encoding_of(Argument argument) {
  return argument.choice<StreamEncoding>(
      {{"audio/x-l16", StreamEncoding::l16}, {"audio/x-mulaw", StreamEncoding::mulaw}});
}

/// Of audio that a bot sends.
inline StreamFormat playable_format(Argument encoding, Argument rate) {
  return {encoding_of(std::move(encoding)), rate.one_of({8000, 16000, 24000})};
}

}  // namespace carillon
