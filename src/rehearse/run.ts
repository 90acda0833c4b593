/** Runs rehearsals with parallel callers and judges each call. */

import { type AgentNetwork, openNetwork } from '../agent/network.ts';
import { transcribe } from '../agent/pipeline/transcribe.ts';
import type { Clock } from '../base/clock.ts';
import type { EgressGuard } from '../base/egress.ts';
import type { Random } from '../base/ids.ts';
import { convertRate, l16Bytes } from '../phone/audio/wav.ts';
import { rehearsalStreams, runCall } from './call.ts';
import { RECORD_RATE_HZ } from './caller-line.ts';
import type { Observed } from './observed.ts';
import type { Rehearsal } from './rehearsal-file.ts';
import { judge, type Verdict } from './verdict.ts';
import { prepareVoices, type Voices } from './voices.ts';

export interface CallResult extends Verdict {
  readonly rehearsal: Rehearsal;
  /** Number of the caller, from 1. */
  readonly caller: number;
  readonly observed: Observed;
  /** Words of the bot; undefined without a recognizer. */
  readonly transcript: string | undefined;
}

export interface RunNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly egress: EgressGuard;
  progress(line: string): void;
  /** Called after each call, before its recording is released. */
  judged?(result: CallResult): void;
}

const RATES = [8000, 16_000];
const RECOGNIZER_RATE_HZ = 16_000;

/**
 * Runs all rehearsals in order; the callers of one rehearsal call in parallel. All audio is prepared first.
 *
 * @throws FileFaults if a caller's audio cannot be made
 */
export async function runRehearsals(
  rehearsals: readonly Rehearsal[],
  needs: RunNeeds,
): Promise<readonly CallResult[]> {
  const prepared = new Map<Rehearsal, ReadonlyMap<number, Voices>>();
  for (const rehearsal of rehearsals) prepared.set(rehearsal, await allVoices(rehearsal));
  const streams = rehearsalStreams(needs.clock, needs.egress);
  const network = openNetwork(needs.egress);
  const results: CallResult[] = [];
  try {
    for (const rehearsal of rehearsals) {
      needs.progress(`${rehearsal.title}: ${rehearsal.callers} caller(s)`);
      const voices = prepared.get(rehearsal);
      const calls = Array.from({ length: rehearsal.callers }, async (_, index) => {
        const observed = await runCall(rehearsal, index, {
          ...needs,
          streams,
          voices: (rate) => voices?.get(rate) ?? new Map(),
        });
        const transcript = await wordsOf(rehearsal, observed, network);
        const verdict = judge(rehearsal.expect, observed, transcript);
        const result = { rehearsal, caller: index + 1, observed, transcript, ...verdict };
        needs.judged?.(result);
        observed.forgetAudio();
        return result;
      });
      results.push(...(await Promise.all(calls)));
    }
  } finally {
    streams.stop();
    await network.close();
  }
  return results;
}

async function allVoices(rehearsal: Rehearsal): Promise<ReadonlyMap<number, Voices>> {
  const voices = new Map<number, Voices>();
  for (const rate of RATES) voices.set(rate, await prepareVoices(rehearsal, rate));
  return voices;
}

/** Transcribes the bot's audio. A failure of the recognizer is a fault of the call. */
async function wordsOf(
  { recognizer }: Rehearsal,
  observed: Observed,
  network: AgentNetwork,
): Promise<string | undefined> {
  if (recognizer === undefined) return undefined;
  const { bot } = observed.recording();
  const samples = convertRate({ rate: RECORD_RATE_HZ, samples: bot }, RECOGNIZER_RATE_HZ);
  const settings = { ...recognizer, type: 'http' as const };
  const { signal } = new AbortController();
  const words = await transcribe(settings, l16Bytes(samples), { network, signal });
  if (words.ok) return words.value;
  observed.faults.push(words.error);
  return undefined;
}
