import { maskSecrets } from '../base/mask.ts';
import type { SipMessageTrace } from '../edge/rest/server.ts';
import type { MessageTrace } from '../edge/sip/signalling.ts';

const MESSAGES_PER_CALL = 200;
const CALLS = 5000;

/** SIP messages of the latest calls, by Call-ID. The oldest call makes room for a new one. */
export class SipTraces {
  readonly #byCallId = new Map<string, SipMessageTrace[]>();

  note(trace: MessageTrace): void {
    if (trace.callId === undefined) return;
    const messages = this.#byCallId.get(trace.callId) ?? [];
    if (messages.length >= MESSAGES_PER_CALL) return;
    const { transport, localAddress, localPort, remoteAddress, remotePort } = trace.flow;
    messages.push({
      atUs: Math.round(trace.atMs * 1000),
      direction: trace.direction,
      transport,
      local: `${localAddress}:${localPort}`,
      remote: `${remoteAddress}:${remotePort}`,
      text: Buffer.from(trace.bytes).toString('utf8'),
    });
    if (this.#byCallId.has(trace.callId)) return;
    this.#byCallId.set(trace.callId, messages);
    if (this.#byCallId.size > CALLS) {
      const [oldest] = this.#byCallId.keys();
      if (oldest !== undefined) this.#byCallId.delete(oldest);
    }
  }

  of(sipCallId: string): readonly SipMessageTrace[] {
    const messages = this.#byCallId.get(sipCallId) ?? [];
    return messages.map((message) => ({ ...message, text: maskSecrets(message.text) }));
  }
}
