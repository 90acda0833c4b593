// EngineObject: playback to a leg or a room, and audio streams of a leg.
#include <array>

#include "addon/addon_data.hpp"
#include "addon/arguments.hpp"
#include "addon/clip.hpp"
#include "addon/engine_object.hpp"
#include "addon/places.hpp"
#include "addon/sockets_object.hpp"
#include "addon/speex.hpp"
#include "addon/stream_format.hpp"
#include "addon/stream_object.hpp"

namespace carillon {

namespace {

constexpr double kMaxHz = 4000;  // within the bandwidth of every codec

ToneSpec tone_of(Arguments& args, Fields tone) {
  ToneSpec spec;
  spec.loop = tone["loop"].boolean();
  spec.level_dbm0 = tone["levelDbm0"].number(-100, 3.17);
  for (Argument& item : tone["steps"].list()) {
    Fields step = item.fields();
    std::vector<double> frequencies;
    for (Argument& hz : step["frequenciesHz"].list()) frequencies.push_back(hz.number(0, kMaxHz));
    const uint32_t on_ms = step["onMs"].u32();
    if (!spec.add(frequencies, on_ms, step["offMs"].u32()))
      args.fault("tone has too many steps or frequencies");
  }
  return spec;
}

struct PlayTarget {
  PlaceHandle place;
  Player::Options options;
};

PlayTarget target_of(Fields& fields) {
  const auto place = fields["place"].handle<PlaceHandle>();
  const auto player = fields["player"].handle<PlayerHandle>();
  const uint32_t times = fields["times"].u32();
  using Manner = PlayManner;
  return {place,
          {player, times,
           fields["manner"].choice<Manner>(
               {{"instead", Manner::instead}, {"mixed", Manner::mixed}, {"alone", Manner::alone}})}};
}

}  // namespace

/// ({ place, player, times, manner, clip })
Napi::Value EngineObject::play_clip(const Info& info) {
  Arguments args(info, "playClip");
  Fields fields = args.fields(0);
  const auto [place, options] = target_of(fields);
  Argument given = fields["clip"];
  const AudioClip clip = clip_of(given.value());
  if (!clip) given.wrong("a clip");
  if (!fields.good()) return info.Env().Undefined();
  engine_->at_place(place, add_to_place(std::make_unique<Player>(options, clip)));
  return info.Env().Undefined();
}

/// ({ place, player, times, manner, tone }); `tone` as in needs.ts
Napi::Value EngineObject::play_tone(const Info& info) {
  Arguments args(info, "playTone");
  Fields fields = args.fields(0);
  const auto [place, options] = target_of(fields);
  const ToneSpec tone = tone_of(args, fields["tone"].fields());
  if (!fields.good()) return info.Env().Undefined();
  engine_->at_place(place, add_to_place(std::make_unique<Player>(options, tone)));
  return info.Env().Undefined();
}

Napi::Value EngineObject::stop_player(const Info& info) {
  Arguments args(info, "stopPlayer");
  const auto handle = args.at(0, "place").handle<PlaceHandle>();
  const auto player = args.at(1, "player").handle<PlayerHandle>();
  if (!args.good()) return info.Env().Undefined();
  engine_->at_place(handle, [player](MediaLoop& loop, PlaceHandle at) {
    with_place(loop, at, [&](auto& place) {
      if (Player* const found = place.player(player)) found->stop();
    });
  });
  return info.Env().Undefined();
}

Napi::Value EngineObject::remove_player(const Info& info) {
  Arguments args(info, "removePlayer");
  const auto handle = args.at(0, "place").handle<PlaceHandle>();
  const auto player = args.at(1, "player").handle<PlayerHandle>();
  if (!args.good()) return info.Env().Undefined();
  engine_->at_place(handle,
                    remove_from_place<Player>([player](auto& place) { return place.remove_player(player); }));
  return info.Env().Undefined();
}

/// ({ leg, job, inband, steps: [{ digit, onFrames, offFrames }, …] }); a step without a digit is a pause.
Napi::Value EngineObject::send_digits(const Info& info) {
  Arguments args(info, "sendDigits");
  Fields fields = args.fields(0);
  const auto leg = fields["leg"].handle<LegHandle>();
  auto job = std::make_unique<DigitJob>();
  job->handle = fields["job"].handle<JobHandle>();
  job->inband = fields["inband"].boolean();
  for (Argument& item : fields["steps"].list()) {
    Fields step = item.fields();
    Argument digit = step["digit"];
    const std::string text = digit.given() ? digit.text() : "";
    const bool known = text.size() == 1 && event_of_digit(text[0]).has_value();
    if (digit.given() && !known) digit.wrong("one of 0-9, *, #, A-D");
    const uint16_t on_frames = step["onFrames"].u16();
    job->steps.push_back({known ? text[0] : '\0', on_frames, step["offFrames"].u16()});
  }
  if (!fields.good()) return info.Env().Undefined();
  engine_->at_leg(leg, add_to_leg(std::move(job)));
  return info.Env().Undefined();
}

Napi::Value EngineObject::remove_digits(const Info& info) {
  Arguments args(info, "removeDigits");
  const auto handle = args.at(0, "leg").handle<LegHandle>();
  const auto job = args.at(1, "job").handle<JobHandle>();
  if (!args.good()) return info.Env().Undefined();
  engine_->at_leg(handle, remove_from_leg<DigitJob>([job](Leg& leg) { return leg.remove_job(job); }));
  return info.Env().Undefined();
}

// ---------------------------------------------------------------- streams

namespace {

/// Maximum queue length, one hour: larger than any setting, but limits memory.
constexpr int64_t kMaxQueueMs = 3'600'000;

/// ({ noise, echo, gain }), or undefined.
std::unique_ptr<AudioCleaner> cleaner_of(Argument given, int rate) {
  if (!given.given()) return nullptr;
  Fields fields = given.fields();
  speex::Options options;
  options.noise = fields["noise"].boolean();
  options.echo = fields["echo"].boolean();
  options.gain = fields["gain"].boolean();
  return speex::make_cleaner(options, SampleRate(rate));
}

/// ({ sensitivity, minimumMs, endMs, bargeIn }), or undefined without speech detection.
void read_speech(Argument given, AudioStreamConfig& config) {
  if (!given.given()) return;
  Fields fields = given.fields();
  SpeechDetector::Options options;
  options.sensitivity = static_cast<uint32_t>(fields["sensitivity"].integer(0, 100));
  options.minimum_ms = static_cast<uint32_t>(fields["minimumMs"].integer(20, 1000));
  options.end_ms = static_cast<uint32_t>(fields["endMs"].integer(200, 5000));
  config.barge_in = fields["bargeIn"].choice<BargeIn>(
      {{"none", BargeIn::none}, {"duck", BargeIn::duck}, {"clear", BargeIn::clear}});
  config.speech = options;
}

/// Returns null if the value is not a `Sockets` object.
const SocketsObject* sockets_of(const Napi::Value& value) {
  if (!value.IsObject()) return nullptr;
  const auto object = value.As<Napi::Object>();
  if (!object.InstanceOf(value.Env().GetInstanceData<AddonData>()->sockets_constructor.Value()))
    return nullptr;
  return SocketsObject::Unwrap(object);
}

}  // namespace

/// (stream): position at the last clear as [clears, playedMs, message, messagePlayedMs, messageMs,
/// discardedMs], or undefined for an unknown or one-way stream.
Napi::Value EngineObject::cleared_at(const Info& info) {
  Arguments args(info, "clearedAt");
  const auto stream = args.at(0, "stream").handle<StreamHandle>();
  if (!args.good()) return info.Env().Undefined();
  const auto found = queues_.find(stream);
  if (found == queues_.end()) return info.Env().Undefined();
  const PlayPosition at = found->second->cleared_at();
  const std::array numbers{at.clears,     at.played_ms,   at.message, at.message_played_ms,
                           at.message_ms, at.discarded_ms};
  Napi::Array list = Napi::Array::New(info.Env(), numbers.size());
  for (uint32_t i = 0; i < numbers.size(); ++i) list.Set(i, Napi::Number::New(info.Env(), numbers[i]));
  return list;
}

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

/// ({ leg, stream, streamId, encoding, rate, tracks, bidirectional, extraHeadersJson, queueMs, epochMs,
/// speech?, clean?, sockets?, socket? }): the bot's side of the stream, or undefined if `sockets` is given,
/// which then takes that role.
Napi::Value EngineObject::open_stream(const Info& info) {
  Arguments args(info, "openStream");
  Fields fields = args.fields(0);
  const auto leg = fields["leg"].handle<LegHandle>();
  AudioStreamConfig config;
  config.handle = fields["stream"].handle<StreamHandle>();
  config.stream_id = fields["streamId"].text();
  config.format.encoding = encoding_of(fields["encoding"]);
  config.format.rate = fields["rate"].one_of({8000, 16000});
  enum class Tracks : uint8_t { inbound, outbound, both };
  const auto tracks = fields["tracks"].choice<Tracks>(
      {{"inbound", Tracks::inbound}, {"outbound", Tracks::outbound}, {"both", Tracks::both}});
  config.inbound = tracks != Tracks::outbound;
  config.outbound = tracks != Tracks::inbound;
  const bool bidirectional = fields["bidirectional"].boolean();
  config.extra_headers_json = fields["extraHeadersJson"].text();
  const auto queue_ms = static_cast<size_t>(fields["queueMs"].integer(0, kMaxQueueMs));
  config.epoch_ms = static_cast<int64_t>(fields["epochMs"].number(0, 1e15));
  config.opened = engine_->now();
  read_speech(fields["speech"], config);
  std::unique_ptr<AudioCleaner> cleaner = cleaner_of(fields["clean"], config.format.rate);
  Argument given = fields["sockets"];
  const SocketsObject* const object = sockets_of(given.value());
  if (given.given() && object == nullptr) given.wrong("a Sockets object");
  Argument socket = fields["socket"];
  std::shared_ptr<StreamThread> sockets;
  if (object != nullptr) {
    config.socket = socket.handle<SocketHandle>();
    sockets = object->thread_of(config.socket);
  }
  if (!fields.good()) return info.Env().Undefined();

  const SampleRate rate = sessions_.rate(leg);
  const size_t queue_samples = bidirectional ? queue_ms * static_cast<size_t>(rate.per_ms()) : 0;
  auto queue = std::make_shared<PlaybackQueue>(rate, queue_samples);
  auto input = std::make_unique<StreamInput>(config.stream_id, config.format, queue);
  if (sockets) {
    config.feed = feed_of(sockets);
    if (bidirectional) {
      sockets->post([socket = config.socket, input = std::move(input)](SocketLoop& loop) mutable {
        if (StreamSocket* const found = loop.find(socket.value())) found->attach(std::move(input));
      });
    }
  }
  sessions_.opened(leg, config.handle);
  if (bidirectional) queues_.emplace(config.handle, queue);
  auto stream = std::make_unique<AudioStream>(config, make_decoder(sessions_.spec(leg)),
                                              bidirectional ? queue : nullptr);
  stream->clean_with(std::move(cleaner));
  engine_->at_leg(leg, add_to_leg(std::move(stream)));
  return sockets ? info.Env().Undefined() : StreamObject::create(info.Env(), std::move(input));
}

Napi::Value EngineObject::pause_stream(const Info& info) {
  Arguments args(info, "pauseStream");
  const auto handle = args.at(0, "leg").handle<LegHandle>();
  const auto stream = args.at(1, "stream").handle<StreamHandle>();
  const bool paused = args.at(2, "paused").boolean();
  if (!args.good()) return info.Env().Undefined();
  engine_->at_leg(handle, [stream, paused](MediaLoop& loop, LegHandle at) {
    with_leg(loop, at, [&](Leg& leg) {
      if (AudioStream* const found = leg.stream(stream)) found->pause(paused);
    });
  });
  return info.Env().Undefined();
}

Napi::Value EngineObject::close_stream(const Info& info) {
  Arguments args(info, "closeStream");
  const auto handle = args.at(0, "leg").handle<LegHandle>();
  const auto stream = args.at(1, "stream").handle<StreamHandle>();
  if (!args.good()) return info.Env().Undefined();
  sessions_.closed(handle, stream);
  queues_.erase(stream);
  engine_->at_leg(handle,
                  [stream, removed = std::unique_ptr<AudioStream>()](MediaLoop& loop, LegHandle at) mutable {
                    with_leg(loop, at, [&](Leg& leg) { removed = leg.remove_stream(stream); });
                  });
  return info.Env().Undefined();
}

}  // namespace carillon
