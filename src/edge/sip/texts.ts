/** Passes MESSAGE texts between the user agent and the application (RFC 3428). */
import type { InboundText, OutboundText, Texting } from '../../domain/call/needs.ts';
import type { IncomingMessage, UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';
import { partyOf, userOf } from './parties.ts';

type MessageEvent = Extract<UserAgentOutput, { kind: 'message' | 'messageSent' }>;

/** Content type of machine-readable texts. A missing Content-Type means plain text (RFC 3261 §20.15). */
const PLAIN = 'text/plain';

export class Texts implements Texting {
  readonly #host: string;
  readonly #dispatch: (input: UserAgentInput) => void;
  readonly #sent = new Map<number, (status: number | undefined) => void>();
  #handler: ((text: InboundText) => void) | undefined;
  #lastId = 0;

  constructor(host: string, dispatch: (input: UserAgentInput) => void) {
    this.#host = host;
    this.#dispatch = dispatch;
  }

  onText(handler: (text: InboundText) => void): void {
    this.#handler = handler;
  }

  sendText({
    username,
    from,
    headers,
    contentType,
    body,
  }: OutboundText): Promise<number | undefined> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#sent.set(id, resolve);
      const caller = { ...from, host: this.#host };
      this.#dispatch({
        kind: 'sendMessage',
        id,
        username,
        from: caller,
        headers,
        contentType,
        body,
      });
    });
  }

  act(event: MessageEvent): void {
    if (event.kind === 'message') {
      this.#arrived(event.id, event.message);
      return;
    }
    this.#sent.get(event.id)?.(event.status);
    this.#sent.delete(event.id);
  }

  #arrived(id: number, { request, username, carrier }: IncomingMessage): void {
    const text: InboundText = {
      from: partyOf(request.from),
      to: partyOf(request.to),
      dialled: userOf(request.uri),
      requestUri: request.requestUri,
      endpointUsername: username,
      carrier,
      contentType: request.header('content-type') ?? PLAIN,
      body: request.body,
      answer: (status, { why, retryAfterS: retryAfter } = {}) =>
        this.#dispatch({ kind: 'answerMessage', id, status, why, retryAfter }),
    };
    if (this.#handler === undefined) text.answer(404);
    else this.#handler(text);
  }
}
