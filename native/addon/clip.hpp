// Audio clips: passed once from JavaScript and then played by reference. Represented by an External and freed
// after the last use.
#pragma once

#include <napi.h>

#include "core/leg/player.hpp"

namespace carillon {

/// makeClip(bytes, rate, lineRate): converts little-endian int16 samples at any supported rate to a clip at
/// the leg's rate.
Napi::Value make_clip(const Napi::CallbackInfo& info);
/// Returns null if the value is not a clip.
AudioClip clip_of(const Napi::Value& value);

}  // namespace carillon
