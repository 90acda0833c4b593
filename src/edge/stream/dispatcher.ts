/**
 * One audio stream: connects the session state machine, the bot connection and the media of the leg. Simulations use a
 * different connection. If leg and connection are native, audio passes directly between their threads; only other
 * messages arrive here.
 */

import type { Clock } from '../../base/clock.ts';
import { type Driver, drive } from '../../base/drive.ts';
import { assertNever } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type {
  MediaLeg,
  MediaStream,
  StreamSocket,
  StreamSocketEvents,
  StreamSocketOptions,
  StreamWire,
  TransferProgress,
} from '../../domain/call/needs.ts';
import {
  type EngineRefusal,
  extraHeadersLiteral,
  type Oversize,
  type SessionEnd,
  type SessionInput,
  type SessionOutput,
  StreamSession,
} from '../../protocol/audio-stream/audio-stream.ts';
import type { StreamSocketLimits } from './limits.ts';
import type { StreamWatches } from './watches.ts';

export interface StreamTally {
  open: number;
  opened: number;
  failed: number;
  mediaDropped: number;
  faults: number;
}

export const newTally = (): StreamTally => ({
  open: 0,
  opened: 0,
  failed: 0,
  mediaDropped: 0,
  faults: 0,
});

/** Events of a connection. None follows `closed` or `drop`. */
export interface BotConnectionEvents {
  opened(): void;
  /** Receives a message. Later audio of the bot is not consumed before this returns. */
  message(bytes: Buffer): void;
  /** The connection refused a `playAudio`. */
  refused(why: EngineRefusal): void;
  pong(): void;
  flooding(): void;
  flooded(): void;
  /** A message exceeded `limitBytes`, alone or together with others of the account. No later message is read. */
  oversized(what: Oversize, limitBytes: number): void;
  /** Fill level in percent of the send queue or of the bot's audio queue. */
  degraded(percent: number): void;
  /** Reports dropped `media` after the bot resumed reading; see `mediaDropped`. */
  missed?(): void;
  /** Queued control messages exceed the limit. */
  overrun(): void;
  /** Called once, even if the connection never opened. `detail` is a readable reason. */
  closed(detail: string): void;
}

/** Connection to one bot. Before `opened` and after `closed` or `drop`, its other methods have no effect. */
export interface BotConnection {
  /** Number of `media` messages dropped because the bot reads too slowly. */
  readonly mediaDropped: number;
  /** Native connection for media. If undefined, media is sent with `sendMedia` and audio arrives with `message`. */
  readonly wire: StreamWire | undefined;
  /** Called once before all others. Emits no events before it returns. */
  connect(events: BotConnectionEvents): void;
  send(text: string): void;
  /** The bytes are valid only during the call. */
  sendMedia(message: Uint8Array): void;
  ping(): void;
  /** Sends `last`, then the close frame. */
  close(code: number, reason: string, last: string | undefined): void;
  drop(): void;
}

export interface DispatcherNeeds {
  readonly connection: BotConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Pick<StreamSocketLimits, 'session' | 'queueMs'>;
  readonly tally: StreamTally;
  readonly turnTook?: ((latencyMs: number) => void) | undefined;
  /** Watchers of stream messages; undefined for none. */
  readonly watches?: StreamWatches;
}

/** Duration of audio in one `media` message of one track, in milliseconds. */
const MEDIA_MS = 20;

export class StreamDispatcher implements StreamSocket {
  readonly #options: StreamSocketOptions;
  readonly #leg: MediaLeg;
  readonly #events: StreamSocketEvents;
  readonly #needs: DispatcherNeeds;
  readonly #connection: BotConnection;
  readonly #session: StreamSession;
  readonly #driver: Driver<SessionInput>;
  #stream: MediaStream | undefined;
  #reportedDropped = 0;

  constructor(
    options: StreamSocketOptions,
    leg: MediaLeg,
    events: StreamSocketEvents,
    needs: DispatcherNeeds,
  ) {
    this.#options = options;
    this.#leg = leg;
    this.#events = events;
    this.#needs = needs;
    this.#connection = needs.connection;
    const identity = { ...options, format: { encoding: options.encoding, rate: options.rate } };
    this.#session = new StreamSession(identity, needs.limits.session);
    this.#driver = drive(this.#session, needs.clock, (output) => this.#act(output));
    needs.tally.open += 1;
    this.#driver.notify({ kind: 'connecting' });
    this.#connect();
  }

  close(
    reason: Parameters<StreamSocket['close']>[0],
    options?: { readonly drain?: boolean },
  ): void {
    this.#driver.notify({ kind: 'close', reason, drain: options?.drain ?? false });
  }

  transferProgress({ status, detail }: TransferProgress): void {
    this.#driver.notify({ kind: 'transferProgress', status, detail });
  }

  #connect(): void {
    this.#connection.connect({
      opened: () => this.#driver.notify({ kind: 'opened' }),
      message: (bytes) => this.#received(bytes),
      refused: (why) => this.#driver.notify({ kind: 'refused', why }),
      pong: () => this.#driver.notify({ kind: 'pong' }),
      flooding: () => this.#driver.notify({ kind: 'flooding' }),
      flooded: () => this.#driver.notify({ kind: 'flooded' }),
      oversized: (what, limitBytes) => this.#driver.notify({ kind: 'oversized', what, limitBytes }),
      degraded: (percent) => this.#events.degraded(percent),
      missed: () => this.#notifyMissed(),
      overrun: () =>
        this.#driver.notify({ kind: 'broken', detail: 'the application does not read its socket' }),
      closed: (detail) => this.#driver.notify({ kind: 'socketClosed', detail }),
    });
  }

  /** Reports the audio dropped since the last report. */
  #notifyMissed(): void {
    const { mediaDropped } = this.#connection;
    const messages = mediaDropped - this.#reportedDropped;
    if (messages <= 0) return;
    this.#reportedDropped = mediaDropped;
    const { streamId, callUuid, tracks } = this.#options;
    const ms = (messages * MEDIA_MS) / (tracks === 'both' ? 2 : 1);
    this.#needs.tally.mediaDropped += messages;
    this.#needs.logger.warn(
      { streamId, callUuid, messages, ms },
      'audio dropped: the bot does not read its socket',
    );
    this.#events.missed?.(ms);
  }

  /** Handles one message that the connection did not consume. */
  #received(bytes: Buffer): void {
    const { watches } = this.#needs;
    watches?.notify(this.#options.callUuid, 'fromBot', () => bytes.toString());
    const mayPlay = this.#options.bidirectional && this.#session.sending;
    const verdict = mayPlay ? (this.#stream?.receive(bytes) ?? 'other') : 'other';
    if (verdict === 'other') this.#driver.notify({ kind: 'received', bytes });
    else if (verdict !== 'taken') this.#driver.notify({ kind: 'refused', why: verdict });
  }

  #act(output: SessionOutput): void {
    switch (output.kind) {
      case 'send':
        this.#needs.watches?.notify(this.#options.callUuid, 'toBot', () => output.text);
        this.#connection.send(output.text);
        break;
      case 'ping':
        this.#connection.ping();
        break;
      case 'enqueue':
        this.#enqueue(output);
        break;
      case 'clearQueue':
        this.#driver.notify({ kind: 'queueCleared', at: this.#stream?.clear() });
        break;
      case 'checkpoint':
        this.#stream?.checkpoint(output.id);
        break;
      case 'closeSocket':
        this.#connection.close(output.code, output.reason, output.last);
        break;
      case 'dropSocket':
        this.#connection.drop();
        break;
      case 'pauseRecording':
        this.#pauseRecording(output.isPaused);
        break;
      case 'sendDigits':
      case 'note':
      case 'transfer':
      case 'cancelTransfer':
      case 'started':
      case 'played':
      case 'cleared':
      case 'fault':
      case 'ended':
        this.#report(output);
        break;
      default:
        assertNever(output);
    }
  }

  #report(output: Extract<SessionOutput, { readonly kind: ReportKind }>): void {
    switch (output.kind) {
      case 'started':
        this.#needs.tally.opened += 1;
        this.#startMedia();
        this.#events.started();
        break;
      case 'sendDigits':
        this.#events.sendDigits(output.digits);
        break;
      case 'note':
        this.#events.note?.(output.note);
        break;
      case 'transfer':
        this.#events.transfer?.(output.transfer);
        break;
      case 'cancelTransfer':
        this.#events.cancelTransfer?.();
        break;
      case 'played':
        this.#events.played(output.name);
        break;
      case 'cleared':
        this.#events.cleared();
        break;
      case 'fault':
        this.#needs.tally.faults += 1;
        this.#events.fault(output.code, output.detail);
        break;
      case 'ended':
        this.#end(output.end);
        break;
    }
  }

  #enqueue({ encoding, rate, payload }: Extract<SessionOutput, { kind: 'enqueue' }>): void {
    if (this.#stream?.enqueue(encoding, rate, payload) === false) {
      this.#driver.notify({ kind: 'refused', why: 'bufferFull' });
    }
  }

  #startMedia(): void {
    const { streamId, encoding, rate, tracks, bidirectional, extraHeaders, speech } = this.#options;
    const { queueMs } = this.#needs.limits;
    const extraHeadersJson = extraHeadersLiteral(extraHeaders);
    const { wire } = this.#connection;
    const { clean } = this.#options;
    const chosen = { ...(speech && { speech }), ...(clean && { clean }) };
    const joined = { ...(wire && { wire }), ...chosen };
    try {
      this.#stream = this.#leg.openStream(
        { streamId, encoding, rate, tracks, bidirectional, extraHeadersJson, queueMs, ...joined },
        {
          media: (messages) => this.#sendMedia(messages),
          played: (checkpoint, at) =>
            this.#driver.notify({ kind: 'played', checkpoint, ...(at && { at }) }),
          notCleaned: (reason) => this.#events.notCleaned?.(reason),
          speech: (event) => this.#driver.notify({ kind: 'speech', ...event }),
          interrupted: (checkpoints, at) => {
            this.#driver.notify({ kind: 'interrupted', checkpoints, at });
            this.#events.interrupted?.(at);
          },
          turn: (latencyMs) => {
            this.#needs.turnTook?.(latencyMs);
            this.#events.turn?.(latencyMs);
          },
          degraded: (percent) => this.#events.degraded(percent),
          dtmf: (digit, timestampMs) => this.#driver.notify({ kind: 'dtmf', digit, timestampMs }),
        },
      );
    } catch (error) {
      this.#driver.notify({ kind: 'broken', detail: `no media for the stream: ${error}` });
    }
  }

  #pauseRecording(isPaused: boolean): void {
    const count = this.#events.pauseRecording?.(isPaused) ?? 0;
    this.#driver.notify({ kind: 'recordings', isPaused, count });
  }

  /** Sends media if the connection cannot be connected natively. */
  #sendMedia(messages: readonly Uint8Array[]): void {
    if (!this.#session.sending) return;
    for (const message of messages) this.#connection.sendMedia(message);
  }

  /** Reports the end in a later turn, so that it never interrupts a caller of `close` or `open`. */
  #end(end: SessionEnd): void {
    this.#stream?.close();
    this.#stream = undefined;
    const { tally, logger } = this.#needs;
    const { mediaDropped } = this.#connection;
    tally.open -= 1;
    this.#notifyMissed();
    if (end.kind === 'connectFailed' || end.kind === 'dropped') tally.failed += 1;
    const { streamId, callUuid } = this.#options;
    logger.info({ streamId, callUuid, end, mediaDropped }, 'audio stream ended');
    queueMicrotask(() => this.#events.ended(end));
  }
}

type ReportKind =
  | 'started'
  | 'sendDigits'
  | 'note'
  | 'transfer'
  | 'cancelTransfer'
  | 'played'
  | 'cleared'
  | 'fault'
  | 'ended';
