// EngineObject: what is played to a leg or a room, and the audio streams of a leg.
#include <algorithm>

#include "addon/addon_data.hpp"
#include "addon/arguments.hpp"
#include "addon/clip.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"
#include "addon/sockets_object.hpp"
#include "addon/stream_object.hpp"

namespace carillon {

namespace {

/// A tone as JavaScript describes it; what exceeds the limits of a ToneSpec is left out.
ToneSpec tone_of(const Napi::Object& object) {
  ToneSpec tone;
  tone.loop = Napi::Value(object.Get("loop")).ToBoolean();
  tone.level_dbm0 = Napi::Value(object.Get("levelDbm0")).ToNumber().DoubleValue();
  const Napi::Value steps = object.Get("steps");
  if (!steps.IsArray()) return tone;
  for (uint32_t i = 0; i < steps.As<Napi::Array>().Length(); ++i) {
    const Napi::Value item = steps.As<Napi::Array>().Get(i);
    if (!item.IsObject()) continue;
    const auto step = item.As<Napi::Object>();
    const Napi::Value list = step.Get("frequenciesHz");
    std::vector<double> frequencies;
    for (uint32_t k = 0; list.IsArray() && k < list.As<Napi::Array>().Length(); ++k) {
      frequencies.push_back(Napi::Value(list.As<Napi::Array>().Get(k)).ToNumber().DoubleValue());
    }
    const auto milliseconds = [&](const char* key) {
      return Napi::Value(step.Get(key)).ToNumber().Uint32Value();
    };
    static_cast<void>(tone.add(frequencies, milliseconds("onMs"), milliseconds("offMs")));
  }
  return tone;
}

/// (place, player, …, times, manner)
Player::Options player_options(const Napi::CallbackInfo& info) {
  return {u32_at(info, 1), u32_at(info, 3), static_cast<PlayManner>(std::min(u32_at(info, 4), 2U))};
}

}  // namespace

/// (place, player, clip, times, manner as in PlayManner)
Napi::Value EngineObject::play_clip(const Info& info) {
  const AudioClip clip = info.Length() > 2 ? clip_of(info[2]) : nullptr;
  if (!clip) return info.Env().Undefined();
  auto player = std::make_unique<Player>(player_options(info), clip);
  engine_->post(add_to_place(u32_at(info, 0), std::move(player)));
  return info.Env().Undefined();
}

/// (place, player, tone, times, manner), tone as in needs.ts
Napi::Value EngineObject::play_tone(const Info& info) {
  if (info.Length() < 3 || !info[2].IsObject()) return info.Env().Undefined();
  const ToneSpec tone = tone_of(info[2].As<Napi::Object>());
  auto player = std::make_unique<Player>(player_options(info), tone);
  engine_->post(add_to_place(u32_at(info, 0), std::move(player)));
  return info.Env().Undefined();
}

Napi::Value EngineObject::stop_player(const Info& info) {
  engine_->post([handle = u32_at(info, 0), player = u32_at(info, 1)](MediaLoop& loop) {
    with_place(loop, handle, [&](auto& place) {
      if (Player* const found = place.player(player)) found->stop();
    });
  });
  return info.Env().Undefined();
}

Napi::Value EngineObject::remove_player(const Info& info) {
  engine_->post([handle = u32_at(info, 0), player = u32_at(info, 1),
                 removed = std::unique_ptr<Player>()](MediaLoop& loop) mutable {
    with_place(loop, handle, [&](auto& place) { removed = place.remove_player(player); });
  });
  return info.Env().Undefined();
}

/// (leg, job, [character code or 0, on frames, off frames, …], inband)
Napi::Value EngineObject::send_digits(const Info& info) {
  auto job = std::make_unique<DigitJob>();
  job->handle = u32_at(info, 1);
  job->inband = bool_at(info, 3);
  if (info.Length() > 2 && info[2].IsArray()) {
    const auto steps = info[2].As<Napi::Array>();
    for (uint32_t i = 0; i + 2 < steps.Length(); i += 3) {
      const auto value = [&](uint32_t at) { return Napi::Value(steps.Get(at)).ToNumber().Uint32Value(); };
      job->steps.push_back({static_cast<char>(value(i)), static_cast<uint16_t>(value(i + 1)),
                            static_cast<uint16_t>(value(i + 2))});
    }
  }
  engine_->post(add_to_leg(u32_at(info, 0), std::move(job)));
  return info.Env().Undefined();
}

Napi::Value EngineObject::remove_digits(const Info& info) {
  engine_->post([handle = u32_at(info, 0), job = u32_at(info, 1),
                 removed = std::unique_ptr<DigitJob>()](MediaLoop& loop) mutable {
    if (Leg* const leg = loop.core().leg(handle)) removed = leg->remove_job(job);
  });
  return info.Env().Undefined();
}

// ---------------------------------------------------------------- streams

namespace {

/// The thread of the sockets that a `Sockets` object stands for.
std::shared_ptr<StreamThread> stream_thread_of(const Napi::Value& value) {
  if (!value.IsObject()) return nullptr;
  const auto object = value.As<Napi::Object>();
  if (!object.InstanceOf(value.Env().GetInstanceData<AddonData>()->sockets_constructor.Value()))
    return nullptr;
  return SocketsObject::Unwrap(object)->thread();
}

}  // namespace

std::shared_ptr<MediaFeed> EngineObject::feed_of(const std::shared_ptr<StreamThread>& sockets) {
  std::erase_if(feeds_, [](const auto& known) { return known.first.expired(); });
  for (const auto& [thread, feed] : feeds_) {
    if (thread.lock() == sockets) return feed;
  }
  auto feed = std::make_shared<SocketFeed>();
  feeds_.emplace_back(sockets, feed);
  sockets->post([feed](SocketLoop& loop) mutable { loop.add_feed(std::move(feed)); });
  return feed;
}

/// (leg, stream, streamId, encoding, rate, inbound, outbound, bidirectional, extraHeadersJson, queueMs,
/// epochMs, sockets, socket): the bot's end, or undefined when `sockets` is given: then that is the bot's
/// end.
Napi::Value EngineObject::open_stream(const Info& info) {
  AudioStreamConfig config;
  config.handle = u32_at(info, 1);
  config.stream_id = string_at(info, 2);
  config.format.encoding = u32_at(info, 3) == 0 ? StreamEncoding::l16 : StreamEncoding::mulaw;
  config.format.rate = i32_at(info, 4);
  config.inbound = bool_at(info, 5);
  config.outbound = bool_at(info, 6);
  const bool bidirectional = bool_at(info, 7);
  config.extra_headers_json = string_at(info, 8);
  config.epoch_ms = static_cast<int64_t>(number_at(info, 10));
  config.opened = engine_->now();

  const size_t queue_samples = bidirectional ? size_t{u32_at(info, 9)} * kSamplesPerMs : 0;
  auto queue = std::make_shared<PlaybackQueue>(queue_samples);
  auto input = std::make_unique<StreamInput>(config.stream_id, config.format, queue);
  const std::shared_ptr<StreamThread> sockets = info.Length() > 11 ? stream_thread_of(info[11]) : nullptr;
  if (sockets) {
    config.feed = feed_of(sockets);
    config.socket = u32_at(info, 12);
    if (bidirectional) {
      sockets->post([socket = config.socket, input = std::move(input)](SocketLoop& loop) mutable {
        if (StreamSocket* const found = loop.find(socket)) found->attach(std::move(input));
      });
    }
  }
  auto stream = std::make_unique<AudioStream>(config, bidirectional ? queue : nullptr);
  engine_->post(add_to_leg(u32_at(info, 0), std::move(stream)));
  return sockets ? info.Env().Undefined() : StreamObject::create(info.Env(), std::move(input));
}

Napi::Value EngineObject::pause_stream(const Info& info) {
  engine_->post(
      [handle = u32_at(info, 0), stream = u32_at(info, 1), paused = bool_at(info, 2)](MediaLoop& loop) {
        Leg* const leg = loop.core().leg(handle);
        AudioStream* const found = leg == nullptr ? nullptr : leg->stream(stream);
        if (found != nullptr) found->pause(paused);
      });
  return info.Env().Undefined();
}

Napi::Value EngineObject::close_stream(const Info& info) {
  engine_->post([handle = u32_at(info, 0), stream = u32_at(info, 1),
                 removed = std::unique_ptr<AudioStream>()](MediaLoop& loop) mutable {
    if (Leg* const leg = loop.core().leg(handle)) removed = leg->remove_stream(stream);
  });
  return info.Env().Undefined();
}

}  // namespace carillon
