/** Rehearsal files: schema and checks of `carillon rehearse`. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Static, type TProperties, Type } from 'typebox';
import { FileFaults, formatted, readCheckedFile, urlText } from '../config/checked-file.ts';

const strict = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const text = (maxLength = 1000) => Type.String({ minLength: 1, maxLength });
const seconds = (maximum = 3600) => Type.Number({ minimum: 0, maximum });
const ms = Type.Optional(Type.Number({ minimum: 0, maximum: 600_000 }));

const Step = strict({
  say: Type.Optional(text()),
  play: Type.Optional(text()),
  pause: Type.Optional(seconds()),
  press: Type.Optional(
    formatted('^[0-9*#A-D]{1,100}$', 'must have 1 to 100 of the keys 0-9 * # A-D'),
  ),
  /** Waits until the bot has spoken and is silent again; the value is the longest wait. */
  listen: Type.Optional(seconds()),
  interrupt: Type.Optional(
    strict({
      after: seconds(60),
      say: Type.Optional(text()),
      play: Type.Optional(text()),
      wait: Type.Number({ default: 15, minimum: 0.1, maximum: 600 }),
    }),
  ),
  silence: Type.Optional(seconds()),
  hangup: Type.Optional(Type.Literal(true)),
});

const Expected = strict({
  answerMs: ms,
  latencyMs: Type.Optional(strict({ p50: ms, p95: ms, max: ms })),
  interruptionMs: ms,
  silenceSeconds: Type.Optional(seconds()),
  durationSeconds: Type.Optional(
    strict({ min: Type.Optional(seconds()), max: Type.Optional(seconds()) }),
  ),
  digits: Type.Optional(Type.String({ maxLength: 200 })),
  transfer: Type.Optional(text(200)),
  noTransfer: Type.Optional(Type.Literal(true)),
  endedBy: Type.Optional(Type.Enum(['bot', 'caller'])),
  spoken: Type.Optional(Type.Array(text(), { maxItems: 50 })),
  transcript: Type.Optional(Type.Array(text(), { maxItems: 50 })),
  turns: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
});

const RehearsalSchema = strict({
  name: Type.Optional(text(200)),
  bot: strict({
    answerUrl: Type.Optional(urlText('http', 'https')),
    stream: Type.Optional(urlText('ws', 'wss')),
    format: Type.Enum(
      ['audio/x-l16;rate=8000', 'audio/x-l16;rate=16000', 'audio/x-mulaw;rate=8000'],
      {
        default: 'audio/x-l16;rate=8000',
      },
    ),
  }),
  from: Type.String({ default: '14155550100', maxLength: 64 }),
  to: Type.String({ default: '14155550101', maxLength: 64 }),
  voice: formatted('^[a-zA-Z0-9+_-]{1,40}$', 'must be a voice of espeak-ng, such as en or de', {
    default: 'en',
  }),
  /** Whether the colleague accepts an attended or warm transfer, which is not dialed. */
  colleague: Type.Enum(['accepts', 'declines'], { default: 'accepts' }),
  callers: Type.Integer({ default: 1, minimum: 1, maximum: 100 }),
  timeoutSeconds: Type.Number({ default: 120, minimum: 1, maximum: 3600 }),
  endOfBotSpeechMs: Type.Integer({ default: 700, minimum: 100, maximum: 5000 }),
  network: Type.Object(
    {
      lossPercent: Type.Number({ default: 0, minimum: 0, maximum: 100 }),
      jitterMs: Type.Number({ default: 0, minimum: 0, maximum: 1000 }),
      seed: Type.Integer({ default: 1, minimum: 0, maximum: 2 ** 31 }),
    },
    { default: {}, additionalProperties: false },
  ),
  noise: Type.Object(
    {
      /** Level of white noise in dBFS. */
      level: Type.Optional(Type.Number({ minimum: -90, maximum: 0 })),
    },
    { default: {}, additionalProperties: false },
  ),
  recognizer: Type.Optional(
    strict({
      url: urlText('http', 'https'),
      apiKey: Type.Optional(text(4096)),
      model: Type.Optional(text(200)),
      language: Type.String({ default: 'en', maxLength: 20 }),
    }),
  ),
  steps: Type.Array(Step, { minItems: 1, maxItems: 500 }),
  expect: Type.Object(Expected.properties, { default: {}, additionalProperties: false }),
});

export type Rehearsal = Static<typeof RehearsalSchema> & {
  /** Path of the file. */
  readonly file: string;
  readonly title: string;
};
export type Step = Rehearsal['steps'][number];
export type Expected = Rehearsal['expect'];

const ACTIONS = [
  'say',
  'play',
  'pause',
  'press',
  'listen',
  'interrupt',
  'silence',
  'hangup',
] as const;

/**
 * Reads and checks a rehearsal file.
 *
 * @throws FileFaults with file, line and field of every fault
 */
export function readRehearsal(
  file: string,
  environment: Readonly<Record<string, string | undefined>>,
): Rehearsal {
  const { value, fault } = readCheckedFile(file, RehearsalSchema, environment);
  const faults: string[] = [];
  const report = (path: readonly string[], what: string) => faults.push(fault(path, what));
  const { bot, steps, expect, recognizer } = value;
  if ((bot.answerUrl === undefined) === (bot.stream === undefined))
    report(['bot'], 'needs either answerUrl or stream');
  for (const name of ['answerUrl', 'stream'] as const)
    if (bot[name] !== undefined && !URL.canParse(bot[name]))
      report(['bot', name], 'is not a valid URL');
  for (const [index, step] of steps.entries()) checkStep(step, ['steps', String(index)], report);
  const missing = fileFaults(steps, dirname(file));
  for (const [path, what] of missing) report(path, what);
  if (expect.transcript !== undefined && recognizer === undefined)
    report(['expect', 'transcript'], 'needs `recognizer`');
  for (const name of ['transcript', 'spoken'] as const)
    for (const [index, pattern] of (expect[name] ?? []).entries())
      if (!isPattern(pattern))
        report(['expect', name, String(index)], 'is not a valid regular expression');
  if (expect.transfer !== undefined && expect.noTransfer)
    report(['expect', 'noTransfer'], 'contradicts transfer');
  if (faults.length > 0) throw new FileFaults(faults);
  return { ...value, file, title: value.name ?? file };
}

type Report = (path: readonly string[], what: string) => void;

function checkStep(step: Step, path: readonly string[], report: Report): void {
  const given = ACTIONS.filter((name) => step[name] !== undefined);
  if (given.length !== 1) report(path, `needs exactly one of ${ACTIONS.join(', ')}`);
  const { interrupt } = step;
  if (interrupt !== undefined && (interrupt.say === undefined) === (interrupt.play === undefined))
    report([...path, 'interrupt'], 'needs either say or play');
}

function fileFaults(
  steps: readonly Step[],
  folder: string,
): ReadonlyArray<readonly [path: readonly string[], what: string]> {
  return steps.flatMap(({ play, interrupt }, index) => {
    const at = ['steps', String(index)];
    const files: ReadonlyArray<readonly [readonly string[], string | undefined]> = [
      [[...at, 'play'], play],
      [[...at, 'interrupt', 'play'], interrupt?.play],
    ];
    return files.flatMap(([path, name]) =>
      name === undefined || existsSync(resolve(folder, name))
        ? []
        : [[path, `there is no file ${name}`] as const],
    );
  });
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'i').source !== '';
  } catch {
    return false;
  }
}
