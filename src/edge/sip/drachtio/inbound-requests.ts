import {
  createResponse,
  type Flow,
  type SipRequest,
  serialize,
  type UserAgentOutput,
} from '../../../protocol/sip/sip.ts';
import type { DrachtioConnection } from './connection.ts';
import type { Dialogs } from './dialogs.ts';
import type { MessageMeta, Reply } from './frames.ts';
import { ackOf, asksForReliable, receivedRequest, responseText } from './rewrite.ts';

type Send = Extract<UserAgentOutput, { kind: 'send' }>;

/** A peer's request without a final response. */
interface Pending {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly server: DrachtioConnection;
  /** Transaction ID of the server. */
  readonly id: string;
  readonly isReliable: boolean;
}

export interface InboundRequestsParts {
  readonly dialogs: Dialogs;
  /** Passes bytes to the user agent. */
  readonly deliver: (bytes: Uint8Array, flow: Flow) => void;
  readonly failed: (why: string, method: string) => void;
}

/**
 * Maximum number of pending requests. Beyond it, the oldest get no response from us; the server eventually answers
 * them.
 */
const MAX_PENDING = 40_000;

/** Requests from drachtio-server and the user agent's responses. */
export class InboundRequests {
  readonly #parts: InboundRequestsParts;
  readonly #pending = new Map<string, Pending>();

  constructor(parts: InboundRequestsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#pending.size;
  }

  received(server: DrachtioConnection, meta: MessageMeta, request: SipRequest, flow: Flow): void {
    const { callId, method, to } = request;
    const isCall = method === 'INVITE';
    this.#parts.dialogs.note(to.tag, { server, id: meta.dialogId, callId, isCall });
    const pending = {
      request,
      flow,
      server,
      id: meta.transactionId,
      isReliable: isCall && asksForReliable(request),
    };
    if (method === 'PRACK') {
      // Only the server sends reliable provisional responses, so this PRACK belongs to it.
      const ok = createResponse(request, 200);
      server.send([pending.id, ''], responseText(ok, false), () => undefined);
      return;
    }
    if (method !== 'ACK' && method !== 'CANCEL') this.#remember(pending);
    this.#parts.deliver(serialize(receivedRequest(request)), flow);
  }

  /** Sends a response of the user agent. Retransmissions are dropped. */
  send({ message, transaction }: Send): void {
    if (message.kind !== 'response' || message.status === 100) return;
    const key = keyOf(message);
    const pending = this.#pending.get(key);
    if (pending === undefined) return;
    const { request, server, id, isReliable, flow } = pending;
    const { status } = message;
    if (status >= 200) this.#pending.delete(key);
    server.send([id, ''], responseText(message, isReliable), (reply) =>
      this.#sent(pending, message.to.tag, reply),
    );
    if (request.method === 'BYE' && status >= 200) {
      this.#parts.dialogs.end(request.callId, request.to.tag);
    }
    if (request.method === 'INVITE' && status >= 300 && transaction !== undefined) {
      this.#parts.deliver(ackOf(request, message), flow);
    }
  }

  /** Call-IDs of calls whose pending response can no longer be sent. */
  lost(server: DrachtioConnection): readonly string[] {
    const gone = [...this.#pending].filter(([, pending]) => pending.server === server);
    for (const [key] of gone) this.#pending.delete(key);
    return gone.flatMap(([, { request }]) => (request.method === 'INVITE' ? [request.callId] : []));
  }

  #remember(pending: Pending): void {
    this.#pending.set(keyOf(pending.request), pending);
    if (this.#pending.size <= MAX_PENDING) return;
    const [oldest] = this.#pending.keys();
    if (oldest !== undefined) this.#pending.delete(oldest);
  }

  #sent({ request, server }: Pending, localTag: string | undefined, reply: Reply): void {
    const { callId, method } = request;
    if (!reply.isOk) this.#parts.failed(reply.words[0] ?? '', method);
    else {
      const isCall = method === 'INVITE';
      const isOver = method === 'BYE';
      if (!isOver)
        this.#parts.dialogs.note(localTag, { server, id: reply.dialogId, callId, isCall });
    }
  }
}

const keyOf = ({ topVia, callId, cseq }: Pick<SipRequest, 'topVia' | 'callId' | 'cseq'>): string =>
  `${callId}\n${topVia?.branch ?? ''}\n${cseq.sequence} ${cseq.method}`;
