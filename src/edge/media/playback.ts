import { assert } from '../../base/errors.ts';
import type { LineRate, Pcm, Playback, PlayOptions, Tone } from '../../domain/call/needs.ts';
import type { Hub } from './hub.ts';
import type { NativeClip, NativePlayManner, Place, PlayerHandle } from './native.ts';

/** Native limit (Leg::kMaxPlayers, Room::kMaxPlayers). */
const MAX_PLAYERS = 8;

/** Converted once for each rate, however often it is played. */
const clips = new WeakMap<Uint8Array, Map<LineRate, NativeClip>>();

function clipOf(hub: Hub, pcm: Pcm, lineRate: LineRate): NativeClip {
  const made = clips.get(pcm.samples) ?? new Map<LineRate, NativeClip>();
  clips.set(pcm.samples, made);
  const known = made.get(lineRate);
  if (known !== undefined) return known;
  const clip = hub.native.makeClip(pcm.samples, pcm.rate, lineRate);
  made.set(lineRate, clip);
  return clip;
}

function mannerOf({ mix, alone = false }: PlayOptions): NativePlayManner {
  if (mix) return 'mixed';
  return alone ? 'alone' : 'instead';
}

/** Everything that is being played in one place, a leg or a room. */
export class Players {
  readonly #hub: Hub;
  readonly #place: Place;
  readonly #rate: () => LineRate;
  /** Oldest first. */
  readonly #running = new Map<PlayerHandle, (how: 'completed' | 'stopped') => void>();

  /** `rate`: at which the place works now. */
  constructor(hub: Hub, place: Place, rate: () => LineRate) {
    this.#hub = hub;
    this.#place = place;
    this.#rate = rate;
  }

  play(pcm: Pcm, options: PlayOptions): Playback {
    const clip = clipOf(this.#hub, pcm, this.#rate());
    return this.#begin((player) =>
      this.#hub.engine.playClip({ ...this.#options(player, options), clip }),
    );
  }

  playTone(tone: Tone, options: PlayOptions): Playback {
    return this.#begin((player) =>
      this.#hub.engine.playTone({ ...this.#options(player, options), tone }),
    );
  }

  /** The place is going: everything ends as stopped. */
  close(): void {
    for (const finish of [...this.#running.values()]) finish('stopped');
  }

  #options(player: PlayerHandle, options: PlayOptions) {
    return { place: this.#place, player, times: options.loop, manner: mannerOf(options) };
  }

  #begin(start: (player: PlayerHandle) => void): Playback {
    // At the limit the oldest player is stopped in favour of the newest.
    const [oldest] = this.#running.values();
    if (this.#running.size >= MAX_PLAYERS && oldest !== undefined) oldest('stopped');
    assert(this.#running.size < MAX_PLAYERS, 'a player was stopped and yet runs');

    const player = this.#hub.newHandle<PlayerHandle>();
    const { promise, resolve } = Promise.withResolvers<'completed' | 'stopped'>();
    let stopping = false;
    const finish = (how: 'completed' | 'stopped'): void => {
      if (!this.#running.delete(player)) return;
      this.#hub.forget(player);
      this.#hub.engine.removePlayer(this.#place, player);
      resolve(how);
    };
    this.#running.set(player, finish);
    this.#hub.listen(player, () => finish(stopping ? 'stopped' : 'completed'));
    start(player);
    return {
      finished: promise,
      // The native player fades out within its next frame and then reports its end.
      stop: () => {
        if (stopping || !this.#running.has(player)) return;
        stopping = true;
        this.#hub.engine.stopPlayer(this.#place, player);
      },
    };
  }
}
