import type { Clock } from '../../base/clock.ts';
import {
  type Flow,
  quickParse,
  type UserAgentInput,
  type UserAgentOutput,
} from '../../protocol/sip/sip.ts';
import { AdmissionFilter, type KnownPeer, type Served } from './admission-filter.ts';
import { Edges } from './edges.ts';
import { type CarrierMessageCount, type MessageCount, MessageCounter } from './message-counter.ts';
import { StunAnswers } from './stun-answers.ts';
import type { TracedMessage } from './trace/message-ring.ts';
import { callIdOf } from './trace/message-text.ts';

const UNKNOWN_PEERS_PER_SECOND = 500;
/**
 * Maximum time in ms that a new call of an edge proxy may have waited in the socket, for example while the process was
 * stopped. The bundled proxy tries another node after 1 s and retransmits after 0.5 s (RFC 3261 Timer A): a call that
 * waited longer, or its retransmission, may already run on another node.
 */
const EDGE_CALL_WAIT_MS = 500;

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
  readonly dispatch: (input: UserAgentInput) => void;
  /** Closes a connection whose peer exceeded its budget. */
  readonly close: (connectionId: number) => void;
}

/** Path of all messages between the transport and the user agent: counts, prioritizes and traces them. */
export class Traffic {
  readonly #parts: TrafficParts;
  readonly #counter: MessageCounter;
  readonly #admissionFilter: AdmissionFilter;
  readonly #edges: Edges | undefined;
  readonly #stun: StunAnswers;
  #unknownPeers = 0;
  #lateCalls = 0;

  constructor(parts: TrafficParts) {
    const { options, acquaintance, close } = parts;
    this.#parts = parts;
    this.#counter = new MessageCounter((flow) => acquaintance.carrierOf?.(flow));
    this.#stun = new StunAnswers(options.clock);
    const { edges = [] } = options;
    this.#edges = edges.length === 0 ? undefined : new Edges(edges);
    this.#admissionFilter = new AdmissionFilter({
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
    const drops = { ...this.#admissionFilter.drops(), stun: this.#stun.dropped };
    if (this.#edges === undefined) return drops;
    return { ...drops, stranger: this.#unknownPeers, late: this.#lateCalls };
  }

  waitMs(): number {
    return this.#admissionFilter.takeWaitMs();
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
    if (waitedMs > EDGE_CALL_WAIT_MS && this.#edges?.has(flow) === true && isNewCall(bytes)) {
      this.#lateCalls += 1;
      return;
    }
    const received = this.#edges?.received(bytes, flow) ?? { bytes, flow };
    if (this.#edges === undefined || this.#edges.has(flow) || this.#isExpected(flow))
      this.#admissionFilter.received(received.bytes, received.flow, waitedMs);
    else this.#unknownPeers += 1;
  }

  /** Returns the response to a STUN keep-alive; undefined if there is none to send. */
  answerStun(bytes: Uint8Array, flow: Flow): Uint8Array | undefined {
    if (this.#edges === undefined || this.#edges.has(flow) || this.#isExpected(flow))
      return this.#stun.answer(bytes, flow);
    this.#unknownPeers += 1;
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
    this.#parts.dispatch({
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

function isNewCall(bytes: Uint8Array): boolean {
  const seen = quickParse(bytes);
  return seen?.method === 'INVITE' && !seen.inDialog;
}
