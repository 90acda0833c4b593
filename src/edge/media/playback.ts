import { assert } from '../../base/errors.ts';
import type { Pcm, Playback, PlayOptions, Tone } from '../../domain/call/needs.ts';
import type { Hub } from './hub.ts';
import type { NativeClip, NativePlayManner, Place, PlayerHandle } from './native.ts';

/** Native limit of players (Leg::kMaxPlayers, Room::kMaxPlayers). */
const MAX_PLAYERS = 8;

/** Native copies of clips, created once and reused for each playback. */
const clips = new WeakMap<Uint8Array, NativeClip>();

/**
 * Native clip at its original rate, usually that of the listener. Otherwise it is converted frame by frame during
 * playback.
 */
function clipOf(hub: Hub, { samples, rate }: Pcm): NativeClip {
  const known = clips.get(samples);
  if (known !== undefined) return known;
  const clip = hub.native.makeClip(samples, rate, rate === 44_100 ? 48_000 : rate);
  clips.set(samples, clip);
  return clip;
}

function mannerOf({ mix, alone = false }: PlayOptions): NativePlayManner {
  if (mix) return 'mixed';
  return alone ? 'alone' : 'instead';
}

/** All active players of a leg or a room. */
export class Players {
  readonly #hub: Hub;
  readonly #place: Place;
  /** Active players, oldest first. */
  readonly #running = new Map<PlayerHandle, (how: 'completed' | 'stopped') => void>();

  constructor(hub: Hub, place: Place) {
    this.#hub = hub;
    this.#place = place;
  }

  play(pcm: Pcm, options: PlayOptions): Playback {
    const clip = clipOf(this.#hub, pcm);
    return this.#begin((player) =>
      this.#hub.engine.playClip({ ...this.#options(player, options), clip }),
    );
  }

  playTone(tone: Tone, options: PlayOptions): Playback {
    return this.#begin((player) =>
      this.#hub.engine.playTone({ ...this.#options(player, options), tone }),
    );
  }

  /** Stops all players, because the leg or room closes. */
  close(): void {
    for (const finish of [...this.#running.values()]) finish('stopped');
  }

  #options(player: PlayerHandle, options: PlayOptions) {
    return { place: this.#place, player, times: options.loop, manner: mannerOf(options) };
  }

  #begin(start: (player: PlayerHandle) => void): Playback {
    // At the limit, the oldest player is stopped for the new one.
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
      // The native player fades out in its next frame and then reports its end.
      stop: () => {
        if (stopping || !this.#running.has(player)) return;
        stopping = true;
        this.#hub.engine.stopPlayer(this.#place, player);
      },
    };
  }
}
