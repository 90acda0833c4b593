import { maskSecrets } from '../base/mask.ts';
import type { SipMessageTrace } from '../edge/rest/server.ts';
import { type MessageTrace, masked } from '../edge/sip/signalling.ts';

const MESSAGES_PER_CALL = 200;
const CALLS = 5000;
/** Characters of all messages together, so that a flood of calls or of long messages cannot fill the memory. */
const CHARACTERS = 16 * 2 ** 20;

/**
 * SIP messages of the latest calls, by Call-ID. A trace begins with an INVITE, so that registrations are not kept. The
 * oldest calls are dropped in favour of a new message.
 */
export class SipTraces {
  /** As received. Most are never shown, so they are masked only in `of`. */
  readonly #byCallId = new Map<string, MessageTrace[]>();
  #characters = 0;

  note(trace: MessageTrace): void {
    if (trace.callId === undefined) return;
    const messages = this.#byCallId.get(trace.callId);
    if (messages === undefined) {
      if (!trace.text.startsWith('INVITE ')) return;
      this.#byCallId.set(trace.callId, [trace]);
    } else if (messages.length < MESSAGES_PER_CALL) messages.push(trace);
    else return;
    this.#characters += trace.text.length;
    if (this.#byCallId.size > CALLS || this.#characters > CHARACTERS) this.#forgetOldest();
  }

  of(sipCallId: string): readonly SipMessageTrace[] {
    return (this.#byCallId.get(sipCallId) ?? []).map(shown);
  }

  #forgetOldest(): void {
    for (const [callId, messages] of this.#byCallId) {
      if (this.#byCallId.size <= CALLS && this.#characters <= CHARACTERS) return;
      this.#byCallId.delete(callId);
      for (const { text } of messages) this.#characters -= text.length;
    }
  }
}

function shown({ atMs, direction, flow, text }: MessageTrace): SipMessageTrace {
  const { transport, localAddress, localPort, remoteAddress, remotePort } = flow;
  return {
    atUs: Math.round(atMs * 1000),
    direction,
    transport,
    local: `${localAddress}:${localPort}`,
    remote: `${remoteAddress}:${remotePort}`,
    text: maskSecrets(masked(text)),
  };
}
