// Audio handed over once and played by reference: an External in JavaScript, freed with its last user.
#pragma once

#include <napi.h>

#include "core/leg/player.hpp"

namespace carillon {

/// makeClip(bytes, rate, lineRate): little-endian int16 samples at any supported rate to a clip at the rate
/// of the leg that it is for.
Napi::Value make_clip(const Napi::CallbackInfo& info);
/// Nothing for anything that is not a clip.
AudioClip clip_of(const Napi::Value& value);

}  // namespace carillon
