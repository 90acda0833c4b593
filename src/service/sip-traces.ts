import { maskSecrets } from '../base/mask.ts';
import type { SipMessageTrace } from '../edge/rest/server.ts';
import type { MessageTrace } from '../edge/sip/signalling.ts';

const MESSAGES_PER_CALL = 200;
const CALLS = 5000;
/** Of all messages together: a flood of calls, or of long messages, must not fill the memory with its own traces. */
const CHARACTERS = 16 * 2 ** 20;

/** SIP messages of the latest calls, by Call-ID. The oldest calls make room for a new message. */
export class SipTraces {
  readonly #byCallId = new Map<string, SipMessageTrace[]>();
  #characters = 0;

  note(trace: MessageTrace): void {
    if (trace.callId === undefined) return;
    const messages = this.#byCallId.get(trace.callId) ?? [];
    if (messages.length >= MESSAGES_PER_CALL) return;
    const { transport, localAddress, localPort, remoteAddress, remotePort } = trace.flow;
    const text = Buffer.from(trace.bytes).toString('utf8');
    messages.push({
      atUs: Math.round(trace.atMs * 1000),
      direction: trace.direction,
      transport,
      local: `${localAddress}:${localPort}`,
      remote: `${remoteAddress}:${remotePort}`,
      text,
    });
    this.#characters += text.length;
    this.#byCallId.set(trace.callId, messages);
    this.#makeRoom();
  }

  of(sipCallId: string): readonly SipMessageTrace[] {
    const messages = this.#byCallId.get(sipCallId) ?? [];
    return messages.map((message) => ({ ...message, text: maskSecrets(message.text) }));
  }

  #makeRoom(): void {
    for (const [callId, messages] of this.#byCallId) {
      if (this.#byCallId.size <= CALLS && this.#characters <= CHARACTERS) return;
      this.#byCallId.delete(callId);
      for (const { text } of messages) this.#characters -= text.length;
    }
  }
}
