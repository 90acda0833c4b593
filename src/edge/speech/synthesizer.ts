/** Entry point: text to speech by flite and espeak-ng in separate processes. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unlessAbortedOr } from '../../base/abort.ts';
import { hashHex } from '../../base/hash.ts';
import type { Logger } from '../../base/logger.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { Semaphore } from '../../base/semaphore.ts';
import type {
  LineRate,
  Pcm,
  SoundOptions,
  SpeechProblem,
  SpeechProblemKind,
  SpeechRequest,
} from '../../domain/call/needs.ts';
import { openWav, resampler, toPcm16 } from '../../protocol/audio-file/audio-file.ts';
import { findEspeak, findFlite, type SpeechEngine, type SpeechStep } from './engine.ts';
import { HttpVoice, type HttpVoiceOptions } from './http-voice.ts';
import { normalised } from './loudness.ts';
import { PreferredVoice } from './preferred-voice.ts';
import { processRunner, type RunProcess } from './process.ts';
import { SpeechCache } from './speech-cache.ts';
import type { SpeechService } from './speech-service.ts';

export type { SpeechService } from './speech-service.ts';

export interface SpeechOptions {
  /** Engine. `auto` uses flite for English, because it sounds better, and espeak-ng for other languages. */
  readonly engine: 'auto' | 'espeak-ng' | 'flite' | 'none';
  /** Cache folder, not shared with other data. */
  readonly cacheDir: string;
  readonly logger: Logger;
  /** Speech server with priority over local engines; undefined for none. */
  readonly http?: Omit<HttpVoiceOptions, 'cache' | 'logger'> | undefined;
  readonly limits?: Partial<SpeechLimits>;
  /** Function that runs programs; replaced in tests. */
  readonly run?: RunProcess;
}

interface SpeechLimits {
  readonly maxCacheBytes: number;
  readonly maxChars: number;
  /** Time limit for a single run, ms. Pieces have at most 500 characters. */
  readonly timeLimitMs: number;
  readonly maxProcesses: number;
  readonly maxWaiting: number;
}

const SPEECH_LIMITS: SpeechLimits = {
  maxCacheBytes: 200 * 1024 * 1024,
  maxChars: 20_000,
  timeLimitMs: 15_000,
  maxProcesses: 2,
  maxWaiting: 500,
};

/** Part of the cache keys. A change of the loudness rule invalidates cached speech. */
const LOUDNESS = 'speech at -16 dBFS';
const MAX_LISTING_BYTES = 1024 * 1024;
/** Samples converted in one turn of the event loop, which takes less than 1 ms. */
const BLOCK = 4096;

type Spoken = Result<Pcm, SpeechProblem>;

/** Detects the installed engines once at startup. */
export async function createSynthesizer(options: SpeechOptions): Promise<SpeechService> {
  const limits = { ...SPEECH_LIMITS, ...options.limits };
  const run =
    options.run ??
    processRunner({ timeLimitMs: limits.timeLimitMs, maxOutputBytes: MAX_LISTING_BYTES });
  const wanted = (name: string): boolean => options.engine === 'auto' || options.engine === name;
  const found = await Promise.all([
    wanted('flite') ? findFlite(run) : undefined,
    wanted('espeak-ng') ? findEspeak(run) : undefined,
  ]);
  const missing = missingOf(options.engine, found);
  if (missing !== undefined && options.http === undefined && options.engine !== 'auto')
    options.logger.warn({ engine: options.engine }, missing);
  const engines = found.filter((engine) => engine !== undefined);
  const cache = await SpeechCache.open(options.cacheDir, limits.maxCacheBytes);
  const local = new ProcessSynthesizer(engines, missing, {
    cache,
    run,
    limits,
    logger: options.logger,
  });
  if (options.http === undefined) return local;
  const { logger } = options;
  return new PreferredVoice(new HttpVoice({ ...options.http, cache, logger }), local, {
    maxChars: limits.maxChars,
    logger,
    nowMs: () => performance.now(),
  });
}

/** Names the local engines that are not installed, and their installation; undefined if all of them are. */
function missingOf(
  engine: SpeechOptions['engine'],
  found: readonly (SpeechEngine | undefined)[],
): string | undefined {
  if (engine === 'none') return 'speech.engine is none';
  const missing = (['flite', 'espeak-ng'] as const).filter(
    (name) => (engine === 'auto' || engine === name) && !found.some((one) => one?.name === name),
  );
  if (missing.length === 0) return undefined;
  return `${missing.join(' and ')} not installed: sudo apt-get install ${missing.join(' ')}`;
}

interface SynthesizerNeeds {
  readonly cache: SpeechCache;
  readonly run: RunProcess;
  readonly limits: SpeechLimits;
  readonly logger: Logger;
}

class ProcessSynthesizer implements SpeechService {
  readonly engines: readonly string[];
  readonly #engines: readonly SpeechEngine[];
  /** Engines that are not installed, with their installation. */
  readonly #missing: string | undefined;
  readonly #cache: SpeechCache;
  readonly #run: RunProcess;
  readonly #limits: SpeechLimits;
  readonly #logger: Logger;
  /** Running syntheses by key. Simultaneous requests for the same text share one. */
  readonly #making = new Map<string, Promise<Spoken>>();
  readonly #processes: Semaphore;

  constructor(
    engines: readonly SpeechEngine[],
    missing: string | undefined,
    { cache, run, limits, logger }: SynthesizerNeeds,
  ) {
    this.engines = engines.map((engine) => engine.name);
    this.#engines = engines;
    this.#missing = missing;
    this.#cache = cache;
    this.#run = run;
    this.#limits = limits;
    this.#processes = new Semaphore({
      slots: limits.maxProcesses,
      maxWaiting: limits.maxWaiting,
    });
    this.#logger = logger;
  }

  async warm(): Promise<void> {
    for (const engine of this.#engines) {
      for (const voice of ['WOMAN', 'MAN']) {
        const steps = engine.plan({ text: 'ready', ssml: undefined, voice, language: 'en-US' });
        const [step] = steps ?? [];
        if (step?.kind !== 'run') continue;
        const made = await this.#make(step, 8000).catch(String);
        this.#logger.debug({ engine: engine.name, voice, ok: typeof made !== 'string' }, 'warmed');
      }
    }
  }

  async *speak(
    request: SpeechRequest,
    { rate = 8000, signal }: SoundOptions = {},
  ): AsyncIterable<Spoken> {
    const planned = this.#plan(request);
    if (!planned.ok) {
      yield planned;
      return;
    }
    const steps = planned.value;
    let next = steps[0] === undefined ? undefined : this.#say(steps[0], rate);
    for (let index = 0; next !== undefined; index += 1) {
      const spoken = await unlessAbortedOr(signal, next, ABORTED);
      // Synthesizes the next piece while this one plays.
      const following = spoken.ok ? steps[index + 1] : undefined;
      next = following === undefined ? undefined : this.#say(following, rate);
      yield spoken;
    }
  }

  #plan(request: SpeechRequest): Result<readonly SpeechStep[], SpeechProblem> {
    const chars = Math.max(request.text.length, request.ssml?.length ?? 0);
    if (chars > this.#limits.maxChars) {
      return problem('tooLong', `${chars} characters exceed the limit of ${this.#limits.maxChars}`);
    }
    if (this.#engines.length === 0) {
      return problem('unavailable', `no speech synthesizer: ${this.#missing}`);
    }
    for (const engine of this.#engines) {
      const steps = engine.plan(request);
      if (steps !== undefined) return ok(steps);
    }
    const hint = this.#missing === undefined ? '' : `; ${this.#missing}`;
    return problem('unavailable', `no voice for language ${request.language}${hint}`);
  }

  /** Synthesizes one step, or returns cached speech. Never rejects. */
  #say(step: SpeechStep, rate: LineRate): Promise<Spoken> {
    if (step.kind === 'silence') {
      const samples = new Uint8Array(Math.round((step.ms * rate) / 1000) * 2);
      return Promise.resolve(ok({ rate, samples }));
    }
    const key = hashHex(
      'sha256',
      JSON.stringify([LOUDNESS, rate, step.command, step.args, step.input]),
    );
    const running = this.#making.get(key);
    if (running !== undefined) return running;
    const making = this.#fromCacheOrEngine(key, step, rate)
      .catch((error: unknown) =>
        problem('failed', error instanceof Error ? error.message : String(error)),
      )
      .finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }

  async #fromCacheOrEngine(
    key: string,
    step: SpeechStep & { kind: 'run' },
    rate: LineRate,
  ): Promise<Spoken> {
    const known = await this.#cache.get(key);
    if (known !== undefined) return ok({ rate, samples: known });
    const release = await this.#processes.acquire();
    if (typeof release === 'string')
      return problem('busy', 'too many synthesis requests are waiting');
    try {
      const made = await this.#make(step, rate);
      if (!made.ok) return made;
      await this.#store(key, made.value);
      return made;
    } finally {
      release();
    }
  }

  async #make(step: SpeechStep & { kind: 'run' }, rate: LineRate): Promise<Spoken> {
    const folder = await scratchFolder();
    const path = join(folder, 'speech.wav');
    try {
      const ran = await this.#run(step.command, [...step.args, step.outputFlag, path], step.input);
      if (!ran.ok) {
        const kind = ran.error.kind === 'absent' ? 'unavailable' : 'failed';
        return problem(kind, ran.error.detail);
      }
      const wav = openWav(await readFile(path));
      if (!wav.ok) return problem('failed', `what ${step.command} wrote: ${wav.error}`);
      const convert = resampler(wav.value.rate, rate);
      const blocks: Uint8Array[] = [];
      for (let at = 0; at < wav.value.length; at += BLOCK) {
        blocks.push(toPcm16(convert.push(wav.value.mono(at, BLOCK))));
        await nextTurn();
      }
      blocks.push(toPcm16(convert.finish()));
      return ok({ rate, samples: await normalised(joined(blocks), rate) });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #store(key: string, pcm: Pcm): Promise<void> {
    try {
      await this.#cache.put(key, pcm.samples);
    } catch (error) {
      // The speech can be played without the cache.
      this.#logger.warn({ error }, 'could not cache speech');
    }
  }
}

/** Returns a folder in memory if the system has one, so that synthesis works while the disk is full. */
async function scratchFolder(): Promise<string> {
  try {
    return await mkdtemp('/dev/shm/carillon-speech-');
  } catch {
    return mkdtemp(join(tmpdir(), 'carillon-speech-'));
  }
}

function joined(blocks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return whole;
}

const problem = (
  kind: SpeechProblemKind,
  detail: string,
): { readonly ok: false; readonly error: SpeechProblem } => err({ kind, detail });

/** Result for a caller that no longer waits. The synthesis continues and fills the cache. */
const ABORTED = problem('aborted', 'no longer wanted');
