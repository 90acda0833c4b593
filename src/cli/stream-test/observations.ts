/** Observations of a stream test and their report. Times are milliseconds of one monotonic clock. */
import type { StreamSocketEnd } from '../../domain/call/needs.ts';
import { Turns } from '../../domain/interpreter/turns.ts';

/** Silence after which audio of the bot begins an answer, in ms, as in the media engine. */
const BOT_PAUSE_MS = 300;
/** Maximum silence within speech that counts as an interruption, in ms. Longer silence is an intended pause. */
const LONGEST_INTERRUPTION_MS = 500;
/** Interruptions per second of speech that indicate a bot that sends too slowly. Fewer are network jitter. */
const INTERRUPTIONS_PER_SECOND = 2;
/** Minimum speech of the bot, in ms, needed to judge how steadily it sends. */
const LEAST_JUDGED_MS = 1000;
/** System error codes and certificate errors of failed connections, with explanations. */
const PLAIN_WORDS: ReadonlyArray<readonly [name: RegExp, words: string]> = [
  [/ECONNREFUSED/, 'no server listens at this address and port'],
  [/ENOTFOUND|EAI_AGAIN/, 'this host name does not resolve'],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/, 'this address cannot be reached from here'],
  [/ECONNRESET|EPIPE/, 'the other side cut the connection'],
  [
    /ISSUER_CERT|SELF_SIGNED|UNABLE_TO_VERIFY/,
    'no trusted authority signed the certificate: use --ca, or make the server send its intermediate certificates',
  ],
  [/CERT_HAS_EXPIRED/, 'the certificate has expired'],
];

export class Observations {
  readonly requestedMs: number;
  startedMs: number | undefined;
  firstAudioMs: number | undefined;
  speechEndMs: number | undefined;
  firstAudioAfterSpeechMs: number | undefined;
  end: StreamSocketEnd | undefined;
  mediaSent = 0;
  playAudio = 0;
  playedMs = 0;
  shortestPlayMs = Number.POSITIVE_INFINITY;
  longestPlayMs = 0;
  longestQueueMs = 0;
  checkpoints = 0;
  checkpointsPlayed = 0;
  clears = 0;
  digits = '';
  interruptions = 0;
  longestInterruptionMs = 0;
  /** Faults of the bot and how often each occurred. */
  readonly faults = new Map<string, number>();
  /** Sample rates of the bot's audio. */
  readonly ratesHz = new Set<number>();
  readonly turns = new Turns();
  #dryMs: number | undefined;
  /** Time of the caller's last speech that the bot has not answered. */
  #callerMs: number | undefined;
  #botMs = Number.NEGATIVE_INFINITY;

  constructor(requestedMs: number) {
    this.requestedMs = requestedMs;
  }

  audioCame(durationMs: number, nowMs: number): void {
    this.firstAudioMs ??= nowMs;
    if (this.speechEndMs !== undefined) this.firstAudioAfterSpeechMs ??= nowMs;
    this.playAudio += 1;
    this.playedMs += durationMs;
    this.shortestPlayMs = Math.min(this.shortestPlayMs, durationMs);
    this.longestPlayMs = Math.max(this.longestPlayMs, durationMs);
    if (this.#dryMs === undefined) return;
    const gapMs = nowMs - this.#dryMs;
    this.#dryMs = undefined;
    if (gapMs > LONGEST_INTERRUPTION_MS) return;
    this.interruptions += 1;
    this.longestInterruptionMs = Math.max(this.longestInterruptionMs, gapMs);
  }

  /** Records that the test speech was audible. */
  callerSpoke(nowMs: number): void {
    this.#callerMs = nowMs;
  }

  /** Records that the bot was audible. The first audio after a pause answers the caller's last speech. */
  botSpoke(nowMs: number): void {
    const begins = nowMs - this.#botMs >= BOT_PAUSE_MS;
    this.#botMs = nowMs;
    if (!begins || this.#callerMs === undefined) return;
    this.turns.took(nowMs - this.#callerMs);
    this.#callerMs = undefined;
  }

  /** Records that the playback queue ran empty within speech. */
  ranDry(nowMs: number): void {
    this.#dryMs ??= nowMs;
  }

  cleared(): void {
    this.clears += 1;
    this.#dryMs = undefined;
  }

  fault(words: string): void {
    this.faults.set(words, (this.faults.get(words) ?? 0) + 1);
  }
}

const inPlainWords = (detail: string): string => {
  const words = PLAIN_WORDS.find(([name]) => name.test(detail))?.[1];
  return words === undefined ? detail : `${detail} (${words})`;
};

const ENDED_BY = {
  closed: 'the test',
  stopRequested: 'the bot, by a stop message',
  dropped: 'the bot or the network',
  connectFailed: '-',
} as const;

const ms = (from: number | undefined, to: number | undefined): string =>
  from === undefined || to === undefined ? '-' : `${Math.round(to - from)} ms`;

function turnsOf({ turns }: Observations): string {
  const summary = turns.summary();
  if (summary === undefined) return '-';
  const { count, p50Ms, p95Ms } = summary;
  return `${count} (p50 ${Math.round(p50Ms)} ms, p95 ${Math.round(p95Ms)} ms)`;
}

/** Rows of the report: label and value. */
export function table(seen: Observations): ReadonlyArray<readonly [what: string, value: string]> {
  const sizes =
    seen.playAudio === 0
      ? '-'
      : `${Math.round(seen.shortestPlayMs)}-${Math.round(seen.longestPlayMs)} ms each`;
  return [
    ['connected and started', ms(seen.requestedMs, seen.startedMs)],
    ['first audio from the bot after start', ms(seen.startedMs, seen.firstAudioMs)],
    ['first audio after the test speech ended', ms(seen.speechEndMs, seen.firstAudioAfterSpeechMs)],
    ['turns, and latency of the answers', turnsOf(seen)],
    ['media messages sent', String(seen.mediaSent)],
    ['playAudio messages', `${seen.playAudio} (${sizes})`],
    ['audio from the bot', `${(seen.playedMs / 1000).toFixed(1)} s`],
    ['longest playback queue', `${Math.round(seen.longestQueueMs)} ms`],
    [
      'interruptions of bot speech',
      seen.interruptions === 0
        ? '0'
        : `${seen.interruptions} (longest ${Math.round(seen.longestInterruptionMs)} ms)`,
    ],
    ['checkpoints answered', `${seen.checkpointsPlayed} of ${seen.checkpoints}`],
    ['clearAudio', String(seen.clears)],
    ['keys pressed by the bot', seen.digits === '' ? '-' : seen.digits],
    ['ended by', seen.end === undefined ? '-' : ENDED_BY[seen.end.kind]],
  ];
}

/** Audio declared with a higher rate than it has is played too fast, with gaps. */
function rateHint({ ratesHz }: Observations, streamRateHz: number | undefined): string {
  const [only] = ratesHz;
  if (
    ratesHz.size !== 1 ||
    only === undefined ||
    only === streamRateHz ||
    streamRateHz === undefined
  )
    return '';
  return `. The bot declares ${only} Hz, but the stream has ${streamRateHz} Hz: echoed audio needs the rate of "start"`;
}

/** Returns a description of every fault; empty if there is none. */
export function problems(seen: Observations, streamRateHz?: number): readonly string[] {
  const found = [...seen.faults].map(([words, times]) =>
    times === 1 ? words : `${words} (${times}x)`,
  );
  const { end } = seen;
  if (end?.kind === 'connectFailed') return [...found, `no stream: ${inPlainWords(end.detail)}`];
  if (end?.kind === 'dropped') {
    found.push(
      `the stream broke: ${inPlainWords(end.detail)}. A call's CDR would say "Connection error"`,
    );
  }
  const { interruptions, playedMs } = seen;
  if (playedMs >= LEAST_JUDGED_MS && interruptions > INTERRUPTIONS_PER_SECOND * (playedMs / 1000)) {
    found.push(
      `the bot's speech was interrupted ${interruptions} times: it sends audio slower than real time; send larger chunks, or send earlier${rateHint(seen, streamRateHz)}`,
    );
  }
  if (seen.playAudio === 0) found.push('the bot sent no audio');
  if (seen.checkpointsPlayed < seen.checkpoints && end?.kind === 'closed' && seen.clears === 0) {
    found.push('the test ended before all checkpoints were reached; try more --seconds');
  }
  return found;
}
