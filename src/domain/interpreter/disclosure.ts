/** Disclosure that a party speaks with an automated assistant, before a bot's stream opens. */
import type { Call } from '../call/call.ts';
import type { VerbContext } from './needs.ts';
import { type SoundOptions, sayTo } from './sound.ts';

interface Disclosure {
  /** Time at which the party had heard it, in microseconds. */
  readonly atUs: number;
  readonly text: string;
}

const disclosed = new WeakMap<Call, Disclosure>();

/** Time at which the party had heard the disclosure, in microseconds; undefined if not. */
export const disclosedAt = (call: Call): number | undefined => disclosed.get(call)?.atUs;

/** Disclosure that the party has heard; undefined if none. */
export const disclosureOf = (call: Call): string | undefined => disclosed.get(call)?.text;

/** Speaks the text once. If it cannot be spoken, the call's log has a warning, and the call is not disclosed. */
export async function disclose(
  text: string,
  { call, needs, signal }: Pick<VerbContext, 'call' | 'needs' | 'signal'>,
  { mix = false }: Pick<SoundOptions, 'mix'> = {},
): Promise<void> {
  const said = await sayTo(call, needs, text, { signal, mix });
  if (!said) return;
  disclosed.set(call, { atUs: call.nowUs(), text });
  call.log.add('stream', 'disclosure played', { text });
}
