import type { CallUuid } from '../../../base/ids.ts';
import type { LegOwner } from '../../../domain/call/needs.ts';
import type { Flow } from '../../../protocol/sip/sip.ts';

/** One message as sent or received. */
export interface TracedMessage {
  readonly direction: 'in' | 'out';
  readonly flow: Flow;
  /** Time in milliseconds since the epoch. */
  readonly atMs: number;
  readonly callId: string;
  readonly bytes: Uint8Array;
}

interface Entry {
  readonly direction: 'in' | 'out';
  readonly flow: Flow;
  readonly atMs: number;
  readonly chunk: Chunk;
  /** Generation of the chunk when the message was stored; a later generation contains other messages. */
  readonly round: number;
  readonly offset: number;
  readonly length: number;
}

/** Messages of one Call-ID. */
interface Trail {
  readonly callId: string;
  readonly entries: Entry[];
  call: LegOwner | undefined;
}

interface Chunk {
  bytes: Uint8Array | undefined;
  round: number;
  readonly trails: Trail[];
}

/** Maximum stored length of a message in bytes; longer ones are cut. */
const MAX_MESSAGE_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
const MESSAGES_PER_CALL = 200;
const CALLS = 20_000;
const INVITE = Buffer.from('INVITE ');
/** Call-ID for the second and further phones of one leg: that of the first with a number appended. */
const OF_FURTHER_PHONE = /^([0-9a-f]{32})-\d{1,2}$/;

/**
 * SIP messages of the latest calls, as bytes in a ring buffer: new messages overwrite the oldest. A trail starts with
 * an INVITE, so registrations use no space. Messages are decoded only on request.
 */
export class MessageRing {
  readonly #chunks: Chunk[];
  readonly #trails = new Map<string, Trail>();
  /**
   * Trails in order of creation, including removed ones. Finding the first entry of the map would be slow after many
   * deletions.
   */
  #begun: Trail[] = [];
  #oldest = 0;
  /** Trails by the root call of their conversation. */
  readonly #conversations = new Map<CallUuid, Trail[]>();
  readonly #rootOf = new Map<CallUuid, CallUuid>();
  #at = 0;
  #used = 0;

  /** `capacity` is the total size of all messages in bytes; memory is allocated as needed. */
  constructor(capacity: number) {
    const count = Math.max(2, Math.ceil(capacity / CHUNK_BYTES));
    this.#chunks = Array.from({ length: count }, () => ({
      bytes: undefined,
      round: 0,
      trails: [],
    }));
  }

  /** Number of Call-IDs with messages. */
  get size(): number {
    return this.#trails.size;
  }

  /** Stores a copy of the message. Returns false if it belongs to no call. */
  note({ direction, flow, atMs, callId, bytes }: TracedMessage): boolean {
    const key = keyOf(callId);
    let trail = this.#trails.get(key);
    if (trail === undefined) {
      if (!startsWith(bytes, INVITE)) return false;
      trail = this.#begin(key);
    }
    const length = Math.min(bytes.length, MAX_MESSAGE_BYTES);
    const chunk = this.#room(length);
    chunk.bytes?.set(length === bytes.length ? bytes : bytes.subarray(0, length), this.#used);
    const { entries } = trail;
    // Remove from the middle, because the start and the end of a call matter most.
    if (entries.length >= MESSAGES_PER_CALL) entries.splice(MESSAGES_PER_CALL / 2, 1);
    const offset = this.#used;
    const before = entries.at(-1)?.flow;
    const way = before !== undefined && isSameWay(before, flow) ? before : flow;
    entries.push({ direction, flow: way, atMs, chunk, round: chunk.round, offset, length });
    if (chunk.trails.at(-1) !== trail) chunk.trails.push(trail);
    this.#used += length;
    return true;
  }

  /** Assigns the messages of that Call-ID, including earlier ones, to the call. */
  belongs(callId: string, call: LegOwner): void {
    const trail = this.#trails.get(keyOf(callId)) ?? this.#begin(keyOf(callId));
    this.#unlink(trail);
    trail.call = call;
    const root = rootOf(call);
    this.#rootOf.set(call.uuid, root);
    const trails = this.#conversations.get(root);
    if (trails === undefined) this.#conversations.set(root, [trail]);
    else trails.push(trail);
  }

  /** Root call of the conversation, or undefined if it is not known yet. `isCall` is true if there is a trail. */
  conversationOf(callId: string): { readonly isCall: boolean; readonly root?: CallUuid } {
    const trail = this.#trails.get(keyOf(callId));
    if (trail === undefined) return { isCall: false };
    return trail.call === undefined ? { isCall: true } : { isCall: true, root: rootOf(trail.call) };
  }

  /** Owner of the messages of that Call-ID. */
  callOf(callId: string): LegOwner | undefined {
    return this.#trails.get(keyOf(callId))?.call;
  }

  /** Messages of that call's own leg, oldest first. */
  ofCall(uuid: CallUuid): readonly TracedMessage[] {
    return this.#messages(uuid, (trail) => trail.call?.uuid === uuid);
  }

  /** Messages of all legs in the conversation of that call. */
  ofConversation(uuid: CallUuid): readonly TracedMessage[] {
    return this.#messages(uuid, () => true);
  }

  #messages(uuid: CallUuid, isWanted: (trail: Trail) => boolean): readonly TracedMessage[] {
    const trails = this.#conversations.get(this.#rootOf.get(uuid) ?? uuid) ?? [];
    return [...trails]
      .filter(isWanted)
      .flatMap(({ callId, entries }) => entries.map((entry) => shown(callId, entry)))
      .sort((a, b) => a.atMs - b.atMs);
  }

  #begin(callId: string): Trail {
    if (this.#trails.size >= CALLS) this.#forgetOldest();
    const trail: Trail = { callId, entries: [], call: undefined };
    this.#trails.set(callId, trail);
    this.#begun.push(trail);
    if (this.#oldest > CALLS || this.#begun.length > 4 * CALLS) this.#tidy();
    return trail;
  }

  #forgetOldest(): void {
    for (; this.#oldest < this.#begun.length; this.#oldest += 1) {
      const trail = this.#begun[this.#oldest];
      if (trail === undefined || this.#trails.get(trail.callId) !== trail) continue;
      this.#forget(trail);
      this.#oldest += 1;
      return;
    }
  }

  #tidy(): void {
    this.#begun = this.#begun
      .slice(this.#oldest)
      .filter((trail) => this.#trails.get(trail.callId) === trail);
    this.#oldest = 0;
  }

  #room(length: number): Chunk {
    let chunk = this.#chunks[this.#at] as Chunk;
    if (this.#used + length > CHUNK_BYTES) {
      this.#at = (this.#at + 1) % this.#chunks.length;
      this.#used = 0;
      chunk = this.#chunks[this.#at] as Chunk;
      this.#recycle(chunk);
    }
    chunk.bytes ??= new Uint8Array(CHUNK_BYTES);
    return chunk;
  }

  #recycle(chunk: Chunk): void {
    const { trails } = chunk;
    chunk.round += 1;
    for (const trail of trails) {
      const retained = trail.entries.findIndex((entry) => entry.round === entry.chunk.round);
      trail.entries.splice(0, retained === -1 ? trail.entries.length : retained);
      // A known call may send further messages at any time, so its trail is kept.
      if (retained === -1 && trail.call === undefined) this.#forget(trail);
    }
    trails.length = 0;
  }

  #forget(trail: Trail): void {
    trail.entries.length = 0;
    if (this.#trails.get(trail.callId) === trail) this.#trails.delete(trail.callId);
    this.#unlink(trail);
  }

  #unlink(trail: Trail): void {
    const { call } = trail;
    if (call === undefined) return;
    trail.call = undefined;
    const root = rootOf(call);
    const trails = this.#conversations.get(root) ?? [];
    const at = trails.indexOf(trail);
    if (at !== -1) trails.splice(at, 1);
    // Another attempt of the same call may still exist.
    if (!trails.some((other) => other.call?.uuid === call.uuid)) this.#rootOf.delete(call.uuid);
    if (trails.length === 0) this.#conversations.delete(root);
  }
}

const rootOf = ({ uuid, parent }: LegOwner): CallUuid => parent ?? uuid;

const keyOf = (callId: string): string =>
  callId.length > 32 ? (OF_FURTHER_PHONE.exec(callId)?.[1] ?? callId) : callId;

const shown = (
  callId: string,
  { direction, flow, atMs, chunk, offset, length }: Entry,
): TracedMessage => ({
  direction,
  flow,
  atMs,
  callId,
  bytes: chunk.bytes?.subarray(offset, offset + length) ?? new Uint8Array(),
});

/**
 * Returns whether two flows have the same endpoints. Each message has a separate flow object; equal ones are stored
 * once per call.
 */
const isSameWay = (one: Flow, other: Flow): boolean =>
  one.remotePort === other.remotePort &&
  one.localPort === other.localPort &&
  one.connectionId === other.connectionId &&
  one.transport === other.transport &&
  one.remoteAddress === other.remoteAddress &&
  one.localAddress === other.localAddress &&
  one.behind === other.behind;

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  for (let at = 0; at < start.length; at += 1) if (bytes[at] !== start[at]) return false;
  return true;
}
