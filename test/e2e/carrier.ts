/** A UDP carrier written without code of this project. The called number selects the behavior; the carrier logs every call. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { CARRIER_SDP, headerOf, response } from './carrier-message.ts';

export type Fate =
  /** Rings and answers; the callee hangs up after `talkMs` (ms). */
  | { readonly kind: 'answered'; readonly talkMs: number; readonly sdp?: string }
  /** Rings until the caller cancels. */
  | { readonly kind: 'rings' }
  | { readonly kind: 'refused'; readonly status: string };

/** One call in the carrier's log. */
export interface CarrierCall {
  readonly number: string;
  readonly callId: string;
  readonly fate: Fate['kind'];
  readonly from: string;
  /** Custom headers of the INVITE. */
  readonly headers: Readonly<Record<string, string>>;
  /** Port of the node that sent the INVITE. */
  readonly fromPort: number;
  readonly invitedMs: number;
  answeredMs?: number;
  endedMs?: number;
}

interface Dialog {
  readonly invite: string;
  readonly call: CarrierCall;
  readonly fate: Fate;
  readonly from: { readonly port: number; readonly address: string };
}

export class Carrier {
  /** All calls in order of arrival. */
  readonly calls: CarrierCall[] = [];
  readonly port: number;
  readonly #socket: Socket;
  readonly #fateOf: (number: string, turn: number) => Fate;
  readonly #dialogs = new Map<string, Dialog>();
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(socket: Socket, fateOf: (number: string, turn: number) => Fate) {
    this.#socket = socket;
    this.port = (socket.address() as AddressInfo).port;
    this.#fateOf = fateOf;
    socket.on('message', (bytes, from) => this.#receive(bytes.toString('latin1'), from));
  }

  /** Starts a carrier. `turn` counts earlier calls to the same number. */
  static async listen(fateOf: (number: string, turn: number) => Fate, port = 0): Promise<Carrier> {
    const socket = createSocket('udp4');
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    return new Carrier(socket, fateOf);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#socket.close();
  }

  #receive(text: string, from: Dialog['from']): void {
    const method = text.slice(0, text.indexOf(' '));
    const callId = headerOf(text, 'call-id');
    if (method === 'INVITE') this.#invited(text, callId, from);
    else if (method === 'CANCEL') this.#cancelled(text, callId, from);
    else if (method === 'BYE') {
      this.#ended(callId);
      this.#reply(text, from, '200 OK');
    } else if (method === 'OPTIONS') this.#reply(text, from, '200 OK');
  }

  #invited(invite: string, callId: string, from: Dialog['from']): void {
    if (this.#dialogs.has(callId)) return;
    const number = /^INVITE sip:\+?(\d+)/.exec(invite)?.[1] ?? '';
    const turn = this.calls.filter((call) => call.number === number).length;
    const fate = this.#fateOf(number, turn);
    const call: CarrierCall = {
      number,
      callId,
      fate: fate.kind,
      fromPort: from.port,
      invitedMs: Date.now(),
      from: /sip:\+?(\d+)@/.exec(headerOf(invite, 'from'))?.[1] ?? '',
      headers: Object.fromEntries(
        invite
          .split('\r\n')
          .filter((line) => /^X-/i.test(line))
          .map((line) => [
            line.slice(0, line.indexOf(':')),
            line.slice(line.indexOf(':') + 1).trim(),
          ]),
      ),
    };
    this.calls.push(call);
    this.#dialogs.set(callId, { invite, call, fate, from });
    if (fate.kind === 'refused') {
      this.#reply(invite, from, fate.status);
      this.#ended(callId);
      return;
    }
    this.#reply(invite, from, '180 Ringing');
    if (fate.kind === 'rings') return;
    call.answeredMs = Date.now();
    this.#reply(invite, from, '200 OK', fate.sdp ?? CARRIER_SDP);
    this.#later(fate.talkMs, () => this.#hangUp(callId));
  }

  #cancelled(cancel: string, callId: string, from: Dialog['from']): void {
    this.#reply(cancel, from, '200 OK');
    const dialog = this.#dialogs.get(callId);
    if (dialog !== undefined) this.#reply(dialog.invite, from, '487 Request Terminated');
    this.#ended(callId);
  }

  #hangUp(callId: string): void {
    const dialog = this.#dialogs.get(callId);
    if (dialog === undefined || dialog.call.endedMs !== undefined) return;
    this.#ended(callId);
    const { invite, from } = dialog;
    const target = /<([^>]+)>/.exec(headerOf(invite, 'contact'))?.[1] ?? '';
    const bye = [
      `BYE ${target} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${this.port};branch=z9hG4bK-bye-${callId.replaceAll(/\W/g, '')}`,
      'Max-Forwards: 70',
      `From: ${headerOf(invite, 'to')};tag=carrier`,
      `To: ${headerOf(invite, 'from')}`,
      `Call-ID: ${callId}`,
      'CSeq: 1 BYE',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n');
    this.#socket.send(bye, from.port, from.address);
  }

  #ended(callId: string): void {
    const call = this.#dialogs.get(callId)?.call;
    if (call !== undefined) call.endedMs ??= Date.now();
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }

  #reply(request: string, to: Dialog['from'], status: string, body = ''): void {
    const text = response(request, status, { port: this.port, body });
    this.#socket.send(text, to.port, to.address);
  }
}
