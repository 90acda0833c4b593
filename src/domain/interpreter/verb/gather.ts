import { assertNever } from '../../../base/errors.ts';
import type {
  GatherInstruction,
  PromptInstruction,
} from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import type { VerbContext } from '../needs.ts';
import { concludeAction, NEXT, type VerbOutcome } from '../outcome.ts';
import { playTo, toneTo } from '../sound.ts';
import { BEEP } from '../tones.ts';
import { Keys } from './keys.ts';
import { play } from './play.ts';
import { speak } from './speak.ts';
import { wait } from './wait.ts';

/** Why prompts stop: the caller does not need to hear them out. */
class BargeIn extends Error {}

/**
 * `GetDigits`, `GetInput`, `Gather` (dialect §2.1): plays prompts until the first key (with `typeAhead` also one that was
 * pressed before), then reads keys until there are enough, one of `finishOnKey`, or a pause. Input with a key that is not
 * valid counts as an attempt without result. There is no speech recognition; the log says so where speech is asked for.
 */
export async function gather(
  instruction: GatherInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  const { call } = context;
  await context.ready();
  if (instruction.acceptsSpeech) {
    call.log.add('warning', 'speech recognition is not available: speech counts as no input', {
      line: instruction.line,
    });
  }
  const keys = new Keys(call.digits, {
    wanted: instruction.acceptsDigits,
    ahead: instruction.typeAhead,
  });
  try {
    for (let attempt = 1; attempt <= instruction.attempts; attempt += 1) {
      await prompt(instruction, context, keys);
      const digits = await readDigits(instruction, context, keys);
      note(call, instruction, digits);
      if (digits === '') continue;
      if (isValid(digits, instruction)) return conclude(instruction, context, digits);
      await refuse(instruction, context, attempt < instruction.attempts ? keys : undefined);
    }
  } finally {
    keys.release();
  }
  return instruction.reportsNoInput ? conclude(instruction, context, '') : NEXT;
}

/** What the caller is to be told, and the beep; until all is heard or a key is pressed. */
function prompt(instruction: GatherInstruction, context: VerbContext, keys: Keys): Promise<void> {
  return untilKey(keys, context.signal, async (signal) => {
    for (const child of instruction.prompts) await playPrompt(child, { ...context, signal });
    if (instruction.playBeep) await toneTo(context.call, BEEP, { signal });
  });
}

/** The sound after invalid input. A key ends it only where it can begin another attempt. */
async function refuse(
  { invalidDigitsSound: url }: GatherInstruction,
  { call, needs, signal }: VerbContext,
  keys: Keys | undefined,
): Promise<void> {
  if (url === undefined) return;
  if (keys === undefined) await playTo(call, needs, url, { signal });
  else
    await untilKey(
      keys,
      signal,
      async (until) => void (await playTo(call, needs, url, { signal: until })),
    );
}

async function untilKey(
  keys: Keys,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const barge = new AbortController();
  const stopWatching = keys.onPress(() => barge.abort(new BargeIn()));
  try {
    await work(AbortSignal.any([signal, barge.signal]));
  } catch (error) {
    if (!(error instanceof BargeIn)) throw error;
  } finally {
    stopWatching();
  }
  signal.throwIfAborted();
}

async function playPrompt(child: PromptInstruction, context: VerbContext): Promise<void> {
  switch (child.kind) {
    case 'speak':
      await speak(child, context);
      return;
    case 'play':
      await play(child, context);
      return;
    case 'wait':
      await wait(child, context);
      return;
    default:
      assertNever(child);
  }
}

/** Keys pressed since the prompts began, until the input is over; '' = none. */
async function readDigits(
  instruction: GatherInstruction,
  { needs, signal }: VerbContext,
  keys: Keys,
): Promise<string> {
  let digits = '';
  let timeoutMs = instruction.firstInputTimeoutMs;
  while (digits.length < instruction.numDigits) {
    const key = await keys.next(needs.clock, timeoutMs, signal);
    if (key === undefined || instruction.finishOnKey.includes(key)) break;
    digits += key;
    timeoutMs = instruction.interDigitTimeoutMs;
  }
  return digits;
}

const isValid = (digits: string, { validDigits }: GatherInstruction): boolean =>
  [...digits].every((digit) => validDigits.includes(digit));

/** With `log="false"` the digits stand nowhere in the log, the record of the request to `action` included. */
function note({ log }: Call, instruction: GatherInstruction, digits: string): void {
  if (instruction.log) {
    log.add('xml', 'input', { digits });
    return;
  }
  log.add('xml', 'input, not logged', { count: digits.length });
  if (digits === '') return;
  log.conceal(`Digits${digits}`);
  log.conceal(`Digits=${encodeURIComponent(digits)}`);
  log.conceal(`Digits=${digits}`);
}

function conclude(
  instruction: GatherInstruction,
  context: VerbContext,
  digits: string,
): VerbOutcome {
  const { action: url, method, redirect } = instruction;
  if (url === undefined) return NEXT;
  const isDigits = instruction.element === 'GetDigits';
  return concludeAction(
    context,
    { url, method, redirect },
    isDigits ? 'GetDigits' : 'GetInput',
    isDigits ? [['Digits', digits]] : inputParameters(digits),
  );
}

/** Dialect §2.1 GetInput. Input by keys costs nothing. */
const inputParameters = (digits: string): CallbackParameters => [
  ['InputType', digits === '' ? '' : 'dtmf'],
  ['Digits', digits],
  ['Speech', ''],
  ['SpeechConfidenceScore', ''],
  ['BilledAmount', '0'],
];
