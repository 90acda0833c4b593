import { unlessAborted } from '../../../base/abort.ts';
import { assertNever } from '../../../base/errors.ts';
import { type Micros, unitsFromMicros, ZERO } from '../../../base/money.ts';
import type {
  GatherInstruction,
  PromptInstruction,
} from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { Transcript } from '../../call/needs.ts';
import type { CallbackParameters } from '../../callback/types.ts';
import type { VerbContext } from '../needs.ts';
import { concludeAction, NEXT, type VerbOutcome } from '../outcome.ts';
import { playTo, toneTo } from '../sound.ts';
import { BEEP } from '../tones.ts';
import { KeyListener } from './digit-listener.ts';
import { Keys } from './keys.ts';
import { play } from './play.ts';
import { speak } from './speak.ts';
import { wait } from './wait.ts';

/** Abort reason for prompts when the caller interrupts them. */
class BargeIn extends Error {}

/** Result of one attempt. */
type Input =
  | { readonly kind: 'none' }
  | { readonly kind: 'digits'; readonly digits: string }
  | {
      readonly kind: 'speech';
      readonly transcript: Transcript;
      /** Undefined: not known yet. */
      readonly charged: Micros | undefined;
    }
  /** Speech recognition failed, and no key was pressed. */
  | { readonly kind: 'failed'; readonly why: string };

const NO_INPUT = { kind: 'none' } as const;

/**
 * `GetDigits`, `GetInput`, `Gather` (dialect §2.1): plays prompts until the first key or speech; with `typeAhead`,
 * earlier keys count. Then reads keys until `numDigits`, a key of `finishOnKey` or a pause, or recognizes speech until
 * `speechEndTimeout`. The first kind of input counts. Input with an invalid key counts as an attempt without result. A
 * recognition failure is reported to `action` as `SpeechError`.
 */
export async function gather(
  instruction: GatherInstruction,
  context: VerbContext,
): Promise<VerbOutcome> {
  await context.ready();
  const keys = new Keys(context.call.digits, {
    wanted: instruction.acceptsDigits,
    ahead: instruction.typeAhead,
  });
  let last: Input = NO_INPUT;
  try {
    for (let attempt = 1; attempt <= instruction.attempts; attempt += 1) {
      last = await oneAttempt(instruction, context, keys);
      note(context.call, instruction, last);
      if (last.kind === 'failed') break;
      if (last.kind === 'speech') return conclude(instruction, context, last);
      if (last.kind === 'none') continue;
      if (isValid(last.digits, instruction)) return conclude(instruction, context, last);
      await refuse(instruction, context, attempt < instruction.attempts ? keys : undefined);
      last = NO_INPUT;
    }
  } finally {
    keys.release();
  }
  if (last.kind === 'failed' || instruction.reportsNoInput) {
    return conclude(instruction, context, last);
  }
  return NEXT;
}

async function oneAttempt(
  instruction: GatherInstruction,
  context: VerbContext,
  keys: Keys,
): Promise<Input> {
  const listener = instruction.acceptsSpeech
    ? await KeyListener.open(instruction, context)
    : undefined;
  try {
    await prompt(instruction, context, { keys, listener });
    return listener === undefined
      ? await readDigits(instruction, context, keys)
      : await readEither(instruction, context, { keys, listener });
  } finally {
    listener?.stop();
  }
}

/** Plays the prompts and the beep, until they end, a key is pressed or the caller speaks. */
function prompt(
  instruction: GatherInstruction,
  context: VerbContext,
  input: { readonly keys: Keys; readonly listener: KeyListener | undefined },
): Promise<void> {
  return untilInput(input, context.signal, async (signal) => {
    for (const child of instruction.prompts) await playPrompt(child, { ...context, signal });
    if (instruction.playBeep) await toneTo(context.call, BEEP, { signal });
  });
}

/** Plays the sound for invalid input. A key interrupts it only if another attempt follows. */
async function refuse(
  { invalidDigitsSound: url }: GatherInstruction,
  { call, needs, signal }: VerbContext,
  keys: Keys | undefined,
): Promise<void> {
  if (url === undefined) return;
  if (keys === undefined) await playTo(call, needs, url, { signal });
  else
    await untilInput(
      { keys, listener: undefined },
      signal,
      async (until) => void (await playTo(call, needs, url, { signal: until })),
    );
}

async function untilInput(
  { keys, listener }: { readonly keys: Keys; readonly listener: KeyListener | undefined },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const barge = new AbortController();
  const interrupt = (): void => barge.abort(new BargeIn());
  const stopWatching = keys.onPress(interrupt);
  const stopListening = listener?.onSpeech(interrupt);
  try {
    await work(AbortSignal.any([signal, barge.signal]));
  } catch (error) {
    if (!(error instanceof BargeIn)) throw error;
  } finally {
    stopWatching();
    stopListening?.();
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

/** Reads keys pressed since the prompts began. `first`: a key that was already read. */
async function readDigits(
  instruction: GatherInstruction,
  { needs, signal }: VerbContext,
  keys: Keys,
  first?: string,
): Promise<Input> {
  let digits = '';
  let key = first ?? (await keys.next(needs.clock, instruction.firstInputTimeoutMs, signal));
  while (key !== undefined && !instruction.finishOnKey.includes(key)) {
    digits += key;
    if (digits.length >= instruction.numDigits) break;
    key = await keys.next(needs.clock, instruction.interDigitTimeoutMs, signal);
  }
  return digits === '' ? NO_INPUT : { kind: 'digits', digits };
}

/** Reads keys or speech, whichever starts first within the timeout. Noise without words is ignored. */
async function readEither(
  instruction: GatherInstruction,
  context: VerbContext,
  { keys, listener }: { readonly keys: Keys; readonly listener: KeyListener },
): Promise<Input> {
  const { call, needs, signal } = context;
  const untilMs = needs.clock.monotonicMs() + instruction.firstInputTimeoutMs;
  for (;;) {
    const begun = await firstOf(context, { keys, listener }, untilMs);
    if (begun === undefined) return NO_INPUT;
    if (begun.kind === 'key') return readDigits(instruction, context, keys, begun.key);
    const received = await unlessAborted(signal, listener.received);
    if (!received.ok) {
      const why = `${received.error.kind}: ${received.error.detail}`;
      // Logged now: the caller may hang up or press a key before the end of the attempt.
      call.log.add('warning', 'speech not recognized', { why, line: instruction.line });
      if (!instruction.acceptsDigits) return { kind: 'failed', why };
      const key = await keys.next(needs.clock, untilMs - needs.clock.monotonicMs(), signal);
      return key === undefined
        ? { kind: 'failed', why }
        : readDigits(instruction, context, keys, key);
    }
    if (received.value.text !== '') {
      const transcript = received.value;
      return { kind: 'speech', transcript, charged: await listener.charge(transcript) };
    }
    listener.again();
  }
}

/** Waits for the first input until `untilMs`; undefined on timeout. Also returns 'speech' if recognition is unavailable. */
async function firstOf(
  { needs, signal }: VerbContext,
  { keys, listener }: { readonly keys: Keys; readonly listener: KeyListener },
  untilMs: number,
): Promise<
  { readonly kind: 'key'; readonly key: string } | { readonly kind: 'speech' } | undefined
> {
  const spoke = new AbortController();
  const begin = (): void => spoke.abort(new BargeIn());
  const stopListening = listener.onSpeech(begin);
  void listener.received.then(begin);
  try {
    const leftMs = Math.max(0, untilMs - needs.clock.monotonicMs());
    const key = await keys.next(needs.clock, leftMs, AbortSignal.any([signal, spoke.signal]));
    return key === undefined ? undefined : { kind: 'key', key };
  } catch (error) {
    if (!(error instanceof BargeIn)) throw error;
    return { kind: 'speech' };
  } finally {
    stopListening();
  }
}

const isValid = (digits: string, { validDigits }: GatherInstruction): boolean =>
  [...digits].every((digit) => validDigits.includes(digit));

/**
 * Logs the input. With `log="false"`, or while a recording is paused, hides it from the log, including the logged request
 * to `action`.
 */
function note({ log }: Call, instruction: GatherInstruction, input: Input): void {
  if (input.kind === 'failed') return;
  const speech = input.kind === 'speech' ? input.transcript.text : undefined;
  const digits = input.kind === 'digits' ? input.digits : '';
  if (instruction.log && !log.hidesInput) {
    log.add('xml', 'input', speech === undefined ? { digits } : { speech });
    return;
  }
  log.add('xml', 'input, not logged', { count: (speech ?? digits).length });
  for (const [name, value] of [
    ['Digits', digits],
    ['Speech', speech ?? ''],
  ] as const) {
    if (value === '') continue;
    log.conceal(`${name}${value}`);
    log.conceal(`${name}=${encodeURIComponent(value)}`);
    log.conceal(`${name}=${encodeURIComponent(value).replaceAll('%20', '+')}`);
    log.conceal(`${name}=${value}`);
  }
}

async function conclude(
  instruction: GatherInstruction,
  context: VerbContext,
  input: Input,
): Promise<VerbOutcome> {
  const { action: url, method, redirect } = instruction;
  if (url === undefined) return NEXT;
  const isDigits = instruction.element === 'GetDigits';
  const digits = input.kind === 'digits' ? input.digits : '';
  return concludeAction(
    context,
    { url, method, redirect },
    isDigits ? 'GetDigits' : 'GetInput',
    isDigits ? [['Digits', digits]] : inputParameters(input),
  );
}

/** Returns the parameters of dialect §2.1 GetInput. */
function inputParameters(input: Input): CallbackParameters {
  const transcript = input.kind === 'speech' ? input.transcript : undefined;
  const billed = input.kind === 'speech' ? input.charged : ZERO;
  return [
    ['InputType', input.kind === 'speech' ? 'speech' : input.kind === 'digits' ? 'dtmf' : ''],
    ['Digits', input.kind === 'digits' ? input.digits : ''],
    ['Speech', transcript?.text ?? ''],
    ['SpeechConfidenceScore', transcript?.confidence?.toFixed(2) ?? ''],
    ['BilledAmount', billed === undefined ? '' : String(unitsFromMicros(billed))],
    ...(input.kind === 'failed' ? ([['SpeechError', input.why]] as const) : []),
  ];
}
