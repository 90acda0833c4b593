/** One audio stream: joins the session machine, the WebSocket and the media side of the leg. */
import type { WebSocket } from 'ws';
import { writePaddedNumber } from '../../base/ascii-number.ts';
import { type Driver, drive } from '../../base/drive.ts';
import { assertNever } from '../../base/errors.ts';
import type {
  MediaLeg,
  MediaStream,
  StreamSocket,
  StreamSocketEvents,
  StreamSocketOptions,
} from '../../domain/call/needs.ts';
import {
  extraHeadersLiteral,
  type SessionEnd,
  type SessionInput,
  type SessionOutput,
  StreamSession,
} from '../../protocol/audio-stream/audio-stream.ts';
import type { AudioStreamsOptions } from './client.ts';
import type { StreamSocketLimits } from './limits.ts';
import { SendQueue } from './send-queue.ts';
import { openSocket } from './socket.ts';
import { prepareUpgrade } from './upgrade.ts';

/** Where the ten spaces of the sequence number begin in a `media` message. */
const SEQUENCE_NUMBER_OFFSET = '{"sequenceNumber":'.length;

export interface StreamTally {
  open: number;
  opened: number;
  failed: number;
  mediaSent: number;
  mediaDropped: number;
  messagesReceived: number;
  faults: number;
}

export interface StreamSocketNeeds extends AudioStreamsOptions {
  readonly ca: readonly string[] | undefined;
  readonly socketLimits: StreamSocketLimits;
  readonly tally: StreamTally;
}

export class AudioStreamSocket implements StreamSocket {
  readonly #options: StreamSocketOptions;
  readonly #leg: MediaLeg;
  readonly #events: StreamSocketEvents;
  readonly #needs: StreamSocketNeeds;
  readonly #session: StreamSession;
  readonly #driver: Driver<SessionInput>;
  #socket: WebSocket | undefined;
  #queue: SendQueue | undefined;
  #stream: MediaStream | undefined;
  #ended = false;

  constructor(
    options: StreamSocketOptions,
    leg: MediaLeg,
    events: StreamSocketEvents,
    needs: StreamSocketNeeds,
  ) {
    this.#options = options;
    this.#leg = leg;
    this.#events = events;
    this.#needs = needs;
    const { clock, socketLimits } = needs;
    const identity = { ...options, format: { encoding: options.encoding, rate: options.rate } };
    this.#session = new StreamSession(identity, socketLimits.session);
    this.#driver = drive(this.#session, clock, (output) => this.#act(output));
    needs.tally.open += 1;
    this.#connect().catch((error: unknown) => this.#closed(`the connection failed: ${error}`));
  }

  close(
    reason: Parameters<StreamSocket['close']>[0],
    options?: { readonly drain?: boolean },
  ): void {
    this.#driver.tell({ kind: 'close', reason, drain: options?.drain ?? false });
  }

  async #connect(): Promise<void> {
    this.#driver.tell({ kind: 'connecting' });
    const upgrade = await prepareUpgrade(this.#options, this.#needs);
    if (this.#ended) return;
    if (!upgrade.ok) {
      this.#closed(upgrade.error);
      return;
    }
    const { socketLimits, egress, ca } = this.#needs;
    const { maxMessageBytes, session } = socketLimits;
    const socket = openSocket(
      upgrade.value,
      { lookup: egress.lookup, ca, maxMessageBytes, handshakeMs: session.connectMs },
      {
        opened: () => this.#driver.tell({ kind: 'opened' }),
        message: (bytes) => this.#received(bytes),
        pong: () => this.#driver.tell({ kind: 'pong' }),
        closed: (detail) => this.#closed(detail),
      },
    );
    this.#socket = socket;
    this.#queue = new SendQueue(socket, this.#options.tracks === 'both' ? 2 : 1, socketLimits, {
      degraded: (percent) => this.#events.degraded(percent),
      overrun: () =>
        this.#driver.tell({ kind: 'broken', detail: 'the application does not read its socket' }),
    });
  }

  #received(bytes: Buffer): void {
    this.#needs.tally.messagesReceived += 1;
    const mayPlay = this.#options.bidirectional && this.#session.sending;
    const verdict = mayPlay ? (this.#stream?.receive(bytes) ?? 'other') : 'other';
    this.#driver.tell({ kind: 'received', bytes, verdict });
  }

  #closed(detail: string): void {
    this.#driver.tell({ kind: 'socketClosed', detail });
  }

  #act(output: SessionOutput): void {
    switch (output.kind) {
      case 'send':
        this.#queue?.sendControl(output.text);
        break;
      case 'ping':
        this.#socket?.ping();
        break;
      case 'enqueue':
        this.#enqueue(output);
        break;
      case 'clearQueue':
        this.#stream?.clear();
        break;
      case 'checkpoint':
        this.#stream?.checkpoint(output.id);
        break;
      case 'pauseReading':
        this.#socket?.pause();
        break;
      case 'resumeReading':
        this.#socket?.resume();
        break;
      case 'closeSocket':
        this.#queue?.finish();
        this.#socket?.close(output.code, output.reason);
        break;
      case 'dropSocket':
        this.#socket?.terminate();
        break;
      case 'sendDigits':
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
      this.#driver.tell({ kind: 'queueFull' });
    }
  }

  #startMedia(): void {
    const { streamId, encoding, rate, tracks, bidirectional, extraHeaders } = this.#options;
    const { queueMs } = this.#needs.socketLimits;
    const extraHeadersJson = extraHeadersLiteral(extraHeaders);
    try {
      this.#stream = this.#leg.openStream(
        { streamId, encoding, rate, tracks, bidirectional, extraHeadersJson, queueMs },
        {
          media: (messages) => this.#sendMedia(messages),
          played: (checkpoint) => this.#driver.tell({ kind: 'played', checkpoint }),
          degraded: (percent) => this.#events.degraded(percent),
          dtmf: (digit, timestampMs) => this.#driver.tell({ kind: 'dtmf', digit, timestampMs }),
        },
      );
    } catch (error) {
      this.#driver.tell({ kind: 'broken', detail: `no media for the stream: ${error}` });
    }
  }

  #sendMedia(messages: readonly Uint8Array[]): void {
    const queue = this.#queue;
    if (queue === undefined || !this.#session.sending) return;
    this.#needs.tally.mediaSent += messages.length;
    for (const message of messages) {
      writePaddedNumber(message, SEQUENCE_NUMBER_OFFSET, this.#session.takeSequenceNumber());
      queue.sendMedia(Buffer.from(message.buffer, message.byteOffset, message.byteLength));
    }
  }

  /** Told in a later turn, so that no caller of `close` or `open` finds itself called back in the middle. */
  #end(end: SessionEnd): void {
    this.#ended = true;
    this.#stream?.close();
    this.#stream = undefined;
    const { tally, logger } = this.#needs;
    const mediaDropped = this.#queue?.droppedMedia ?? 0;
    tally.open -= 1;
    tally.mediaDropped += mediaDropped;
    if (end.kind === 'connectFailed' || end.kind === 'dropped') tally.failed += 1;
    const { streamId, callUuid } = this.#options;
    logger.info({ streamId, callUuid, end, mediaDropped }, 'audio stream ended');
    queueMicrotask(() => this.#events.ended(end));
  }
}

type ReportKind = 'started' | 'sendDigits' | 'played' | 'cleared' | 'fault' | 'ended';
