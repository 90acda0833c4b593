/** Entry point: audio files of customers, and MP3 encoding of recordings. */

import { readFile } from 'node:fs/promises';
import { unlessAbortedOr } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type {
  AudioLibrary,
  AudioProblem,
  AudioProblemKind,
  LineRate,
  Pcm,
  RecordingEncoder,
  SoundOptions,
} from '../../domain/call/needs.ts';
import type { HttpFailure } from '../../domain/callback/needs.ts';
import type { JobReply } from './conversion.ts';
import { ConversionThread } from './conversion-thread.ts';
import { type CachedPcm, PcmCache } from './pcm-cache.ts';

export { holdMusic } from './hold-music.ts';

export interface AudioRequest {
  readonly maxBytes: number;
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  /** Longest gap between bytes, including the wait for the first one, ms. */
  readonly stallTimeoutMs: number;
  readonly maxRedirects: number;
  readonly headers?: Readonly<Record<string, string>>;
}

interface AudioResponse {
  readonly status: number;
  readonly etag: string | undefined;
  readonly bytes: Uint8Array;
}

type AudioFetchFailure = Pick<HttpFailure, 'kind' | 'detail'>;

/** Sends one HTTP GET through the egress guard and follows redirects. */
export type AudioFetch = (
  url: string,
  request: AudioRequest,
) => Promise<Result<AudioResponse, AudioFetchFailure>>;

export interface AudioLimits {
  /** Maximum size of a customer's file, bytes. */
  readonly maxBytes: number;
  /** Maximum length of its audio, ms. */
  readonly maxMs: number;
  /** Memory limit for decoded audio, bytes. */
  readonly cacheBytes: number;
  /** Time for which a file is played without revalidation at its server, ms. */
  readonly freshMs: number;
  /** Maximum number of files loading at the same time. */
  readonly maxLoading: number;
  /** Maximum number of files loading from one host, so that a slow host does not block others. */
  readonly maxLoadingPerHost: number;
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  /** Longest gap between bytes, including the wait for the first one, ms. */
  readonly stallTimeoutMs: number;
  /** Number of retries after a failed connection or a 5xx. Timeouts are not retried. */
  readonly retries: number;
}

/** Limits of dialect §2.1 Play: 10 MB, 2 s to connect, 120 s in total, one retry. */
const AUDIO_LIMITS: AudioLimits = {
  maxBytes: 10 * 1024 * 1024,
  maxMs: 1_800_000,
  cacheBytes: 64 * 1024 * 1024,
  freshMs: 60_000,
  maxLoading: 100,
  maxLoadingPerHost: 8,
  connectTimeoutMs: 2000,
  readTimeoutMs: 120_000,
  stallTimeoutMs: 5000,
  retries: 1,
};

export interface AudioOptions {
  readonly fetch: AudioFetch;
  readonly clock: Clock;
  readonly limits?: Partial<AudioLimits>;
}

export interface AudioService {
  /** Starts the decoding thread and loads its decoders before the first caller. Resolves to false if this fails. */
  warm(): Promise<boolean>;
  /** Decodes a complete recording to mono PCM at 16 kHz. Never rejects. */
  decode(bytes: Uint8Array): Promise<Result<Pcm, AudioProblem>>;
  /** Decodes a WAV or MP3 file of the operator. */
  decodeFile(path: string, rate: LineRate): Promise<Result<Pcm, AudioProblem>>;
  readonly library: AudioLibrary;
  readonly encoder: RecordingEncoder;
  stop(): Promise<void>;
}

const MAX_REDIRECTS = 3;
const DECODE_LIMIT_MS = 60_000;
/** Time limit for encoding a recording, ms. A day of stereo takes about two minutes. */
const ENCODE_LIMIT_MS = 1_800_000;
/** Maximum length of a recording for transcription, ms. */
const MAX_RECORDING_MS = 3_600_000;
const MAX_WAITING_RECORDINGS = 100;
/** Maximum number of recordings that wait for MP3 encoding. */
const MAX_WAITING_ENCODES = 10_000;

export function createAudio(options: AudioOptions): AudioService {
  const { clock } = options;
  const limits = { ...AUDIO_LIMITS, ...options.limits };
  // A separate thread, so that a prompt never waits for the encoding of a long recording.
  const decoding = new ConversionThread({
    clock,
    timeLimitMs: DECODE_LIMIT_MS,
    maxWaiting: limits.maxLoading,
  });
  const encoding = new ConversionThread({
    clock,
    timeLimitMs: ENCODE_LIMIT_MS,
    maxWaiting: MAX_WAITING_ENCODES,
  });
  // A separate thread, because a recording of one hour takes seconds.
  const decodingLong = new ConversionThread({
    clock,
    timeLimitMs: ENCODE_LIMIT_MS,
    maxWaiting: MAX_WAITING_RECORDINGS,
  });
  return {
    library: new CachedLibrary(options, limits, decoding),
    encoder: {
      encodeMp3: async (wavPath, mp3Path) => {
        const reply = await encoding.run({ kind: 'encodeMp3', wavPath, mp3Path });
        return reply.kind === 'encoded' ? ok({ bytes: reply.bytes }) : err(problemOf(reply));
      },
    },
    warm: async () => (await decoding.run({ kind: 'warm' })).kind === 'warmed',
    decode: async (bytes) => {
      const reply = await decodingLong.run({
        kind: 'decode',
        bytes,
        rate: 16_000,
        maxMs: MAX_RECORDING_MS,
      });
      if (reply.kind !== 'decoded') return err(problemOf(reply));
      return ok({ rate: 16_000, samples: reply.samples });
    },
    decodeFile: async (path, rate) => {
      try {
        const bytes = new Uint8Array(await readFile(path));
        const { maxMs } = limits;
        const reply = await decoding.run({ kind: 'decode', bytes, rate, maxMs });
        if (reply.kind !== 'decoded') return err(problemOf(reply));
        return ok(reply);
      } catch (error) {
        return problem('failed', error instanceof Error ? error.message : String(error));
      }
    },
    stop: async () => {
      await Promise.all([decoding.stop(), encoding.stop(), decodingLong.stop()]);
    },
  };
}

type Loaded = Result<Pcm, AudioProblem>;

interface Wanted {
  readonly url: string;
  readonly rate: LineRate;
  /** Cache key: rate and URL. */
  readonly key: string;
}

const urlOf = (key: string): string => key.slice(key.indexOf(' ') + 1);

class CachedLibrary implements AudioLibrary {
  readonly #fetch: AudioFetch;
  readonly #clock: Clock;
  readonly #limits: AudioLimits;
  readonly #thread: ConversionThread;
  readonly #cache: PcmCache;
  /** Files that are loading, by rate and URL. Simultaneous requests for one file share the load. */
  readonly #loading = new Map<string, Promise<Loaded>>();

  constructor(options: AudioOptions, limits: AudioLimits, thread: ConversionThread) {
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#limits = limits;
    this.#thread = thread;
    this.#cache = new PcmCache(limits.cacheBytes);
  }

  load(url: string, { rate = 8000, signal }: SoundOptions = {}): Promise<Loaded> {
    const wanted: Wanted = { url, rate, key: `${rate} ${url}` };
    const known = this.#cache.get(wanted.key);
    if (known !== undefined && this.#clock.monotonicMs() < known.freshUntilMs) {
      return Promise.resolve(ok(known.pcm));
    }
    const running = this.#loading.get(wanted.key);
    if (running !== undefined) return unlessAbortedOr(signal, running, ABORTED);
    if (this.#isBusy(hostOf(url))) {
      return Promise.resolve(problem('busy', 'too many files are loading'));
    }
    // Continues after this call ends, because later calls will use the file. Size and time are limited.
    const loading = this.#refresh(wanted, known).finally(() => this.#loading.delete(wanted.key));
    this.#loading.set(wanted.key, loading);
    return unlessAbortedOr(signal, loading, ABORTED);
  }

  #isBusy(host: string): boolean {
    const { maxLoading, maxLoadingPerHost } = this.#limits;
    if (this.#loading.size >= maxLoading) return true;
    let ofHost = 0;
    for (const key of this.#loading.keys()) ofHost += hostOf(urlOf(key)) === host ? 1 : 0;
    return ofHost >= maxLoadingPerHost;
  }

  async #refresh(wanted: Wanted, known: CachedPcm | undefined): Promise<Loaded> {
    const fetched = await this.#get(wanted.url, known?.etag);
    if (!fetched.ok)
      return err({ kind: FETCH_KINDS[fetched.error.kind], detail: fetched.error.detail });
    const { status, bytes, etag } = fetched.value;
    if (status === 304 && known !== undefined) return this.#keep(wanted, known.pcm, known.etag);
    if (status !== 200) return problem('httpStatus', `answered ${status}`);
    const reply = await this.#thread.run({
      kind: 'decode',
      bytes,
      rate: wanted.rate,
      maxMs: this.#limits.maxMs,
    });
    if (reply.kind !== 'decoded') return err(problemOf(reply));
    return this.#keep(wanted, { rate: reply.rate, samples: reply.samples }, etag);
  }

  #keep({ key }: Wanted, pcm: Pcm, etag: string | undefined): Loaded {
    const freshUntilMs = this.#clock.monotonicMs() + this.#limits.freshMs;
    this.#cache.set(key, { pcm, etag, freshUntilMs });
    return ok(pcm);
  }

  async #get(
    url: string,
    etag: string | undefined,
  ): Promise<Result<AudioResponse, AudioFetchFailure>> {
    const { maxBytes, connectTimeoutMs, readTimeoutMs, stallTimeoutMs, retries } = this.#limits;
    const headers = etag === undefined ? {} : { 'if-none-match': etag };
    const request = {
      maxBytes,
      connectTimeoutMs,
      readTimeoutMs,
      stallTimeoutMs,
      maxRedirects: MAX_REDIRECTS,
      headers,
    };
    for (let attempt = 0; ; attempt += 1) {
      const result = await this.#fetch(url, request);
      const again = result.ok ? result.value.status >= 500 : result.error.kind === 'connect';
      if (!again || attempt >= retries) return result;
    }
  }
}

const FETCH_KINDS: Readonly<Record<AudioFetchFailure['kind'], AudioProblemKind>> = {
  connect: 'unreachable',
  timeout: 'unreachable',
  tooLarge: 'tooLarge',
  tooManyRedirects: 'httpStatus',
  refusedAddress: 'refused',
  protocol: 'unreachable',
  aborted: 'aborted',
};

function problemOf(reply: JobReply): AudioProblem {
  if (reply.kind !== 'failed') return { kind: 'failed', detail: `unexpectedly ${reply.kind}` };
  return { kind: reply.failure, detail: reply.detail };
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? '';

const problem = (kind: AudioProblemKind, detail: string): Loaded => err({ kind, detail });

const ABORTED = problem('aborted', 'no longer wanted');
