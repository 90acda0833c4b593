import {
  createResponse,
  type Flow,
  type SipRequest,
  type SipResponse,
  serialize,
  type UserAgentInput,
  type UserAgentOutput,
} from '../../../protocol/sip/sip.ts';
import type { DrachtioConnection } from './connection.ts';
import type { Dialogs } from './dialogs.ts';
import type { Flows } from './flows.ts';
import type { MessageMeta, Reply } from './frames.ts';
import { receivedResponse, requestText } from './rewrite.ts';

type Send = Extract<UserAgentOutput, { kind: 'send' }>;

/** Our request without a final response. */
interface Pending {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly server: DrachtioConnection;
  readonly transaction: number | undefined;
  readonly inDialog: boolean;
  /** Transaction ID of the server, set when the request has been sent. */
  id: string;
  /** CANCEL that waits until the server has sent the INVITE. */
  cancel: SipRequest | undefined;
}

export interface OutboundRequestsParts {
  readonly flows: Flows;
  readonly dialogs: Dialogs;
  /** Passes bytes to the user agent as if they came from the network. */
  readonly deliver: (bytes: Uint8Array, flow: Flow) => void;
  readonly dispatch: (input: UserAgentInput) => void;
  readonly failed: (why: string, method: string) => void;
}

const MAX_PENDING = 40_000;

/**
 * Sends the user agent's requests over drachtio-server, which retransmits them and acknowledges refusals.
 * Retransmissions of the user agent are dropped.
 */
export class OutboundRequests {
  readonly #parts: OutboundRequestsParts;
  readonly #byBranch = new Map<string, Pending>();
  readonly #byId = new Map<string, Pending>();

  constructor(parts: OutboundRequestsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#byBranch.size;
  }

  send({ message, flow, transaction }: Send): void {
    if (message.kind !== 'request') return;
    if (message.method === 'ACK') {
      // An ACK inside a transaction answers a refusal, which the server acknowledges itself.
      if (transaction === undefined) this.#acknowledge(message, flow);
    } else if (message.method === 'CANCEL') this.#cancel(message, flow);
    else this.#begin(message, flow, transaction);
  }

  /** Handles a response from a server. */
  received(server: DrachtioConnection, meta: MessageMeta, response: SipResponse): void {
    const key = keyOf(server, meta.transactionId);
    const pending = this.#byId.get(key);
    if (pending === undefined) return;
    const { request, flow } = pending;
    const { status } = response;
    const makesDialog = request.method === 'INVITE' || request.method === 'SUBSCRIBE';
    if (makesDialog && status > 100 && status < 300) {
      this.#parts.dialogs.note(request.from.tag, {
        server,
        id: meta.dialogId,
        callId: request.callId,
        isCall: request.method === 'INVITE',
      });
    }
    if (status >= 200) this.#over(pending, status);
    this.#parts.deliver(serialize(receivedResponse(response, request)), flow);
  }

  /** Handles a lost server: pending requests get no response. */
  lost(server: DrachtioConnection): void {
    const gone = [...this.#byBranch.values()].filter((pending) => pending.server === server);
    for (const pending of gone) this.#fail(pending, 'the server is gone');
  }

  #begin(request: SipRequest, flow: Flow, transaction: number | undefined): void {
    const branch = request.topVia?.branch ?? '';
    if (this.#byBranch.has(branch)) return;
    const isInside = request.to.tag !== undefined;
    const dialog = isInside ? this.#parts.dialogs.of(request) : undefined;
    const way = dialog === undefined ? this.#parts.flows.wayOf(flow) : undefined;
    const server = dialog?.server ?? way?.server;
    if (server === undefined || this.#byBranch.size >= MAX_PENDING) {
      this.#undone(transaction, 'no server is connected', request.method);
      return;
    }
    const inDialog = dialog !== undefined;
    const pending: Pending = {
      request,
      flow,
      server,
      transaction,
      inDialog,
      id: '',
      cancel: undefined,
    };
    this.#byBranch.set(branch, pending);
    const words = inDialog ? ['', dialog.id] : ['', '', isInside ? '' : (way?.uri ?? '')];
    server.send(words, requestText(request, inDialog), (reply) => this.#sent(pending, reply));
  }

  #sent(pending: Pending, { isOk, words, transactionId }: Reply): void {
    if (!isOk) {
      this.#fail(pending, words[0] ?? '');
      return;
    }
    pending.id = transactionId;
    this.#byId.set(keyOf(pending.server, transactionId), pending);
    if (pending.cancel !== undefined) this.#sendCancel(pending, pending.cancel);
  }

  #acknowledge(ack: SipRequest, flow: Flow): void {
    const { dialogs, flows } = this.#parts;
    const dialog = dialogs.of(ack);
    const server = dialog?.server ?? flows.wayOf(flow)?.server;
    server?.send(
      ['', dialog?.id ?? ''],
      requestText(ack, dialog !== undefined),
      ({ isOk, words }) => {
        if (!isOk) this.#parts.failed(words[0] ?? '', 'ACK');
      },
    );
  }

  /** Cancels an INVITE. The server does not report the response to CANCEL; only the end of the INVITE matters. */
  #cancel(cancel: SipRequest, flow: Flow): void {
    const pending = this.#byBranch.get(cancel.topVia?.branch ?? '');
    if (pending?.id === '') pending.cancel = cancel;
    else if (pending !== undefined) this.#sendCancel(pending, cancel);
    this.#parts.deliver(serialize(createResponse(cancel, 200)), flow);
  }

  #sendCancel({ server, id }: Pending, cancel: SipRequest): void {
    server.send([id, ''], requestText(cancel, true), ({ isOk, words }) => {
      if (!isOk) this.#parts.failed(words[0] ?? '', 'CANCEL');
    });
  }

  #over(pending: Pending, status: number): void {
    const { request, server, id } = pending;
    this.#byBranch.delete(request.topVia?.branch ?? '');
    this.#byId.delete(keyOf(server, id));
    // A refused INVITE ends its early dialogs. A challenge to a BYE does not end its dialog.
    const isRefused = request.method === 'INVITE' && !pending.inDialog && status >= 300;
    const isEnded = request.method === 'BYE' && status !== 401 && status !== 407;
    if (isRefused || isEnded || this.#endsSubscription(request))
      this.#parts.dialogs.end(request.callId, request.from.tag);
  }

  /** Returns whether the request ends a subscription. The subscription of a REFER inside a call does not end the call. */
  #endsSubscription(request: SipRequest): boolean {
    if (request.method !== 'NOTIFY' || this.#parts.dialogs.of(request)?.isCall === true)
      return false;
    return /^\s*terminated/i.test(request.header('subscription-state') ?? '');
  }

  #fail(pending: Pending, why: string): void {
    this.#over(pending, 503);
    this.#undone(pending.transaction, why, pending.request.method);
  }

  #undone(transaction: number | undefined, why: string, method: string): void {
    this.#parts.failed(why, method);
    if (transaction !== undefined) this.#parts.dispatch({ kind: 'sendFailed', transaction });
  }
}

const keyOf = (server: DrachtioConnection, id: string): string => `${server.name} ${id}`;
