/** MESSAGE in both directions (RFC 3428). Senders are authenticated here; the application decides about delivery. */
import type { Gate } from '../auth/gate.ts';
import { formatNameAddr } from '../header/name-addr.ts';
import { createRequest } from '../message.ts';
import type { ContactBinding } from '../registrar/binding.ts';
import type { Registrar } from '../registrar/registrar.ts';
import type { TransactionOutput } from '../transaction/types.ts';
import { sipUri, unescapeUser } from '../uri.ts';
import type { IncomingMessage, MessageAnswer, MessageCommand } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import { routeTo } from './peer-route.ts';
import { Questions } from './pending.ts';

type RequestOutput = Extract<TransactionOutput, { kind: 'request' }>;

/**
 * Time limit for a phone's answer, in milliseconds. It is shorter than the sender's 64*T1, so the sender learns the
 * result.
 */
const ANSWER_MS = 15_000;
const TRY_LATER_S = 10;
const MISCELLANEOUS = 399;

export class Messages {
  readonly #core: UserAgentCore;
  readonly #gate: Gate | undefined;
  readonly #registrar: Registrar | undefined;
  readonly #asking: Questions<MessageAnswer>;

  constructor(core: UserAgentCore, gate: Gate | undefined, registrar: Registrar | undefined) {
    this.#core = core;
    this.#gate = gate;
    this.#registrar = registrar;
    this.#asking = new Questions(core.limits.maxWaiting);
  }

  receive(output: RequestOutput): void {
    const carrier = this.#core.options.trustedSource(output.flow);
    const gate = this.#gate;
    if (gate === undefined) return;
    const { request, flow } = output;
    const admit = (): void =>
      gate.admit(output, ({ username }) =>
        this.#ask(output, { request, flow, username, carrier: undefined }),
      );
    if (carrier === undefined) {
      admit();
      return;
    }
    // A phone may share its address with a carrier. Senders that use a local user name must authenticate.
    const { uri } = request.from;
    gate.knows(uri.kind === 'sip' ? unescapeUser(uri.user) : '', (isUser) => {
      if (isUser) admit();
      else this.#ask(output, { request, flow, username: undefined, carrier });
    });
  }

  answer(answer: MessageAnswer): void {
    this.#asking.answer(answer.id, answer);
  }

  /** Sends the message to all contacts in parallel; one success counts for all. */
  send(command: MessageCommand): void {
    const contacts = this.#registrar?.contactsOf(command.username) ?? [];
    let open = contacts.length;
    let best: number | undefined;
    let isOver = false;
    const notify = (status: number | undefined): void => {
      if (isOver) return;
      isOver = true;
      this.#core.emit({ kind: 'messageSent', id: command.id, status });
    };
    if (open === 0) notify(undefined);
    for (const contact of contacts) {
      this.#sendTo(command, contact, (status) => {
        open -= 1;
        if (status !== undefined && (best === undefined || status < best)) best = status;
        if (open === 0 || (status !== undefined && status < 300)) notify(best);
      });
    }
  }

  #ask({ request, transaction }: RequestOutput, message: IncomingMessage): void {
    const core = this.#core;
    const id = this.#asking.ask(({ status, retryAfter, why }) => {
      const warning = why === undefined ? undefined : { code: MISCELLANEOUS, text: why };
      core.respond(transaction, request, status, {
        headers: [
          ...(retryAfter === undefined ? [] : [['Retry-After', String(retryAfter)] as const]),
          ...core.warning(warning),
        ],
      });
    });
    if (id !== undefined) core.emit({ kind: 'message', id, message });
    else {
      const headers = [['Retry-After', String(TRY_LATER_S)]] as const;
      core.respond(transaction, request, 503, { headers });
    }
  }

  #sendTo(
    { from, headers, contentType, body }: MessageCommand,
    contact: ContactBinding,
    answered: (status: number | undefined) => void,
  ): void {
    const core = this.#core;
    const { to, route, destination } = routeTo(core, contact);
    const identity = { displayName: from.displayName, uri: sipUri(from) };
    let isOver = false;
    const once = (status: number | undefined): void => {
      if (isOver) return;
      isOver = true;
      cancelLimit();
      answered(status);
    };
    const cancelLimit = core.dialogTimers.at(core.nowMs + ANSWER_MS, () => once(undefined));
    const outgoing = new OutgoingRequest(core, {
      request: createRequest({
        method: 'MESSAGE',
        requestUri: route.requestUri,
        headers: [
          ...route.routes.map((hop) => ['Route', hop] as const),
          ['Max-Forwards', '70'],
          ['From', formatNameAddr({ ...identity, tag: core.newToken() })],
          ['To', `<${to}>`],
          ['Call-ID', core.newToken()],
          ['CSeq', '1 MESSAGE'],
          ['User-Agent', core.options.userAgent],
          ...headers,
          ['Content-Type', contentType],
        ],
        body,
      }),
      destination,
      auth: undefined,
      nextSequence: () => 2,
      user: {
        response: ({ status }) => {
          if (status >= 200) once(status);
        },
        failed: () => once(undefined),
      },
    });
    outgoing.start();
  }
}
