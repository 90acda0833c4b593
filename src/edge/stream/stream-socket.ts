/**
 * One audio stream: joins the session machine, the socket and the media side of the leg. Where the leg is native, its audio
 * goes straight between the socket's thread and the media thread; only what is left comes here.
 */

import { type Driver, drive } from '../../base/drive.ts';
import { hostOf, type ResolvedAddress } from '../../base/egress.ts';
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
import type { AudioStreamsOptions, StreamSocketLimits } from './limits.ts';
import type { NativeSocketLimits } from './native.ts';
import type { Socket, Sockets } from './sockets.ts';
import { prepareUpgrade, type Upgrade } from './upgrade.ts';

export interface StreamTally {
  open: number;
  opened: number;
  failed: number;
  mediaDropped: number;
  faults: number;
}

export interface StreamSocketNeeds extends AudioStreamsOptions {
  readonly sockets: Sockets;
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
  #socket: Socket | undefined;
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
    const addresses = await this.#resolve(upgrade.value);
    if (this.#ended || addresses === undefined) return;
    const { sockets, socketLimits } = this.#needs;
    this.#socket = sockets.open(
      upgrade.value,
      addresses,
      {
        limits: nativeLimits(socketLimits, this.#options.tracks === 'both' ? 2 : 1),
        account: this.#options.ownerId,
      },
      {
        opened: () => this.#driver.tell({ kind: 'opened' }),
        message: (bytes) => this.#received(bytes),
        refused: (why) => this.#driver.tell({ kind: 'refused', why }),
        pong: () => this.#driver.tell({ kind: 'pong' }),
        flooding: () => this.#driver.tell({ kind: 'flooding' }),
        flooded: () => this.#driver.tell({ kind: 'flooded' }),
        oversized: (what) => {
          const { maxMessageBytes, accountMessageBytes } = socketLimits;
          const limitBytes = what === 'message' ? maxMessageBytes : accountMessageBytes;
          this.#driver.tell({ kind: 'oversized', what, limitBytes });
        },
        degraded: (percent) => this.#events.degraded(percent),
        overrun: () =>
          this.#driver.tell({ kind: 'broken', detail: 'the application does not read its socket' }),
        closed: (detail) => this.#closed(detail),
      },
    );
  }

  /** The permitted addresses of the host; undefined: the end has been told. */
  #resolve({ url }: Upgrade): Promise<readonly ResolvedAddress[] | undefined> {
    return new Promise((resolve) => {
      this.#needs.egress.lookup(hostOf(url), { all: true }, (error, found) => {
        if (error === null && typeof found !== 'string') {
          resolve(found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
          return;
        }
        const refused = error?.code === 'EGRESS_REFUSED';
        const why = refused ? 'the address is refused' : 'the connection failed';
        this.#closed(`${why}: ${refused ? error.message : (error?.code ?? 'no address')}`);
        resolve(undefined);
      });
    });
  }

  /** One message that the socket's own thread has not dealt with. */
  #received(bytes: Buffer): void {
    const mayPlay = this.#options.bidirectional && this.#session.sending;
    const verdict = mayPlay ? (this.#stream?.receive(bytes) ?? 'other') : 'other';
    if (verdict === 'other') this.#driver.tell({ kind: 'received', bytes });
    else if (verdict !== 'taken') this.#driver.tell({ kind: 'refused', why: verdict });
  }

  #closed(detail: string): void {
    this.#driver.tell({ kind: 'socketClosed', detail });
  }

  #act(output: SessionOutput): void {
    switch (output.kind) {
      case 'send':
        this.#socket?.send(output.text);
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
      case 'closeSocket':
        this.#socket?.close(output.code, output.reason, output.last);
        break;
      case 'dropSocket':
        this.#socket?.drop();
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
      this.#driver.tell({ kind: 'refused', why: 'bufferFull' });
    }
  }

  #startMedia(): void {
    const { streamId, encoding, rate, tracks, bidirectional, extraHeaders } = this.#options;
    const { queueMs } = this.#needs.socketLimits;
    const extraHeadersJson = extraHeadersLiteral(extraHeaders);
    const wire = this.#socket === undefined ? {} : { wire: this.#socket };
    try {
      this.#stream = this.#leg.openStream(
        { streamId, encoding, rate, tracks, bidirectional, extraHeadersJson, queueMs, ...wire },
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

  /** Only of a media side that the socket's thread cannot be joined to. */
  #sendMedia(messages: readonly Uint8Array[]): void {
    if (!this.#session.sending) return;
    for (const message of messages) this.#socket?.sendMedia(message);
  }

  /** Told in a later turn, so that no caller of `close` or `open` finds itself called back in the middle. */
  #end(end: SessionEnd): void {
    this.#ended = true;
    this.#stream?.close();
    this.#stream = undefined;
    const { tally, logger } = this.#needs;
    const mediaDropped = this.#socket?.mediaDropped ?? 0;
    tally.open -= 1;
    tally.mediaDropped += mediaDropped;
    if (end.kind === 'connectFailed' || end.kind === 'dropped') tally.failed += 1;
    const { streamId, callUuid } = this.#options;
    logger.info({ streamId, callUuid, end, mediaDropped }, 'audio stream ended');
    queueMicrotask(() => this.#events.ended(end));
  }
}

function nativeLimits(limits: StreamSocketLimits, tracks: number): NativeSocketLimits {
  return {
    maxMessageBytes: limits.maxMessageBytes,
    accountMessageBytes: limits.accountMessageBytes,
    waitingMedia: limits.waitingMediaPerTrack * tracks,
    waitingControlBytes: limits.waitingControlBytes,
    messagesPerSecond: limits.messages.perSecond,
    messagesBurst: limits.messages.burst,
    bytesPerSecond: limits.bytes.perSecond,
    bytesBurst: limits.bytes.burst,
    floodMs: limits.floodMs,
  };
}

type ReportKind = 'started' | 'sendDigits' | 'played' | 'cleared' | 'fault' | 'ended';
