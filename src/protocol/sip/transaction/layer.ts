/** All client and server transactions of a user agent (RFC 3261 §17), between bytes and parsed messages. */
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import { answerable, isKeepAlive, type ParseFailure, parseMessage } from '../parse.ts';
import type { Flow } from '../transport/flow.ts';
import { responseFlow, stampVia } from '../transport/response-route.ts';
import { isReliable } from '../types.ts';
import { validateRequest, validateResponse } from '../validate.ts';
import type { ClientTransaction } from './client.ts';
import { createCancel } from './derived-request.ts';
import { InviteClient } from './invite-client.ts';
import { InviteServer } from './invite-server.ts';
import { clientKey, isRfc2543, serverKey } from './key.ts';
import { NonInviteClient } from './non-invite-client.ts';
import { NonInviteServer } from './non-invite-server.ts';
import type { QuotedRequest } from './quoted.ts';
import type { ServerTransaction } from './server.ts';
import { type Arrival, PROMPT, type StatelessAnswer, StatelessAnswers } from './stateless.ts';
import { mergeKeyOf, TransactionTable } from './table.ts';
import { RFC3261_TIMERS, type TimerValues } from './timer-values.ts';
import type { TransactionId, TransactionOutput } from './types.ts';

/**
 * Maximum number of server transactions: 1,000 INVITE and BYE per second last 32 s each. Above the limit, the oldest
 * answered non-INVITE transactions are removed before Timer J, but not before T2, the longest retransmission interval.
 * If none can be removed, a new request gets 503.
 */
const MAX_SERVER_TRANSACTIONS = 65_536;

export interface TransactionLayerOptions {
  /** Unpredictable token for To tags. */
  readonly newToken: () => string;
  readonly timers?: TimerValues;
  /** Server header in responses created by the layer; omitted if absent. */
  readonly server?: string;
  /**
   * True to answer to the source address and port even if the client did not request rport. DEVIATION: RFC 3261 §18.2.2
   * requires the port of sent-by. Default: true, because other responses do not pass NAT.
   */
  readonly replyToSource?: boolean;
  readonly maxServerTransactions?: number;
  /**
   * Returns whether the source is verified, so that the response size is unlimited. Default: true only for connections.
   */
  readonly isKnown?: (flow: Flow) => boolean;
  /** Stateless answer to a new request; undefined creates a transaction. */
  readonly screen?: (
    request: SipRequest,
    flow: Flow,
    arrival: Arrival,
  ) => StatelessAnswer | undefined;
}

const FULL: StatelessAnswer = {
  status: 503,
  headers: [['Retry-After', '5']],
  needed: 1,
  why: 'too many transactions',
};
const NOTHING_TO_CANCEL: StatelessAnswer = { status: 481, headers: [], why: 'no INVITE to cancel' };

type Outputs = readonly TransactionOutput[];

/** How a message arrived. */
interface Received {
  readonly flow: Flow;
  readonly nowMs: number;
  readonly bytes: number;
  readonly arrival: Arrival;
}

export class TransactionLayer {
  readonly #options: TransactionLayerOptions;
  readonly #timers: TimerValues;
  readonly #stateless: StatelessAnswers;
  readonly #table = new TransactionTable();
  /** Header fields of a CANCEL that waits for the first provisional response (§9.1). */
  readonly #waitingCancels = new Map<TransactionId, HeaderInit>();
  /** Requests for which ICMP has reported one failed delivery. */
  readonly #undelivered = new Set<TransactionId>();
  #lastId: TransactionId = 0;

  constructor(options: TransactionLayerOptions) {
    this.#options = options;
    this.#timers = options.timers ?? RFC3261_TIMERS;
    this.#stateless = new StatelessAnswers({
      salt: options.newToken(),
      server: options.server,
      isKnown: (flow) => isReliable(flow.transport) || options.isKnown?.(flow) === true,
    });
  }

  get serverCount(): number {
    return this.#table.serverCount;
  }

  get clientCount(): number {
    return this.#table.clientCount;
  }

  /** Handles a datagram, or one message from the stream framer. Malformed requests are answered here. */
  receive(bytes: Uint8Array, flow: Flow, nowMs: number, arrival: Arrival = PROMPT): Outputs {
    if (isKeepAlive(bytes)) return [];
    const result = parseMessage(bytes);
    if (!result.ok) return this.#refuseMalformed(result.error, flow, bytes.length);
    const { message } = result;
    if (message.kind === 'response') return this.#receiveResponse(message, flow, nowMs);
    const request = stampVia(message, flow);
    const fault = validateRequest(request);
    if (fault === undefined)
      return this.#receiveRequest(request, { flow, nowMs, bytes: bytes.length, arrival });
    const failure = { ...fault, respondable: answerable(request) };
    return this.#refuseMalformed(failure, flow, bytes.length);
  }

  /**
   * Sends a request other than ACK in a new client transaction. Its topmost Via must have a new branch. The ID is known
   * before the outputs are processed.
   */
  request(
    request: SipRequest,
    flow: Flow,
    nowMs: number,
  ): { readonly transaction: TransactionId; readonly outputs: Outputs } {
    this.#lastId += 1;
    const options = { id: this.#lastId, request, flow, timers: this.#timers };
    const client =
      request.method === 'INVITE' ? new InviteClient(options) : new NonInviteClient(options);
    this.#table.addClient(clientKey(request), client);
    return { transaction: client.id, outputs: this.#done(client, client.start(nowMs)) };
  }

  /**
   * Answers a request; no effect if its transaction has ended. A 2xx to INVITE may be passed again to retransmit it. A
   * 408 to any other method ends the transaction silently, and provisional responses to it are dropped (RFC 4320).
   */
  respond(transaction: TransactionId, response: SipResponse, nowMs: number): Outputs {
    const server = this.#table.server(transaction);
    if (server === undefined) return [];
    // A refused request may come again with the same CSeq: with credentials, or because a proxy tries its next target
    // (RFC 3261 §16.7), which is another number of this service. It must not count as a merged request.
    if (response.status >= 300) this.#table.forgetMerge(server);
    const outputs = this.#done(server, server.respond(response, nowMs));
    if (server instanceof NonInviteServer && server.state === 'completed')
      this.#table.noteAnswered(server, nowMs);
    return outputs;
  }

  /**
   * Cancels our INVITE (§9.1): after a provisional response immediately, otherwise as soon as one arrives. No effect
   * after a final response. If no final response arrives within 64*T1, the INVITE ends with `timeout`. The CANCEL
   * reports under a separate transaction ID, which callers can ignore.
   */
  cancel(transaction: TransactionId, headers: HeaderInit, nowMs: number): Outputs {
    const invite = this.#table.client(transaction);
    if (invite?.request?.method !== 'INVITE') return [];
    if (invite.state === 'proceeding') return this.#sendCancel(invite, headers, nowMs);
    if (invite.state === 'calling') this.#waitingCancels.set(transaction, headers);
    return [];
  }

  /** Reports that the bytes of a `send` with that transaction could not be sent. */
  transportFailed(transaction: TransactionId, nowMs: number): Outputs {
    const machine = this.#table.client(transaction) ?? this.#table.server(transaction);
    return machine === undefined ? [] : this.#done(machine, machine.transportFailed(nowMs));
  }

  /**
   * Handles an ICMP report that the request did not arrive (RFC 3261 §18.4). The second report fails the request, so a
   * starting peer still receives the first retransmission. Requests inside a dialog are retransmitted until timeout, to
   * keep the call.
   */
  undelivered({ method, branch }: QuotedRequest, nowMs: number): Outputs {
    const client = this.#table.clientByKey(`${method} ${branch}`);
    const isWaiting = client?.state === 'calling' || client?.state === 'trying';
    if (client === undefined || !isWaiting || client.request?.to.tag !== undefined) return [];
    if (!this.#undelivered.has(client.id)) {
      this.#undelivered.add(client.id);
      return [];
    }
    return this.transportFailed(client.id, nowMs);
  }

  /** Fails the pending requests of a closed connection. */
  connectionLost(connectionId: number, nowMs: number): Outputs {
    return this.#table
      .clientsOf(connectionId)
      .flatMap((client) => this.#done(client, client.connectionLost(nowMs)));
  }

  expire(nowMs: number): Outputs {
    const outputs: TransactionOutput[] = [];
    for (;;) {
      const machine = this.#table.takeDue(nowMs);
      if (machine === undefined) return outputs;
      outputs.push(...this.#done(machine, machine.expire(nowMs)));
    }
  }

  deadlineMs(): number | undefined {
    return this.#table.deadlineMs();
  }

  #receiveRequest(request: SipRequest, received: Received): Outputs {
    const { flow, nowMs } = received;
    const key = serverKey(request);
    const known = this.#table.serverByKey(key);
    if (request.method === 'ACK') return this.#receiveAck(request, known, flow, nowMs);
    if (known !== undefined) return this.#done(known, known.retransmitted(nowMs));
    const isCancel = request.method === 'CANCEL';
    const invite = isCancel ? this.#table.serverByKey(serverKey(request, 'INVITE')) : undefined;
    const forgotten = this.#forgetOldest(nowMs);
    const refusal = this.#screenRequest(request, received, invite);
    if (refusal !== undefined)
      return [...forgotten, ...this.#answer(request, flow, refusal, received.bytes)];
    const merge = mergeKeyOf(request);
    const merged = this.#table.isMerged(merge);
    const server = this.#addServer({ key, merge }, request, flow);
    const transaction = server.id;
    const started = forgotten.concat(this.#done(server, server.start(nowMs)));
    if (merged) {
      const response = this.#stateless.response(request, { status: 482, headers: [] });
      return [...started, ...this.#done(server, server.respond(response, nowMs))];
    }
    return isCancel
      ? started.concat({ kind: 'cancel', request, transaction, invite: invite?.id, flow })
      : started.concat({ kind: 'request', request, transaction, flow });
  }

  #screenRequest(
    request: SipRequest,
    { flow, arrival }: Received,
    invite: ServerTransaction | undefined,
  ): StatelessAnswer | undefined {
    if (this.#isFull()) return FULL;
    if (request.method !== 'CANCEL') return this.#options.screen?.(request, flow, arrival);
    return invite === undefined ? NOTHING_TO_CANCEL : undefined;
  }

  #isFull(): boolean {
    const limit = this.#options.maxServerTransactions ?? MAX_SERVER_TRANSACTIONS;
    return this.#table.serverCount >= limit;
  }

  /** Removes one answered transaction for each new one. */
  #forgetOldest(nowMs: number): Outputs {
    if (!this.#isFull()) return [];
    const oldest = this.#table.longestAnswered(nowMs - this.#timers.t2);
    if (oldest === undefined) return [];
    this.#table.remove(oldest);
    return [{ kind: 'terminated', transaction: oldest.id }];
  }

  #addServer(
    { key, merge }: { readonly key: string; readonly merge: string | undefined },
    request: SipRequest,
    flow: Flow,
  ): ServerTransaction {
    this.#lastId += 1;
    const options = {
      id: this.#lastId,
      request,
      flow: responseFlow(request, flow, this.#options.replyToSource ?? true),
      timers: this.#timers,
    };
    const server =
      request.method === 'INVITE' ? new InviteServer(options) : new NonInviteServer(options);
    this.#table.addServer(key, server, merge);
    return server;
  }

  /** Handles an ACK. An RFC 2543 ACK matches the INVITE only with our To tag (§17.2.3). */
  #receiveAck(
    ack: SipRequest,
    invite: ServerTransaction | undefined,
    flow: Flow,
    nowMs: number,
  ): Outputs {
    if (invite === undefined || (isRfc2543(ack) && invite.localTag !== ack.to.tag)) {
      return [{ kind: 'ack', request: ack, flow }];
    }
    return this.#done(invite, invite.acknowledged(ack, nowMs));
  }

  #receiveResponse(response: SipResponse, flow: Flow, nowMs: number): Outputs {
    // A response with further Vias was misrouted: a proxy would have removed its own Via (§8.1.3.3).
    const isOurs = response.list('via').length < 2;
    const why = validateResponse(response) ?? (isOurs ? undefined : 'More Than One Via');
    if (why !== undefined) return [{ kind: 'discarded', why, flow }];
    const client = this.#table.clientByKey(clientKey(response));
    if (client === undefined) return [{ kind: 'strayResponse', response, flow }];
    const outputs = byWordOf(
      flow,
      client.flow,
      this.#done(client, client.receive(response, nowMs)),
    );
    const headers = this.#waitingCancels.get(client.id);
    if (headers === undefined || client.state === 'calling') return outputs;
    this.#waitingCancels.delete(client.id);
    return client.state === 'proceeding'
      ? [...outputs, ...this.#sendCancel(client, headers, nowMs)]
      : outputs;
  }

  #sendCancel(invite: ClientTransaction, headers: HeaderInit, nowMs: number): Outputs {
    if (invite.request === undefined) return [];
    const cancel = this.request(createCancel(invite.request, headers), invite.flow, nowMs);
    return [...cancel.outputs, ...this.#done(invite, invite.cancelled(nowMs))];
  }

  #refuseMalformed(error: ParseFailure, flow: Flow, received: number): Outputs {
    const discarded: TransactionOutput = { kind: 'discarded', why: error.reason, flow };
    if (error.respondable === undefined) return [discarded];
    const request = stampVia(error.respondable, flow);
    const { status, reason } = error;
    const answer = { status, reason, headers: [], why: reason };
    return [...this.#answer(request, flow, answer, received), discarded];
  }

  #answer(request: SipRequest, flow: Flow, answer: StatelessAnswer, received: number): Outputs {
    const sent = this.#stateless.answer(request, flow, answer, received);
    if (sent !== undefined) return [sent];
    return [{ kind: 'discarded', why: 'too short for its answer', flow }];
  }

  /** Updates the table after a step of a state machine: new deadline or end. */
  #done(machine: ClientTransaction | ServerTransaction, outputs: Outputs): Outputs {
    if (machine.state === 'terminated') {
      this.#waitingCancels.delete(machine.id);
      this.#undelivered.delete(machine.id);
      this.#table.remove(machine);
    } else {
      this.#table.updateDeadline(machine);
    }
    return outputs;
  }
}

/** Corrects the source of responses through an edge proxy: the peer behind it, or the edge itself if there is none. */
const byWordOf = (received: Flow, requested: Flow, outputs: Outputs): Outputs =>
  requested.behind === undefined
    ? outputs
    : outputs.map((output) =>
        output.kind === 'response'
          ? { ...output, flow: { ...output.flow, behind: received.behind } }
          : output,
      );
