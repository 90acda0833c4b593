import { asAccountId, asCallUuid, asStreamId } from '../../../src/base/ids.ts';
import type {
  SessionInput,
  SessionLimits,
  SessionOutput,
} from '../../../src/protocol/audio-stream/audio-stream.ts';
import { StreamSession } from '../../../src/protocol/audio-stream/audio-stream.ts';
import type { StreamIdentity } from '../../../src/protocol/audio-stream/service-message.ts';
import { SEQUENCE_NUMBER_OFFSET } from './sequence-number.ts';

export const STREAM: StreamIdentity = {
  streamId: asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22'),
  callUuid: asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11'),
  accountId: asAccountId('MA_0123456789ABCDEFG'),
  format: { encoding: 'audio/x-l16', rate: 8000 },
  tracks: 'inbound',
  bidirectional: true,
  extraHeaders: [['tenant', '7']],
  from: '14155550100',
  to: '14155550101',
  direction: 'inbound',
  callStartMs: 1_700_000_000_000,
};

export const bytes = (message: unknown): Uint8Array =>
  Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));

/** A session in virtual time. `dispatch` and `wait` return its outputs. */
export class Rig {
  readonly session: StreamSession;
  nowMs = 1000;
  readonly all: SessionOutput[] = [];

  constructor(stream: Partial<StreamIdentity> = {}, limits?: SessionLimits) {
    this.session = new StreamSession({ ...STREAM, ...stream }, limits);
    this.dispatch({ kind: 'connecting' });
  }

  dispatch(input: SessionInput): readonly SessionOutput[] {
    const outputs = [...this.session.handle(input, this.nowMs)];
    this.all.push(...outputs);
    return outputs;
  }

  /** Delivers a message of the bot that the media engine did not consume. */
  bot(message: unknown): readonly SessionOutput[] {
    return this.dispatch({ kind: 'received', bytes: bytes(message) });
  }

  /** Advances time by `ms` and fires each deadline at its time. */
  wait(ms: number): readonly SessionOutput[] {
    const endMs = this.nowMs + ms;
    const outputs: SessionOutput[] = [];
    for (;;) {
      const due = this.session.deadlineMs();
      if (due === undefined || due > endMs) break;
      this.nowMs = due;
      outputs.push(...this.session.expire(due));
    }
    this.nowMs = endMs;
    this.all.push(...outputs);
    return outputs;
  }

  open(): this {
    this.dispatch({ kind: 'opened' });
    return this;
  }
}

/** Message with its sequence number filled in, as the socket's owner does. */
export const numbered = (text: string, number = 0): string =>
  text.slice(0, SEQUENCE_NUMBER_OFFSET) +
  String(number).padStart(10) +
  text.slice(SEQUENCE_NUMBER_OFFSET + 10);

/** Sent messages among the outputs. */
export const sentTexts = (outputs: readonly SessionOutput[]): string[] =>
  outputs
    .flatMap((output) => {
      if (output.kind === 'send') return [output.text];
      return output.kind === 'closeSocket' && output.last !== undefined ? [output.last] : [];
    })
    .map((text, i) => numbered(text, i));

/** Sent messages among the outputs, parsed. */
export const sent = (outputs: readonly SessionOutput[]): Array<Record<string, unknown>> =>
  sentTexts(outputs).map((text) => JSON.parse(text));

export const kinds = (outputs: readonly SessionOutput[]): string[] =>
  outputs.map(({ kind }) => kind);

export const ends = (outputs: readonly SessionOutput[]): unknown[] =>
  outputs.flatMap((output) => (output.kind === 'ended' ? [output.end] : []));
