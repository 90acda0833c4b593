/** A SIP peer that sends exactly the bytes a test writes, over real sockets and without code of this project. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { bracketed } from '../../src/base/host.ts';
import { eventually } from '../eventually.ts';

/** One received message. */
export interface Received {
  readonly text: string;
  /** Status code; 0 for a request. */
  readonly status: number;
  /** Method of a request, or the CSeq method of a response. */
  readonly method: string;
  readonly body: string;
  readonly from: { readonly address: string; readonly port: number };
  readonly atMs: number;
}

export const headersIn = ({ text }: Pick<Received, 'text'>, name: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)\\r$`, 'gim'))].map(
    ([, value = '']) => value,
  );
export const headerIn = (received: Pick<Received, 'text'>, name: string): string =>
  headersIn(received, name)[0] ?? '';
export const tagIn = (value: string): string => /;tag=([^;\s]+)/.exec(value)?.[1] ?? '';
export const uriIn = (value: string): string => /<([^>]+)>/.exec(value)?.[1] ?? value;

let count = 0;
/** Returns a unique value that contains `name`. */
export function fresh(name: string): string {
  count += 1;
  return `${name}-${process.pid}-${count}`;
}

export interface SdpText {
  readonly address?: string;
  readonly direction?: string;
  readonly version?: number;
  /** Media lines that replace the default audio line. */
  readonly media?: string;
}

const family = (address: string): string => (address.includes(':') ? 'IP6' : 'IP4');

export const sdpOf = ({
  address = '127.0.0.1',
  direction,
  version = 1,
  media,
}: SdpText = {}): string =>
  [
    'v=0',
    `o=- 77 ${version} IN ${family(address)} ${address}`,
    's=-',
    `c=IN ${family(address)} ${address}`,
    't=0 0',
    media ?? 'm=audio 34000 RTP/AVP 0 101',
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:101 telephone-event/8000',
    ...(direction === undefined ? [] : [`a=${direction}`]),
    '',
  ].join('\r\n');

export interface RequestText {
  readonly method: string;
  readonly uri: string;
  readonly from: string;
  readonly to: string;
  readonly callId: string;
  readonly cseq: number;
  readonly branch?: string;
  readonly hops?: number;
  readonly headers?: readonly string[];
  readonly body?: string;
}

export class WirePeer {
  readonly transport: 'UDP' | 'TCP';
  readonly address: string;
  readonly port: number;
  /** Received messages that no `next` call has consumed. */
  readonly received: Received[] = [];
  readonly #write: (text: string, to: Received['from']) => void;
  readonly #close: () => void;

  private constructor(
    transport: WirePeer['transport'],
    local: Received['from'],
    ways: {
      readonly write: (text: string, to: Received['from']) => void;
      readonly close: () => void;
    },
  ) {
    this.transport = transport;
    this.address = local.address;
    this.port = local.port;
    this.#write = ways.write;
    this.#close = ways.close;
  }

  static async udp(address: string, port = 0): Promise<WirePeer> {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4').bind(port, address);
    await once(socket, 'listening');
    const peer = new WirePeer('UDP', socket.address(), {
      write: (text, to) => socket.send(text, to.port, to.address),
      close: () => socket.close(),
    });
    socket.on('message', (bytes, from) => peer.#hear(bytes.toString('latin1'), from));
    return peer;
  }

  static async tcp(from: string, port: number): Promise<WirePeer> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from }).setEncoding('latin1');
    await once(socket, 'connect');
    const local = { address: socket.localAddress ?? '', port: socket.localPort ?? 0 };
    const peer = new WirePeer('TCP', local, {
      write: (text) => socket.write(text, 'latin1'),
      close: () => socket.destroy(),
    });
    let rest = '';
    socket.on('data', (part: string) => {
      rest += part;
      for (let whole = messageIn(rest); whole !== undefined; whole = messageIn(rest)) {
        rest = rest.slice(whole.length);
        peer.#hear(whole, { address: '127.0.0.1', port });
      }
    });
    socket.on('error', () => undefined);
    return peer;
  }

  close(): void {
    this.#close();
  }

  /** Address as in URIs. */
  get host(): string {
    return bracketed(this.address);
  }

  get contact(): string {
    return `<sip:peer@${this.host}:${this.port}${this.transport === 'TCP' ? ';transport=tcp' : ''}>`;
  }

  send(
    text: string,
    port: number,
    address = this.address.includes(':') ? '::1' : '127.0.0.1',
  ): void {
    this.#write(text, { address, port });
  }

  textOf(request: RequestText): string {
    const {
      method,
      uri,
      hops = 70,
      headers = [],
      body = '',
      branch = `z9hG4bK${fresh('b')}`,
    } = request;
    const isTyped = headers.some((line) => /^content-type/i.test(line));
    return [
      `${method} ${uri} SIP/2.0`,
      `Via: SIP/2.0/${this.transport} ${this.host}:${this.port};branch=${branch};rport`,
      `Max-Forwards: ${hops}`,
      `From: ${request.from}`,
      `To: ${request.to}`,
      `Call-ID: ${request.callId}`,
      `CSeq: ${request.cseq} ${method}`,
      `Contact: ${this.contact}`,
      ...headers,
      ...(body !== '' && !isTyped ? ['Content-Type: application/sdp'] : []),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n');
  }

  /** Answers a received request. */
  answer(
    request: Received,
    status: string,
    { tag = 'peer', headers = [], body = '' }: AnswerText = {},
  ): void {
    const to = headerIn(request, 'To');
    const lines = [
      `SIP/2.0 ${status}`,
      ...headersIn(request, 'Via').map((via) => `Via: ${via}`),
      ...headersIn(request, 'Record-Route').map((route) => `Record-Route: ${route}`),
      `From: ${headerIn(request, 'From')}`,
      `To: ${to}${tagIn(to) === '' ? `;tag=${tag}` : ''}`,
      `Call-ID: ${headerIn(request, 'Call-ID')}`,
      `CSeq: ${headerIn(request, 'CSeq')}`,
      ...(headers.some((line) => /^contact/i.test(line)) ? [] : [`Contact: ${this.contact}`]),
      ...headers,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
      '',
      body,
    ];
    this.send(lines.join('\r\n'), request.from.port, request.from.address);
  }

  /** Waits for and consumes the first matching message. Other messages stay queued. */
  async next(
    what: string,
    fits: (received: Received) => boolean,
    limitMs?: number,
  ): Promise<Received> {
    const found = await eventually(what, () => this.received.find(fits), limitMs).catch(() => {
      const came = this.received.map(({ text }) => text.split('\r\n', 1)[0]).join(' | ');
      throw new Error(`${what} did not come; there is ${came}`);
    });
    this.received.splice(this.received.indexOf(found), 1);
    return found;
  }

  request(method: string, limitMs?: number): Promise<Received> {
    return this.next(
      method,
      (received) => received.status === 0 && received.method === method,
      limitMs,
    );
  }

  /** Waits for a response with this status, or for the final response. */
  response(method: string, status: number | 'final', limitMs?: number): Promise<Received> {
    const fits = (received: Received) =>
      received.method === method &&
      (status === 'final' ? received.status >= 200 : received.status === status);
    return this.next(`${status} to ${method}`, fits, limitMs);
  }

  #hear(text: string, from: Received['from']): void {
    if (text.trim() === '') return;
    const [first = ''] = text.split('\r\n', 1);
    const status = first.startsWith('SIP/2.0 ') ? Number(first.split(' ')[1]) : 0;
    const cseq = headerIn({ text }, 'CSeq').split(/\s+/)[1] ?? '';
    const method = status === 0 ? (first.split(' ')[0] ?? '') : cseq;
    const received = { text, status, method, from, atMs: performance.now() };
    const message = { ...received, body: text.slice(text.indexOf('\r\n\r\n') + 4) };
    if (method === 'OPTIONS' && status === 0) this.answer(message, '200 OK');
    else this.received.push(message);
  }
}

export interface AnswerText {
  readonly tag?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** Returns the first complete message of a stream, or undefined. */
function messageIn(stream: string): string | undefined {
  const bodyAt = stream.indexOf('\r\n\r\n');
  if (bodyAt < 0) return undefined;
  const length = Number(
    /^(?:content-length|l)\s*:\s*(\d+)/im.exec(stream.slice(0, bodyAt))?.[1] ?? 0,
  );
  return stream.length < bodyAt + 4 + length ? undefined : stream.slice(0, bodyAt + 4 + length);
}
