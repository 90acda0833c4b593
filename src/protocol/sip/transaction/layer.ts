/** All client and server transactions of a user agent (RFC 3261 §17), from bytes to requests and responses. */
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import { answerable, isKeepAlive, type ParseFailure, parseMessage } from '../parse.ts';
import { type Flow, isReliable } from '../transport/flow.ts';
import { responseFlow, stampVia } from '../transport/response-route.ts';
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
import { type StatelessAnswer, StatelessAnswers } from './stateless.ts';
import { mergeKeyOf, TransactionTable } from './table.ts';
import { RFC3261_TIMERS, type TimerValues } from './timer-values.ts';
import type { TransactionId, TransactionOutput } from './types.ts';

/**
 * Server transactions kept at once: 1,000 INVITE and BYE a second live 32 s each. Where they are more, answered ones other
 * than INVITE are forgotten before their Timer J, but not before T2, the longest interval between retransmissions; a
 * request for which that leaves no place gets 503.
 */
export const MAX_SERVER_TRANSACTIONS = 65_536;

export interface TransactionLayerOptions {
  /** Unguessable token for To tags. */
  readonly newToken: () => string;
  readonly timers?: TimerValues;
  /** Server header in answers that the layer gives by itself; none when absent. */
  readonly server?: string;
  /**
   * Answer to the address and port that a request came from even when the client did not ask for it with rport.
   * DEVIATION: RFC 3261 §18.2.2 says the port of sent-by; the default is true, because behind a NAT nothing else arrives.
   */
  readonly replyToSource?: boolean;
  readonly maxServerTransactions?: number;
  /** Its source is not forged: answers may be as long as they need. Default: of connections alone. */
  readonly isKnown?: (flow: Flow) => boolean;
  /** What a new request is answered before anything is kept about it; undefined: it gets a transaction. */
  readonly door?: (request: SipRequest, flow: Flow) => StatelessAnswer | undefined;
}

const FULL: StatelessAnswer = {
  status: 503,
  headers: [['Retry-After', '5']],
  needed: 1,
  why: 'too many transactions',
};
const NOTHING_TO_CANCEL: StatelessAnswer = { status: 481, headers: [], why: 'nothing to cancel' };

type Outputs = readonly TransactionOutput[];

export class TransactionLayer {
  readonly #options: TransactionLayerOptions;
  readonly #timers: TimerValues;
  readonly #stateless: StatelessAnswers;
  readonly #table = new TransactionTable();
  /** Headers of the CANCEL that waits for the first provisional response (§9.1). */
  readonly #waitingCancels = new Map<TransactionId, HeaderInit>();
  /** Requests of which ICMP has said once that they did not arrive. */
  readonly #undelivered = new Set<TransactionId>();
  #lastId: TransactionId = 0;

  constructor(options: TransactionLayerOptions) {
    this.#options = options;
    this.#timers = options.timers ?? RFC3261_TIMERS;
    this.#stateless = new StatelessAnswers({
      ...{ salt: options.newToken(), server: options.server },
      isKnown: (flow) => isReliable(flow.transport) || options.isKnown?.(flow) === true,
    });
  }

  get serverCount(): number {
    return this.#table.serverCount;
  }

  get clientCount(): number {
    return this.#table.clientCount;
  }

  /** A datagram, or one message that the framer cut out of a stream. Faulty requests are answered here. */
  receive(bytes: Uint8Array, flow: Flow, nowMs: number): Outputs {
    if (isKeepAlive(bytes)) return [];
    const result = parseMessage(bytes);
    if (!result.ok) return this.#refuseMalformed(result.error, flow, bytes.length);
    const { message } = result;
    if (message.kind === 'response') return this.#receiveResponse(message, flow, nowMs);
    const request = stampVia(message, flow);
    const fault = validateRequest(request);
    if (fault === undefined) return this.#receiveRequest(request, flow, nowMs, bytes.length);
    const failure = { ...fault, respondable: answerable(request) };
    return this.#refuseMalformed(failure, flow, bytes.length);
  }

  /**
   * Sends a request other than ACK in a client transaction of its own. Its topmost Via must carry a fresh branch.
   * The id is known before the outputs are acted upon.
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
   * Answers a request; nothing happens when its transaction is over. A 2xx to INVITE may be given again to retransmit it.
   * A 408 to anything but INVITE ends the transaction unanswered, provisional responses to it are dropped (RFC 4320).
   */
  respond(transaction: TransactionId, response: SipResponse, nowMs: number): Outputs {
    const server = this.#table.server(transaction);
    if (server === undefined) return [];
    // A challenged request comes again, from careless clients with the same CSeq: that is no merged request.
    if (response.status === 401 || response.status === 407) this.#table.forgetMerge(server);
    const outputs = this.#done(server, server.respond(response, nowMs));
    if (server instanceof NonInviteServer && server.state === 'completed')
      this.#table.noteAnswered(server, nowMs);
    return outputs;
  }

  /**
   * Cancels an INVITE of ours (§9.1): at once after a provisional response, else as soon as one arrives; nothing
   * when a final response came. Without a final response 64*T1 after the CANCEL the INVITE ends in `timeout`.
   * The CANCEL's own transaction reports under an id of its own, which nobody needs to know.
   */
  cancel(transaction: TransactionId, headers: HeaderInit, nowMs: number): Outputs {
    const invite = this.#table.client(transaction);
    if (invite?.request?.method !== 'INVITE') return [];
    if (invite.state === 'proceeding') return this.#sendCancel(invite, headers, nowMs);
    if (invite.state === 'calling') this.#waitingCancels.set(transaction, headers);
    return [];
  }

  /** The bytes of a `send` with that transaction could not be sent. */
  transportFailed(transaction: TransactionId, nowMs: number): Outputs {
    const machine = this.#table.client(transaction) ?? this.#table.server(transaction);
    return machine === undefined ? [] : this.#done(machine, machine.transportFailed(nowMs));
  }

  /**
   * ICMP says that the request did not arrive (RFC 3261 §18.4). The second time it has failed: whoever is starting in this moment hears
   * the first repetition. Inside a dialog it is repeated to the end all the same: the call is worth the wait.
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

  /** A connection is gone: requests sent over it that wait for a final response fail. */
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

  #receiveRequest(request: SipRequest, flow: Flow, nowMs: number, received: number): Outputs {
    const key = serverKey(request);
    const known = this.#table.serverByKey(key);
    if (request.method === 'ACK') return this.#receiveAck(request, known, flow, nowMs);
    if (known !== undefined) return this.#done(known, known.retransmitted(nowMs));
    const isCancel = request.method === 'CANCEL';
    const invite = isCancel ? this.#table.serverByKey(serverKey(request, 'INVITE')) : undefined;
    const forgotten = this.#forgetOldest(nowMs);
    const refusal = this.#atTheDoor(request, flow, invite);
    if (refusal !== undefined)
      return [...forgotten, ...this.#answer(request, flow, refusal, received)];
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

  #atTheDoor(
    request: SipRequest,
    flow: Flow,
    invite: ServerTransaction | undefined,
  ): StatelessAnswer | undefined {
    if (this.#isFull()) return FULL;
    if (request.method !== 'CANCEL') return this.#options.door?.(request, flow);
    return invite === undefined ? NOTHING_TO_CANCEL : undefined;
  }

  #isFull(): boolean {
    const limit = this.#options.maxServerTransactions ?? MAX_SERVER_TRANSACTIONS;
    return this.#table.serverCount >= limit;
  }

  /** Forgets one answered transaction for each new one. */
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

  /** An ACK of RFC 2543 belongs to the INVITE only with the To tag that we answered with (§17.2.3). */
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
    // One that is for somebody else besides has lost its way: a proxy would have taken its own Via away (§8.1.3.3).
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

  /** Updates the table after a machine's step: its new deadline, or its end. */
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

/** Of a request that an edge passed on, answers are its peer's, or with nobody behind them the edge's own. */
const byWordOf = (heard: Flow, asked: Flow, outputs: Outputs): Outputs =>
  asked.behind === undefined
    ? outputs
    : outputs.map((output) =>
        output.kind === 'response'
          ? { ...output, flow: { ...output.flow, behind: heard.behind } }
          : output,
      );
