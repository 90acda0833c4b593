import type { ConsentInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { keepConsent } from '../../call/types.ts';
import { endUnagreed } from '../kept-audio.ts';
import type { VerbContext } from '../needs.ts';
import { concludeAction, NEXT, type VerbOutcome } from '../outcome.ts';
import { speakTo } from '../sound.ts';
import { Keys } from './keys.ts';

const EVENT = 'Consent';

/** Reason why a party did not agree. */
type Refused = { readonly key: string | undefined; readonly reason: string };

/**
 * `Consent`, an addition to the dialect: asks the caller to agree with a key. Until the caller has agreed, its audio is
 * not recorded or streamed, for any call or client; a refusal ends the recordings and streams that are running.
 */
export async function consent(
  instruction: ConsentInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  const { call, needs } = context;
  keepConsent(call, 'pending');
  const refused = await ask(instruction, context).catch((error: unknown) => {
    // A transfer replaced the document before the answer.
    if (!call.isEnded) endUnagreed(call, needs);
    throw error;
  });
  keepConsent(call, refused === undefined ? 'given' : 'refused');
  if (refused === undefined) call.log.add('call', 'consent given', { key: instruction.key });
  else {
    call.log.add('call', 'consent refused', { ...refused });
    endUnagreed(call, needs);
  }
  const { action: url, method, redirect, onRefusal } = instruction;
  if (url !== undefined) {
    return concludeAction(context, { url, method, redirect }, EVENT, [
      ['ConsentStatus', refused === undefined ? 'given' : 'refused'],
      ['ConsentReason', refused?.reason ?? ''],
    ]);
  }
  return refused === undefined || onRefusal === 'continue'
    ? NEXT
    : { kind: 'hangup', cause: 'normal', source: 'Answer XML', detail: 'consent refused' };
}

/** Returns undefined if the caller pressed the key of the instruction. */
async function ask(
  { key, timeoutMs, ...request }: ConsentInstruction,
  context: VerbContext,
): Promise<Refused | undefined> {
  const { call, needs, signal } = context;
  // Keys pressed before the question are no answer to it.
  const keys = new Keys(call.digits, { wanted: true, ahead: false });
  const over = new AbortController();
  const stop = keys.onPress(() => over.abort());
  const { text, ssml, voice, language } = request;
  try {
    const until = AbortSignal.any([signal, over.signal]);
    const isSpoken = await speakTo(
      call,
      needs,
      { text, ssml, voice, language },
      { signal: until },
    ).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return true;
    });
    if (!isSpoken) return { key: undefined, reason: 'the question could not be spoken' };
    const pressed = await keys.next(needs.clock, timeoutMs, signal);
    if (pressed === key) return undefined;
    return { key: pressed, reason: pressed === undefined ? 'no key' : 'another key' };
  } finally {
    stop();
    keys.release();
  }
}
