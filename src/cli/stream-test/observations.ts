/** Observations of a stream test and their report. Times are milliseconds of one monotonic clock. */
import type { StreamSocketEnd } from '../../domain/call/needs.ts';

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
  #dryMs: number | undefined;

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

/** Returns a description of every fault; empty if there is none. */
export function problems(seen: Observations): readonly string[] {
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
      `the bot's speech was interrupted ${interruptions} times: it sends audio slower than real time; send larger chunks, or send earlier`,
    );
  }
  if (seen.playAudio === 0) found.push('the bot sent no audio');
  if (seen.checkpointsPlayed < seen.checkpoints && end?.kind === 'closed' && seen.clears === 0) {
    found.push('the test ended before all checkpoints were reached; try more --seconds');
  }
  return found;
}
