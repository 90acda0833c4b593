import { unlessAborted } from '../../../base/abort.ts';
import type { DtmfInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { VerbContext } from '../needs.ts';
import { NEXT, type VerbOutcome } from '../outcome.ts';
import { keepPendingDigits } from '../pending-digits.ts';

/** Tone and gap of sent digits, in ms (dialect §6, send_digits). */
const TONE_MS = 160;
const GAP_MS = 80;

/**
 * `DTMF`: sends digits to the peer. With `async` (default) the next element starts immediately; a `Hangup` and the end
 * of the document wait for the last digit.
 */
export async function dtmf(
  instruction: DtmfInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  const { digits } = instruction;
  const sent = context.call.media.sendDigits(digits, {
    toneMs: TONE_MS,
    gapMs: GAP_MS,
    inband: false,
  });
  if (instruction.async) keepPendingDigits(context.call, sent);
  else await unlessAborted(context.signal, sent);
  return NEXT;
}
