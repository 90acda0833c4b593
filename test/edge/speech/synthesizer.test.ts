import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { err, ok, type Result } from '../../../src/base/result.ts';
import type { Pcm, SpeechProblem, SpeechRequest } from '../../../src/domain/call/needs.ts';
import { processRunner, type RunProcess } from '../../../src/edge/speech/process.ts';
import { createSynthesizer, type SpeechOptions } from '../../../src/edge/speech/synthesizer.ts';
import {
  fitSine,
  int16Bytes,
  int16Samples,
  rms,
  sine,
  wavFile,
} from '../../protocol/audio-file/signals.ts';

const LISTINGS: Readonly<Record<string, string>> = {
  flite: 'Voices available: rms slt\n',
  'espeak-ng': 'Pty Language Age/Gender VoiceName File\n 5  en-us --/M x y\n 5  de --/M x y\n',
};

/** Engines that return one second of 1 kHz for each text. */
class Engines {
  readonly runs: Array<{
    command: string;
    args: readonly string[];
    input: string;
    output: string;
  }> = [];
  installed = ['flite', 'espeak-ng'];
  running = 0;
  mostRunning = 0;
  gate: Promise<void> | undefined;
  write = wavFile({
    format: 1,
    bits: 16,
    channels: 1,
    rate: 22050,
    data: int16Bytes(sine(1000, 9000, 22050, 22050)),
  });
  failure: { kind: 'failed' | 'timeout'; detail: string } | undefined;

  readonly run: RunProcess = async (command, args, input) => {
    if (!this.installed.includes(command)) return err({ kind: 'absent', detail: 'ENOENT' });
    if (input === '') return ok(new TextEncoder().encode(LISTINGS[command]));
    const output = args.at(-1) ?? '';
    this.runs.push({ command, args: args.slice(0, -1), input, output });
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    await this.gate;
    this.running -= 1;
    if (this.failure !== undefined) return err(this.failure);
    await writeFile(args.at(-1) ?? '', this.write);
    return ok(new Uint8Array(0));
  };
}

let engines: Engines;
let folder: string;

const create = (options: Partial<SpeechOptions> = {}) =>
  createSynthesizer({
    engine: 'auto',
    cacheDir: folder,
    logger: silentLogger,
    run: engines.run,
    ...options,
  });

const request = (text: string, more: Partial<SpeechRequest> = {}): SpeechRequest => ({
  text,
  ssml: undefined,
  voice: 'WOMAN',
  language: 'en-US',
  ...more,
});

async function all(
  pieces: AsyncIterable<Result<Pcm, SpeechProblem>>,
): Promise<Array<Result<Pcm, SpeechProblem>>> {
  const out: Array<Result<Pcm, SpeechProblem>> = [];
  for await (const piece of pieces) out.push(piece);
  return out;
}

const LONG = Array.from(
  { length: 8 },
  (_, i) =>
    `Sentence number ${i} is long enough to be a piece of its own, or nearly so, as it has to be for this.`,
).join(' ');

beforeEach(async () => {
  engines = new Engines();
  folder = await mkdtemp(join(tmpdir(), 'carillon-speech-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('synthesizer', () => {
  it('works while its cache folder is not writable', async () => {
    const synthesizer = await create();
    await rm(folder, { recursive: true });
    const [piece] = await all(synthesizer.speak(request('Hello')));
    expect(piece?.ok).toBe(true);
    await mkdir(folder);
    const written = engines.runs.map(({ output }) => output).filter((path) => existsSync(path));
    expect(written).toEqual([]);
  });

  it('warms each engine with both genders, and caches no result', async () => {
    const synthesizer = await create();
    await synthesizer.warm();
    expect(engines.runs.map(({ command }) => command)).toEqual([
      'flite',
      'flite',
      'espeak-ng',
      'espeak-ng',
    ]);
    expect(new Set(engines.runs.map(({ args }) => args.join(' '))).size).toBe(4);
    expect(engines.mostRunning).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it("returns the engine's output as 8 kHz PCM", async () => {
    const synthesizer = await create();
    const [piece, ...rest] = await all(synthesizer.speak(request('Hello')));
    if (piece?.ok !== true) throw new Error('no speech');
    expect(rest).toEqual([]);
    expect(piece.value.rate).toBe(8000);
    const samples = int16Samples(piece.value.samples);
    expect(samples).toHaveLength(8000);
    expect(fitSine(samples.subarray(400, 7600), 1000, 8000).snrDb).toBeGreaterThan(60);
  });

  it.each([16_000, 24_000] as const)(
    'returns %i Hz to a listener that supports it',
    async (rate) => {
      const synthesizer = await create();
      engines.write = wavFile({
        format: 1,
        bits: 16,
        channels: 1,
        rate: 22050,
        data: int16Bytes(sine(7000, 9000, 22050, 22050)),
      });
      await all(synthesizer.speak(request('Hello'), { rate: 8000 }));
      const [piece] = await all(synthesizer.speak(request('Hello'), { rate }));
      if (piece?.ok !== true) throw new Error('no speech');
      expect(piece.value.rate).toBe(rate);
      const samples = int16Samples(piece.value.samples);
      expect(samples).toHaveLength(rate);
      expect(fitSine(samples.subarray(800, rate - 800), 7000, rate).snrDb).toBeGreaterThan(50);
      // Each rate is synthesized once and cached.
      await all(synthesizer.speak(request('Hello'), { rate }));
      expect(engines.runs).toHaveLength(2);
    },
  );

  it('passes the text to standard input, never as an argument', async () => {
    const synthesizer = await create();
    const text = '-o /etc/passwd; $(reboot) `x`';
    await all(synthesizer.speak(request(text)));
    await all(synthesizer.speak(request(text, { language: 'de-DE' })));
    expect(engines.runs.map((run) => run.input)).toEqual([text, text]);
    expect(engines.runs.flatMap((run) => run.args).join(' ')).not.toContain('reboot');
  });

  it('auto selects flite for English, and espeak-ng for other languages or without flite', async () => {
    const synthesizer = await create();
    expect(synthesizer.engines).toEqual(['flite', 'espeak-ng']);
    await all(synthesizer.speak(request('Hello', { voice: 'MAN' })));
    await all(synthesizer.speak(request('Hallo', { language: 'de-DE' })));
    expect(engines.runs.map(({ command, args }) => [command, args[1]])).toEqual([
      ['flite', 'rms'],
      ['espeak-ng', 'de+f3'],
    ]);
    engines.installed = ['espeak-ng'];
    const second = await create();
    await all(second.speak(request('Hello again')));
    expect(engines.runs.at(-1)?.command).toBe('espeak-ng');
  });

  it('turns SSML pauses into silence for flite, and passes markup to espeak-ng with -m', async () => {
    const ssml = 'One<break time="250ms"/>two';
    const flite = await create({ engine: 'flite' });
    const pieces = await all(flite.speak(request('One two', { ssml })));
    const [, rest] = pieces;
    expect(pieces).toHaveLength(3);
    if (rest?.ok !== true) throw new Error('no rest');
    expect(rest.value.samples).toHaveLength(2 * 2000);
    expect(rms(rest.value.samples)).toBe(0);
    const espeak = await create({ engine: 'espeak-ng' });
    await all(espeak.speak(request('One two', { ssml })));
    expect(engines.runs.at(-1)).toMatchObject({
      input: `<speak>${ssml}</speak>`,
      args: expect.arrayContaining(['-m']),
    });
  });

  it.each([
    ['nothing installed', [], 'en-US', 'sudo apt-get install flite espeak-ng'],
    [
      'no voice for the language',
      ['flite'],
      'de-DE',
      'no voice for language de-DE; espeak-ng not installed: sudo apt-get install espeak-ng',
    ],
    ['an unknown language', ['flite', 'espeak-ng'], 'xx-XX', 'no voice for language xx-XX'],
  ])('%s is unavailable with a clear message', async (_name, installed, language, words) => {
    engines.installed = installed;
    const synthesizer = await create();
    expect(await all(synthesizer.speak(request('Hello', { language })))).toEqual([
      err({ kind: 'unavailable', detail: expect.stringContaining(words) }),
    ]);
  });

  it('starts no program with engine none', async () => {
    const synthesizer = await create({ engine: 'none' });
    expect(synthesizer.engines).toEqual([]);
    expect(await all(synthesizer.speak(request('Hello')))).toMatchObject([
      { error: { kind: 'unavailable' } },
    ]);
  });

  it('returns no pieces for empty text, and refuses text beyond the limit', async () => {
    const synthesizer = await create({ limits: { maxChars: 100 } });
    expect(await all(synthesizer.speak(request('  ')))).toEqual([]);
    expect(await all(synthesizer.speak(request('x'.repeat(101))))).toMatchObject([
      { error: { kind: 'tooLong' } },
    ]);
    expect(engines.runs).toEqual([]);
  });
});

describe('synthesizer: streaming start', () => {
  it('splits long text into pieces and synthesizes one piece ahead', async () => {
    const synthesizer = await create();
    const pieces = synthesizer.speak(request(LONG))[Symbol.asyncIterator]();
    await pieces.next();
    const startedEarly = engines.runs.length;
    expect(startedEarly).toBeGreaterThanOrEqual(1);
    expect(startedEarly).toBeLessThanOrEqual(2);
    await pieces.return?.();
    const whole = await all(synthesizer.speak(request(LONG)));
    expect(whole.length).toBeGreaterThan(2);
    expect(whole.every((piece) => piece.ok)).toBe(true);
  });

  it('stops after a failure, and the next request tries again', async () => {
    engines.failure = { kind: 'timeout', detail: 'flite took too long' };
    const synthesizer = await create();
    expect(await all(synthesizer.speak(request(LONG)))).toEqual([
      err({ kind: 'failed', detail: 'flite took too long' }),
    ]);
    engines.failure = undefined;
    expect((await all(synthesizer.speak(request('Hello'))))[0]?.ok).toBe(true);
  });

  it('fails if the engine writes no or invalid audio', async () => {
    engines.write = new TextEncoder().encode('rubbish');
    const synthesizer = await create();
    expect(await all(synthesizer.speak(request('Hello')))).toMatchObject([
      { error: { kind: 'failed' } },
    ]);
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('stops waiting immediately when the call ends', async () => {
    const gate = Promise.withResolvers<void>();
    engines.gate = gate.promise;
    const synthesizer = await create();
    const ending = new AbortController();
    const pieces = all(synthesizer.speak(request('Hello'), { signal: ending.signal }));
    ending.abort();
    expect(await pieces).toMatchObject([{ error: { kind: 'aborted' } }]);
    gate.resolve();
  });
});

describe('synthesizer: limits and cache', () => {
  it('synthesizes repeated text once, including for simultaneous calls', async () => {
    const synthesizer = await create();
    await Promise.all(Array.from({ length: 20 }, () => all(synthesizer.speak(request('Hello')))));
    await all(synthesizer.speak(request('Hello')));
    expect(engines.runs).toHaveLength(1);
    await all(synthesizer.speak(request('Hello', { voice: 'MAN' })));
    expect(engines.runs).toHaveLength(2);
  });

  it('keeps the cache across a restart and deletes incomplete files', async () => {
    await all((await create()).speak(request('Hello')));
    await writeFile(join(folder, 'left-over.tmp'), 'x');
    const [piece] = await all((await create()).speak(request('Hello')));
    expect(piece?.ok).toBe(true);
    expect(engines.runs).toHaveLength(1);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('evicts least recently used entries beyond the cache limit', async () => {
    const synthesizer = await create({ limits: { maxCacheBytes: 2 * 16_000 } });
    const say = (text: string) => all(synthesizer.speak(request(text)));
    await say('one');
    await say('two');
    await say('one');
    await say('three');
    expect(await readdir(folder)).toHaveLength(2);
    await say('one');
    expect(engines.runs).toHaveLength(3);
    await say('two');
    expect(engines.runs).toHaveLength(4);
  });

  it('limits simultaneous and waiting programs', async () => {
    const gate = Promise.withResolvers<void>();
    engines.gate = gate.promise;
    const synthesizer = await create({ limits: { maxProcesses: 2, maxWaiting: 3 } });
    const spoken = Array.from({ length: 8 }, (_, i) =>
      all(synthesizer.speak(request(`text ${i}`))),
    );
    gate.resolve();
    const results = (await Promise.all(spoken)).flat();
    expect(engines.mostRunning).toBeLessThanOrEqual(2);
    expect(results.filter((piece) => piece.ok).length).toBeGreaterThanOrEqual(5);
    expect(results.filter((piece) => !piece.ok)).toSatisfy((busy: unknown[]) =>
      busy.every((piece) => (piece as { error: SpeechProblem }).error.kind === 'busy'),
    );
  });
});

describe('running a program', () => {
  const patient = processRunner({ timeLimitMs: 15_000, maxOutputBytes: 1000 });
  const hasty = processRunner({ timeLimitMs: 200, maxOutputBytes: 1000 });

  it('passes the input and returns the output', async () => {
    const result = await patient('cat', [], 'héllo');
    expect(result.ok && new TextDecoder().decode(result.value)).toBe('héllo');
  });

  it.each([
    ['absent', '/no/such/program', [], patient, 'absent'],
    ['failing', 'sh', ['-c', 'echo sorry >&2; exit 3'], patient, 'failed'],
    ['writing too much', 'yes', [], patient, 'timeout'],
    ['endless', 'sleep', ['60'], hasty, 'timeout'],
  ] as const)('%s', async (_name, command, args, run, kind) => {
    expect(await run(command, args, 'x')).toMatchObject({ ok: false, error: { kind } });
  });
});

const realFolder = await mkdtemp(join(tmpdir(), 'carillon-speech-real-'));
afterAll(async () => {
  await rm(realFolder, { recursive: true });
});

const real = await createSynthesizer({
  engine: 'auto',
  cacheDir: realFolder,
  logger: silentLogger,
});

describe('installed engines', () => {
  it.skipIf(!real.engines.includes('flite'))('flite speaks English', async () => {
    const [piece] = await all(real.speak(request('Hello, this is a test.')));
    if (piece?.ok !== true) throw new Error(JSON.stringify(piece));
    expect(piece.value.samples.length / 16_000).toBeGreaterThan(1);
    expect(rms(int16Samples(piece.value.samples))).toBeGreaterThan(300);
  });

  it.skipIf(!real.engines.includes('espeak-ng'))(
    'espeak-ng speaks German, SSML and umlauts',
    async () => {
      const plain = await all(real.speak(request('Grüße aus Köln.', { language: 'de-DE' })));
      const ssml = 'Grüße<break time="2s"/>aus Köln.';
      const broken = await all(real.speak(request('Grüße aus Köln.', { language: 'de-DE', ssml })));
      const seconds = (pieces: typeof plain): number =>
        pieces.reduce(
          (sum, piece) => sum + (piece.ok ? piece.value.samples.length / 16_000 : 0),
          0,
        );
      expect(seconds(plain)).toBeGreaterThan(0.8);
      expect(seconds(broken)).toBeGreaterThan(seconds(plain) + 1);
    },
  );
});
