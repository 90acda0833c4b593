import { isIP } from 'node:net';
import type { CallUuid } from '../base/ids.ts';
import type { LegOwner } from '../domain/call/needs.ts';
import type { SipMessageTrace } from '../edge/rest/server.ts';
import { MessagesByPeer, nameOf } from '../edge/sip/message-counter.ts';
import { captureOf } from '../edge/sip/trace/capture.ts';
import type { HepExporter } from '../edge/sip/trace/hep-exporter.ts';
import { ladderOf } from '../edge/sip/trace/ladder.ts';
import { MessageRing, type TracedMessage } from '../edge/sip/trace/message-ring.ts';
import { shownText } from '../edge/sip/trace/message-text.ts';

interface OwnPlace {
  readonly name: string;
  /** Returns the address at which a peer with that address reaches the service. */
  readonly address: (remote: string) => string;
}

interface SipTracesOptions {
  readonly ring?: MessageRing;
  /** Exporter to Homer. Undefined if not configured. */
  readonly exporter?: HepExporter | undefined;
  readonly own?: OwnPlace;
}

const DEFAULT_BYTES = 2 ** 20;

/** Stores the SIP messages of recent calls, and exports them to Homer if configured. */
export class SipTraces {
  readonly #ring: MessageRing;
  readonly #exporter: HepExporter | undefined;
  readonly #byTrunk = new MessagesByPeer();
  readonly #own: OwnPlace;

  /** `own` is this service's name and address in the output. The address replaces wildcard listeners. */
  constructor({ ring, exporter, own }: SipTracesOptions = {}) {
    this.#ring = ring ?? new MessageRing(DEFAULT_BYTES);
    this.#own = own ?? { name: 'carillon', address: () => '127.0.0.1' };
    this.#exporter = exporter;
  }

  note(message: TracedMessage): void {
    this.#ring.note(message);
    this.#exporter?.note(message);
    const trunk = this.#ring.callOf(message.callId)?.trunk;
    if (trunk !== undefined) this.#byTrunk.note(trunk, message.direction, nameOf(message.bytes));
  }

  /** Returns the messages exchanged with customers' trunks since the start. */
  trunkMessages(): ReturnType<MessagesByPeer['rows']> {
    return this.#byTrunk.rows();
  }

  belongs(callId: string, owner: LegOwner): void {
    this.#ring.belongs(callId, owner);
  }

  /** Returns the messages of a call's own leg, without credentials. */
  of(callUuid: CallUuid): readonly SipMessageTrace[] {
    return this.#ring.ofCall(callUuid).map(shown);
  }

  /** Returns the messages of all legs of the conversation that includes the call. */
  conversation(callUuid: CallUuid): readonly SipMessageTrace[] {
    return this.#ring.ofConversation(callUuid).map(shown);
  }

  /** Returns the conversation as a text ladder diagram. */
  ladder(callUuid: CallUuid): string {
    return ladderOf(this.#ring.ofConversation(callUuid), this.#own.name);
  }

  /** Returns the conversation as a pcap file. */
  capture(callUuid: CallUuid): Buffer {
    return captureOf(this.#ring.ofConversation(callUuid).map((message) => this.#placed(message)));
  }

  #placed(message: TracedMessage): TracedMessage {
    const { flow } = message;
    const address = this.#own.address(flow.remoteAddress);
    const isNamed = !['0.0.0.0', '::'].includes(flow.localAddress) && isIP(flow.localAddress) !== 0;
    return isNamed ? message : { ...message, flow: { ...flow, localAddress: address } };
  }
}

function shown({ atMs, direction, flow, callId, bytes }: TracedMessage): SipMessageTrace {
  const { transport, localAddress, localPort, remoteAddress, remotePort } = flow;
  return {
    atUs: Math.round(atMs * 1000),
    direction,
    transport,
    local: `${localAddress}:${localPort}`,
    remote: `${remoteAddress}:${remotePort}`,
    callId,
    text: shownText(bytes),
  };
}
