import type {
  SessionInput,
  SessionLimits,
  SessionOutput,
  StreamIdentity,
} from '../../../src/protocol/audio-stream/audio-stream.ts';
import { StreamSession } from '../../../src/protocol/audio-stream/audio-stream.ts';

export const STREAM: StreamIdentity = {
  streamId: '5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22',
  callUuid: '0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11',
  accountId: 'MA_0123456789ABCDEFG',
  format: { encoding: 'audio/x-l16', rate: 8000 },
  tracks: 'inbound',
  bidirectional: true,
  extraHeaders: [['tenant', '7']],
  from: '14155550100',
  to: '14155550101',
  direction: 'inbound',
};

export const bytes = (message: unknown): Uint8Array =>
  Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));

/** A session in virtual time: `tell` and `wait` return what it answered. */
export class Rig {
  readonly session: StreamSession;
  nowMs = 1000;
  readonly all: SessionOutput[] = [];

  constructor(stream: Partial<StreamIdentity> = {}, limits?: SessionLimits) {
    this.session = new StreamSession({ ...STREAM, ...stream }, limits);
    this.tell({ kind: 'connecting' });
  }

  tell(input: SessionInput): readonly SessionOutput[] {
    const outputs = [...this.session.handle(input, this.nowMs)];
    this.all.push(...outputs);
    return outputs;
  }

  /** A message of the bot that the media engine did not take. */
  bot(message: unknown): readonly SessionOutput[] {
    return this.tell({ kind: 'received', bytes: bytes(message), verdict: 'other' });
  }

  /** Lets `ms` pass, firing each deadline at its moment. */
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
    this.tell({ kind: 'opened' });
    return this;
  }
}

/** Messages among the outputs, parsed. */
export const sent = (outputs: readonly SessionOutput[]): Array<Record<string, unknown>> =>
  outputs.flatMap((output) => (output.kind === 'send' ? [JSON.parse(output.text)] : []));

export const kinds = (outputs: readonly SessionOutput[]): string[] =>
  outputs.map(({ kind }) => kind);

export const ends = (outputs: readonly SessionOutput[]): unknown[] =>
  outputs.flatMap((output) => (output.kind === 'ended' ? [output.end] : []));
