/** Runs one test of a bot: connects as the service would, sends speech, receives audio and returns the observations. */
import type { Clock } from '../../base/clock.ts';
import type { EgressGuard } from '../../base/egress.ts';
import { type AccountId, newCallUuid, newStreamId, type Random } from '../../base/ids.ts';
import { silentLogger } from '../../base/logger.ts';
import type { Headers, MediaLeg, StreamSocketEvents } from '../../domain/call/needs.ts';
import { createAudioStreams, DEFAULT_STREAM_LIMITS } from '../../edge/stream/client.ts';
import type { Sound } from '../../phone/audio/wav.ts';
import type { StreamFormat } from '../../protocol/audio-stream/audio-stream.ts';
import { Observations } from './observations.ts';
import { TestLine } from './test-line.ts';

export interface StreamTestOptions {
  readonly url: string;
  readonly voice: Sound;
  /** Duration of the stream in ms. */
  readonly durationMs: number;
  readonly format: StreamFormat;
  readonly extraHeaders: Headers;
  /** DTMF keys to send, one per second after the start. */
  readonly digits: string;
  readonly accountId: AccountId;
  readonly caFile: string;
  readonly egress: EgressGuard;
  readonly clock: Clock;
  readonly random: Random;
  signUpgrade(url: string, accountId: AccountId): Promise<Readonly<Record<string, string>>>;
  /** Reports one line of progress. */
  progress(line: string): void;
}

export interface StreamTestResult {
  readonly seen: Observations;
  /** Audio of the bot; undefined if the stream never started. */
  readonly recording: Sound | undefined;
}

const DIGIT_INTERVAL_MS = 1000;
/** Ping interval and timeout. Calls use 20 s for each; a test is shorter. */
const PING_MS = 1000;
const PONG_MS = 5000;

export function runStreamTest(options: StreamTestOptions): Promise<StreamTestResult> {
  const { clock, random, format } = options;
  const seen = new Observations(clock.monotonicMs());
  const streams = createAudioStreams({
    egress: options.egress,
    signUpgrade: options.signUpgrade,
    userAgent: 'Carillon stream test',
    caFile: options.caFile,
    limits: {
      session: { ...DEFAULT_STREAM_LIMITS.session, pingMs: PING_MS, pongMs: PONG_MS },
    },
    clock,
    logger: silentLogger,
  });
  const timers: Array<() => void> = [];
  let line: TestLine | undefined;
  let press: (digit: string) => void = () => undefined;
  const leg: Pick<MediaLeg, 'openStream'> = {
    openStream(streamOptions, events) {
      press = (digit) => events.dtmf(digit, clock.wallMs());
      line = new TestLine(streamOptions, events, { voice: options.voice, clock, seen });
      return line;
    },
  };
  return new Promise((resolve) => {
    const socket = streams.open(
      {
        url: options.url,
        streamId: newStreamId(random),
        callUuid: newCallUuid(random, clock.wallMs()),
        accountId: options.accountId,
        ownerId: options.accountId,
        encoding: format.encoding,
        rate: format.rate,
        tracks: 'inbound',
        bidirectional: true,
        extraHeaders: options.extraHeaders,
        from: '14155550100',
        to: '14155550101',
        direction: 'inbound',
        callStartMs: clock.wallMs(),
        notes: true,
        transfers: true,
      },
      leg as MediaLeg,
      watch(seen, options, {
        started: () => {
          const endMs = clock.monotonicMs() + options.durationMs;
          timers.push(clock.at(endMs, () => socket.close('call_hangup')));
          timers.push(...pressKeys(options, (digit) => press(digit)));
        },
        ended: () => {
          for (const cancel of timers) cancel();
          streams.stop();
          resolve({ seen, recording: line?.recording });
        },
      }),
    );
  });
}

/** Schedules each key. Returns a function that cancels the remaining keys. */
function pressKeys(
  { clock, digits, progress }: StreamTestOptions,
  press: (digit: string) => void,
): ReadonlyArray<() => void> {
  return [...digits].map((digit, i) =>
    clock.at(clock.monotonicMs() + (i + 1) * DIGIT_INTERVAL_MS, () => {
      progress(`key ${digit} pressed`);
      press(digit);
    }),
  );
}

function watch(
  seen: Observations,
  { clock, progress }: StreamTestOptions,
  then: { started(): void; ended(): void },
): StreamSocketEvents {
  return {
    started() {
      seen.startedMs = clock.monotonicMs();
      progress('connected, start sent; speaking');
      then.started();
    },
    played(name) {
      seen.checkpointsPlayed += 1;
      progress(`checkpoint "${name}" reached`);
    },
    cleared: () => progress('the bot cleared its audio'),
    degraded: (percent) =>
      seen.fault(`the bot reads too slowly: ${percent} % of the send queue filled`),
    sendDigits(digits) {
      seen.digits += digits;
    },
    note: ({ kind, text }) => progress(`${kind}: ${text}`),
    transfer: ({ mode, to }) => progress(`${mode} transfer to ${to} (not dialed)`),
    fault: (code, detail) => seen.fault(`${code}: ${detail}`),
    ended(end) {
      seen.end = end;
      then.ended();
    },
  };
}
