/** `GetDigits`, `GetInput` and `Gather` (dialect §2.1). */
import type { ElementReader } from '../attributes.ts';
import type { GatherInstruction } from '../instruction.ts';
import type { Positions } from '../problem.ts';
import { readPrompts } from './prompt.ts';

/** Timeout between two digits or two words for the value `auto`, in milliseconds. */
const AUTO_END_MS = 2000;
const ALL_KEYS = '1234567890*#';
const MAX_HINTS = 500;
const MAX_HINT_LENGTH = 100;
/** Limit of all hints together, in characters without the commas. */
const MAX_HINTS_LENGTH = 10_000;

export function readGather(reader: ElementReader, positions: Positions): GatherInstruction {
  const { name } = reader.element;
  const element = name === 'GetDigits' || name === 'GetInput' ? name : 'Gather';
  const prompts = readPrompts(reader, positions);
  const { action, method } = reader.action();
  if (action === undefined) reader.warn(`<${element}> has no action: its input is discarded`);
  return {
    kind: 'gather',
    element,
    action,
    method,
    redirect: reader.boolean('redirect', true),
    ...(element === 'GetDigits' ? DIGITS_ALONE : accepted(reader)),
    ...timeouts(reader, element),
    numDigits: reader.integer(
      'numDigits',
      element === 'GetDigits' ? { default: 99, min: 1, max: 99 } : { default: 32, min: 1, max: 32 },
    ),
    finishOnKey: reader.keys('finishOnKey', '#'),
    typeAhead: reader.boolean('typeAhead', false),
    ...keyRules(reader, element),
    reportsNoInput: element === 'Gather',
    log: reader.boolean('log', true),
    ...speechRules(reader, element),
    prompts,
    ...reader.sourced(prompts.flatMap((prompt) => prompt.warnings)),
  };
}

const DIGITS_ALONE = { acceptsDigits: true, acceptsSpeech: false };

function accepted(reader: ElementReader): { acceptsDigits: boolean; acceptsSpeech: boolean } {
  const type = reader.text('inputType');
  if (type === undefined) return DIGITS_ALONE;
  const words = type.toLowerCase().split(/[\s,]+/);
  if (words.some((word) => word !== 'dtmf' && word !== 'speech')) {
    reader.refuse(`inputType="${type.slice(0, 80)}"`, 'inputType: dtmf, speech or "dtmf speech"', {
      attribute: 'inputType',
    });
  }
  return { acceptsDigits: words.includes('dtmf'), acceptsSpeech: words.includes('speech') };
}

/** `Gather` accepts the timeouts of `GetDigits` and `GetInput`, because SDKs write both (dialect §2.0). */
function timeouts(
  reader: ElementReader,
  element: GatherInstruction['element'],
): Pick<GatherInstruction, 'firstInputTimeoutMs' | 'interDigitTimeoutMs' | 'speechEndTimeoutMs'> {
  const isDigits = element === 'GetDigits';
  const mayHaveDigits = element !== 'GetInput';
  const timeout = mayHaveDigits
    ? reader.optionalSeconds('timeout', { minS: 1, maxS: 600 })
    : undefined;
  const digit = mayHaveDigits
    ? reader.optionalSeconds('digitTimeout', { minS: 0.5, maxS: 60 })
    : undefined;
  const execution = isDigits
    ? undefined
    : reader.optionalSeconds('executionTimeout', { minS: 5, maxS: 60 });
  return {
    firstInputTimeoutMs: timeout ?? execution ?? (isDigits ? 5000 : 15_000),
    interDigitTimeoutMs: digit ?? (isDigits ? AUTO_END_MS : endTimeout(reader, 'digitEndTimeout')),
    speechEndTimeoutMs: isDigits ? AUTO_END_MS : endTimeout(reader, 'speechEndTimeout'),
  };
}

/** Reads `auto` or 2 to 10 seconds; returns milliseconds. */
const endTimeout = (reader: ElementReader, name: string): number =>
  reader.text(name)?.toLowerCase() === 'auto'
    ? AUTO_END_MS
    : reader.seconds(name, { defaultS: AUTO_END_MS / 1000, minS: 2, maxS: 10 });

function keyRules(
  reader: ElementReader,
  element: GatherInstruction['element'],
): Pick<GatherInstruction, 'validDigits' | 'attempts' | 'playBeep' | 'invalidDigitsSound'> {
  if (element === 'GetInput') {
    return { validDigits: ALL_KEYS, attempts: 1, playBeep: false, invalidDigitsSound: undefined };
  }
  return {
    validDigits: reader.keys('validDigits', ALL_KEYS),
    attempts: reader.integer('retries', { default: 1, min: 1, max: 100 }),
    playBeep: reader.boolean('playBeep', false),
    invalidDigitsSound: reader.url('invalidDigitsSound'),
  };
}

function speechRules(
  reader: ElementReader,
  element: GatherInstruction['element'],
): Pick<
  GatherInstruction,
  | 'language'
  | 'speechModel'
  | 'hints'
  | 'profanityFilter'
  | 'interimSpeechResultsCallback'
  | 'interimSpeechResultsCallbackMethod'
> {
  if (element === 'GetDigits') {
    return {
      language: 'en-US',
      speechModel: 'default',
      hints: [],
      profanityFilter: false,
      interimSpeechResultsCallback: undefined,
      interimSpeechResultsCallbackMethod: 'POST',
    };
  }
  return {
    language: reader.text('language') ?? 'en-US',
    speechModel:
      reader.choice('speechModel', ['default', 'command_and_search', 'phone_call']) ?? 'default',
    hints: hints(reader),
    profanityFilter: reader.boolean('profanityFilter', false),
    interimSpeechResultsCallback: reader.url('interimSpeechResultsCallback'),
    interimSpeechResultsCallbackMethod: reader.method('interimSpeechResultsCallbackMethod'),
  };
}

function hints(reader: ElementReader): readonly string[] {
  const phrases = (reader.text('hints') ?? '')
    .split(',')
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '');
  let total = 0;
  const usable = phrases
    .filter((phrase) => phrase.length <= MAX_HINT_LENGTH)
    .slice(0, MAX_HINTS)
    .filter((phrase) => {
      total += phrase.length;
      return total <= MAX_HINTS_LENGTH;
    });
  if (usable.length < phrases.length) {
    const limits = `${MAX_HINTS} phrases, ${MAX_HINT_LENGTH} characters each and ${MAX_HINTS_LENGTH} in total`;
    reader.warn(`hints beyond ${limits} are ignored`, 'hints');
  }
  return usable;
}
