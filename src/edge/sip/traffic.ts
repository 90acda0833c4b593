import type { Clock } from '../../base/clock.ts';
import type { Flow, UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';
import { AdmissionFilter, type KnownPeer, type Served } from './admission-filter.ts';
import { Edges } from './edges.ts';
import { type CarrierMessageCount, type MessageCount, MessageCounter } from './message-counter.ts';
import { StunAnswers } from './stun-answers.ts';
import type { TracedMessage } from './trace/message-ring.ts';
import { callIdOf } from './trace/message-text.ts';

const UNKNOWN_PEERS_PER_SECOND = 500;

export interface TrafficOptions {
  readonly clock: Clock;
  /** Messages per second accepted from one unauthenticated address, by kind. */
  readonly unknownPeersPerSecond?: number;
  readonly newCalls?: { readonly isFull: boolean };
  /**
   * Addresses and ranges of trusted edge proxies. If set, unknown peers are accepted only through them. Default:
   * accepted from anywhere.
   */
  readonly edges?: readonly string[] | undefined;
  /** Returns whether another node is expected to call from that address. Default: false. */
  readonly expectsNode?: (address: string) => boolean;
  /** Store for messages of authenticated peers. */
  readonly traces?: { note(message: TracedMessage): void };
}

export interface TrafficParts {
  readonly options: TrafficOptions;
  readonly acquaintance: KnownPeer;
  readonly tell: (input: UserAgentInput) => void;
  /** Closes a connection whose peer exceeded its budget. */
  readonly close: (connectionId: number) => void;
}

/** Path of all messages between the transport and the user agent: counts, prioritizes and traces them. */
export class Traffic {
  readonly #parts: TrafficParts;
  readonly #counter: MessageCounter;
  readonly #desk: AdmissionFilter;
  readonly #edges: Edges | undefined;
  readonly #stun: StunAnswers;
  #strangers = 0;

  constructor(parts: TrafficParts) {
    const { options, acquaintance, close } = parts;
    this.#parts = parts;
    this.#counter = new MessageCounter((flow) => acquaintance.carrierOf?.(flow));
    this.#stun = new StunAnswers(options.clock);
    const { edges = [] } = options;
    this.#edges = edges.length === 0 ? undefined : new Edges(edges);
    this.#desk = new AdmissionFilter({
      clock: options.clock,
      acquaintance,
      unknownPeersPerSecond: options.unknownPeersPerSecond ?? UNKNOWN_PEERS_PER_SECOND,
      serve: (message) => this.#serve(message),
      refusesCalls: () => options.newCalls?.isFull === true,
      close,
    });
  }

  /** Number of messages dropped without parsing, by reason. */
  dropped(): Readonly<Record<string, number>> {
    const drops = { ...this.#desk.drops(), stun: this.#stun.dropped };
    return this.#edges === undefined ? drops : { ...drops, stranger: this.#strangers };
  }

  waitMs(): number {
    return this.#desk.takeWaitMs();
  }

  counts(): readonly MessageCount[] {
    return this.#counter.rows();
  }

  carrierCounts(): readonly CarrierMessageCount[] {
    return this.#counter.carrierRows();
  }

  isKnown(flow: Flow): boolean {
    const { acquaintance } = this.#parts;
    return acquaintance.knows(flow) || acquaintance.isCarrier(flow);
  }

  received(bytes: Uint8Array, flow: Flow, waitedMs = 0): void {
    this.#counter.note('in', flow, bytes);
    const heard = this.#edges?.heard(bytes, flow) ?? { bytes, flow };
    if (this.#edges === undefined || this.#edges.has(flow) || this.#isExpected(flow))
      this.#desk.received(heard.bytes, heard.flow, waitedMs);
    else this.#strangers += 1;
  }

  /** Returns the response to a STUN keep-alive; undefined if there is none to send. */
  answerStun(bytes: Uint8Array, flow: Flow): Uint8Array | undefined {
    if (this.#edges === undefined || this.#edges.has(flow) || this.#isExpected(flow))
      return this.#stun.answer(bytes, flow);
    this.#strangers += 1;
    return undefined;
  }

  #isExpected(flow: Flow): boolean {
    const { expectsNode } = this.#parts.options;
    return this.isKnown(flow) || expectsNode?.(flow.remoteAddress) === true;
  }

  sent({ bytes, message, flow, transaction }: Extract<UserAgentOutput, { kind: 'send' }>): void {
    this.#counter.note('out', flow, bytes);
    // Stateless responses to unknown peers belong to no call and are not traced.
    if (transaction !== undefined || this.isKnown(flow)) {
      this.#trace({ direction: 'out', bytes, flow, callId: message.header('call-id') });
    }
  }

  #serve({ bytes, flow, standing, waitedMs, isTooMany }: Served): void {
    if (standing !== 'unknown') this.#trace({ direction: 'in', bytes, flow });
    this.#parts.tell({
      kind: 'received',
      bytes,
      flow,
      waitedMs,
      isKnown: standing === 'known',
      isTooMany,
    });
  }

  /** Traces a message. The Call-ID is omitted if it must first be extracted. */
  #trace(message: Omit<TracedMessage, 'atMs' | 'callId'> & { callId?: string | undefined }): void {
    const { traces, clock } = this.#parts.options;
    if (traces === undefined) return;
    const { direction, bytes, flow, callId = callIdOf(bytes) } = message;
    if (callId === undefined) return;
    traces.note({ direction, flow, bytes, callId, atMs: clock.wallMs() });
  }
}
