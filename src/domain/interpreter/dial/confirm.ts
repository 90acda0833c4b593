import { unlessAborted } from '../../../base/abort.ts';
import type { DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { VerbContext } from '../needs.ts';
import { sayTo } from '../sound.ts';
import { playSoundUrl } from '../sound-url.ts';

/**
 * Asks the called party to accept the call. Plays confirmSound to its end. With confirmKey, the party must press that
 * key during the sound or within confirmTimeout. The first key decides (dialect §2.1: a wrong one is 9110).
 * `introduction` is a text to speak instead of the sound.
 */
export async function confirmed(
  leg: Call,
  instruction: DialInstruction,
  { needs, signal }: VerbContext,
  introduction?: string,
): Promise<boolean> {
  const { confirmSound: url, confirmKey: key, confirmTimeoutMs } = instruction;
  const over = new AbortController();
  const until = AbortSignal.any([signal, leg.signal, over.signal]);
  let release = (): void => undefined;
  const pressed = new Promise<string>((resolve) => {
    release = leg.digits.take(resolve);
  });
  const played: Promise<unknown> =
    url === undefined
      ? Promise.resolve()
      : playSoundUrl(
          { url, method: 'POST', event: 'ConfirmSound', own: [] },
          { call: leg, needs, signal: until, repeat: false },
        );
  const received: Promise<unknown> =
    introduction === undefined ? played : sayTo(leg, needs, introduction, { signal: until });
  try {
    if (key === undefined) {
      await unlessAborted(until, received);
      return true;
    }
    const tooLate = received.then(() => needs.clock.sleep(confirmTimeoutMs, until));
    const first = await unlessAborted(until, Promise.race([pressed, tooLate]));
    return first === key;
  } catch {
    // The called party or the caller has hung up.
    return false;
  } finally {
    release();
    over.abort(new Error('answered'));
  }
}
