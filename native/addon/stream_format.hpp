// Audio formats of streams by their protocol names.
#pragma once

#include "addon/arguments.hpp"
#include "core/stream/format.hpp"

namespace carillon {

inline StreamEncoding encoding_of(Argument argument) {
  return argument.choice<StreamEncoding>(
      {{"audio/x-l16", StreamEncoding::l16}, {"audio/x-mulaw", StreamEncoding::mulaw}});
}

/// Parses the format of audio sent by a bot.
inline StreamFormat playable_format(Argument encoding, Argument rate) {
  return {encoding_of(std::move(encoding)), rate.one_of({8000, 16000, 24000})};
}

}  // namespace carillon
