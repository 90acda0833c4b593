/** Plays hold music, if configured, to a party that the other side of a bridge holds. */
import type { Call } from '../call/call.ts';
import type { InterpreterNeeds } from './needs.ts';

/** Silence from the holder before music starts, in ms. A peer that holds with `sendonly` may send its own music. */
const SILENCE_MS = 400;
const LISTEN_AGAIN_MS = 30_000;

type HoldNeeds = Pick<InterpreterNeeds, 'holdMusic' | 'logger'>;

/** Watches both sides of a bridge. The returned function stops watching and playing. */
export function playWhileHeld(a: Call, b: Call, needs: HoldNeeds): () => void {
  const [byA, byB] = [new Hold(a, b, needs), new Hold(b, a, needs)];
  const follow = (): void => {
    byA.follow();
    byB.follow();
  };
  const events = { holds: follow };
  const [forgetA, forgetB] = [a.observe(events), b.observe(events)];
  follow();
  return () => {
    forgetA();
    forgetB();
    byA.stop();
    byB.stop();
  };
}

/** One side of the bridge as the holder. */
class Hold {
  readonly #holder: Call;
  readonly #held: Call;
  readonly #needs: HoldNeeds;
  #playing: AbortController | undefined;

  constructor(holder: Call, held: Call, needs: HoldNeeds) {
    this.#holder = holder;
    this.#held = held;
    this.#needs = needs;
  }

  follow(): void {
    const wanted = this.#holder.hold !== undefined && this.#held.hold === undefined;
    if (wanted === (this.#playing !== undefined)) return;
    this.stop();
    if (wanted) this.#play();
  }

  stop(): void {
    this.#playing?.abort();
    this.#playing = undefined;
  }

  #play(): void {
    this.#playing = new AbortController();
    const { signal } = this.#playing;
    play(this.#holder, this.#held, this.#needs, signal).catch((error: unknown) => {
      const callUuid = this.#held.uuid;
      if (!signal.aborted) this.#needs.logger.error({ error, callUuid }, 'hold music failed');
    });
  }
}

async function play(
  holder: Call,
  held: Call,
  { holdMusic }: HoldNeeds,
  signal: AbortSignal,
): Promise<void> {
  const music = await holdMusic(held.media.rate);
  if (music === undefined) return;
  let isSilent = holder.hold === 'inactive';
  // The media of a call that has ended answers without waiting.
  while (!isSilent && !signal.aborted && !holder.isEnded)
    isSilent = await holder.media.waitForSilence(SILENCE_MS, LISTEN_AGAIN_MS, signal);
  if (signal.aborted || holder.isEnded || held.isEnded) return;
  held.log.add('media', 'held', { by: holder.uuid });
  const playback = held.media.play(music, { loop: 0, mix: false });
  signal.addEventListener('abort', () => playback.stop(), { once: true });
  await playback.finished;
}
