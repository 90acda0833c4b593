/** Disclosure that the caller speaks with an automated assistant, before a bot's stream opens. */
import type { Call } from '../call/call.ts';
import type { VerbContext } from './needs.ts';
import { sayTo } from './sound.ts';

/** Times in microseconds at which the disclosure of a call was complete. */
const disclosed = new WeakMap<Call, number>();

/** Time at which the caller had heard the disclosure, in microseconds; undefined if not. */
export const disclosedAt = (call: Call): number | undefined => disclosed.get(call);

/** Speaks the text once. If it cannot be spoken, the call's log has a warning, and the call is not disclosed. */
export async function disclose(text: string, { call, needs, signal }: VerbContext): Promise<void> {
  const said = await sayTo(call, needs, text, { signal });
  if (!said) return;
  disclosed.set(call, call.nowUs());
  call.log.add('stream', 'disclosure played', { text });
}
