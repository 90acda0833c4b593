import type { WaitInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { MediaLeg } from '../../call/needs.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';

/** Interval after which the detector is restarted, in ms. It examines all audio since its start with each frame. */
const LISTEN_MS = 20_000;
/** Exceeds all measurements, so that words or silence never end the detection before a beep. */
const NEVER = 1_000_000;

/**
 * `Wait` (dialect §2.1): silence for a given time, or until the caller is silent or a beep is detected. The plain form
 * does not answer: as the first element, it delays the answer.
 */
export async function wait(
  instruction: WaitInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  const { lengthMs, untilSilenceMs, beep } = instruction;
  const { call, needs, signal } = context;
  if (untilSilenceMs === undefined && !beep) {
    await needs.clock.sleep(lengthMs, signal);
    return NEXT;
  }
  await context.ready();
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const ends: Promise<unknown>[] = [];
  try {
    if (untilSilenceMs !== undefined) {
      ends.push(call.media.waitForSilence(untilSilenceMs, lengthMs, until));
    }
    if (beep) ends.push(heardBeep(call.media, lengthMs, until));
    // Last: if the leg refuses to listen, no promise remains that rejects with the signal.
    ends.push(needs.clock.sleep(lengthMs, until));
    await Promise.race(ends);
  } finally {
    over.abort();
  }
  signal.throwIfAborted();
  return NEXT;
}

/** Resolves at a beep, otherwise never. Uses the detector for voicemail beeps. */
async function heardBeep(media: MediaLeg, lengthMs: number, until: AbortSignal): Promise<void> {
  const totalMs = Math.min(lengthMs, LISTEN_MS);
  for (;;) {
    const { reason } = await media.detectMachine(
      {
        totalMs,
        initialSilenceMs: NEVER,
        greetingMs: NEVER,
        adaptive: false,
        maximumWords: NEVER,
        maximumWordMs: NEVER,
      },
      until,
    );
    if (reason === 'beep') return;
    if (reason === 'ended' || until.aborted) return new Promise(() => undefined);
  }
}
