/** Plays music to a party that the other side of a bridge holds, where the operator has configured it. */
import type { Call } from '../call/call.ts';
import type { InterpreterNeeds } from './needs.ts';

/** A peer that holds with `sendonly` may send music of its own: ours begins after this time of silence. */
const SILENCE_MS = 400;
const LISTEN_AGAIN_MS = 30_000;

type HoldNeeds = Pick<InterpreterNeeds, 'holdMusic' | 'logger'>;

/** Watches both sides of a bridge; the function returned ends it, and what is playing. */
export function playWhileHeld(a: Call, b: Call, needs: HoldNeeds): () => void {
  const ends = [watch(a, b, needs), watch(b, a, needs)];
  return () => {
    for (const end of ends) end();
  };
}

function watch(holder: Call, held: Call, needs: HoldNeeds): () => void {
  let playing: AbortController | undefined;
  const follow = (): void => {
    const wanted = holder.hold !== undefined && held.hold === undefined;
    if (wanted === (playing !== undefined)) return;
    playing?.abort();
    playing = undefined;
    if (!wanted) return;
    playing = new AbortController();
    const { signal } = playing;
    play(holder, held, needs, signal).catch((error: unknown) => {
      if (!signal.aborted) needs.logger.error({ error, callUuid: held.uuid }, 'hold music failed');
    });
  };
  const undo = [holder.observe({ holds: follow }), held.observe({ holds: follow })];
  follow();
  return () => {
    for (const stop of undo) stop();
    playing?.abort();
    playing = undefined;
  };
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
  while (!isSilent && !signal.aborted)
    isSilent = await holder.media.waitForSilence(SILENCE_MS, LISTEN_AGAIN_MS, signal);
  if (signal.aborted || held.isEnded) return;
  held.log.add('media', 'held', { by: holder.uuid });
  const playback = held.media.play(music, { loop: 0, mix: false });
  signal.addEventListener('abort', () => playback.stop(), { once: true });
  await playback.finished;
}
