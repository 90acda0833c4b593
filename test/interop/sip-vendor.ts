/**
 * Stand-in for the SIP server of a vendor, over UDP or TLS, written without SIP code of this project. It challenges each
 * INVITE with digest authentication (RFC 2617), answers with its SDP, and can call the service.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { headerOf, linesOf } from '../e2e/carrier-message.ts';

export interface Identity {
  readonly cert: string;
  readonly key: string;
  /** Authority of the service's certificate. */
  readonly ca: string;
}

export interface VendorOptions {
  readonly username: string;
  readonly password: string;
  /** Address; default 127.0.0.1, which is also a host of the service. */
  readonly host?: string;
  /** With an identity, the transport is TLS, otherwise UDP. */
  readonly identity?: Identity;
  /** SDP answer to the SDP of an INVITE. */
  readonly answer: (offer: string) => string;
}

const REALM = 'vendor.test';
const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

type Send = (text: string) => void;

export class SipVendor {
  /** INVITEs with a valid password. */
  readonly invites: string[] = [];
  /** Responses to its own requests. */
  readonly responses: string[] = [];
  /** Methods of all requests, in order. */
  readonly methods: string[] = [];
  readonly #options: VendorOptions;
  readonly #udp: Socket | undefined;
  readonly #tls: Server | undefined;
  readonly #connections = new Set<TLSSocket>();
  readonly #nonce = randomBytes(12).toString('hex');

  private constructor(
    options: VendorOptions,
    listener: { readonly udp?: Socket; readonly tls?: Server },
  ) {
    this.#options = options;
    this.#udp = listener.udp;
    this.#tls = listener.tls;
    this.#udp?.on('message', (bytes, from) =>
      this.#receive(bytes.toString('latin1'), (text) =>
        this.#udp?.send(text, from.port, from.address),
      ),
    );
    this.#tls?.on('secureConnection', (socket) => this.#accept(socket));
  }

  static async listen(options: VendorOptions): Promise<SipVendor> {
    const { identity, host = '127.0.0.1' } = options;
    if (identity === undefined) {
      const udp = createSocket('udp4');
      udp.bind(0, host);
      await once(udp, 'listening');
      return new SipVendor(options, { udp });
    }
    const tls = createServer({ cert: identity.cert, key: identity.key }).listen(0, host);
    await once(tls, 'listening');
    return new SipVendor(options, { tls });
  }

  get port(): number {
    const address = this.#udp?.address() ?? this.#tls?.address();
    return (address as AddressInfo).port;
  }

  close(): void {
    this.#udp?.close();
    for (const socket of this.#connections) socket.destroy();
    this.#tls?.close();
  }

  /** Calls the service over a new TLS connection. `fields` are further header lines. */
  async call(
    port: number,
    to: string,
    {
      from,
      sdp,
      fields,
    }: { readonly from: string; readonly sdp: string; readonly fields: readonly string[] },
  ): Promise<OwnCall> {
    const socket = connect({ port, host: '127.0.0.1', ca: this.#options.identity?.ca });
    await once(socket, 'secureConnect');
    this.#accept(socket);
    const call = new OwnCall((text) => void socket.write(text), { from, to, port: this.port });
    call.invite(sdp, fields);
    return call;
  }

  #accept(socket: TLSSocket): void {
    this.#connections.add(socket);
    socket.on('error', () => undefined);
    let rest = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      rest += text;
      for (;;) {
        // Keep-alives of RFC 5626 are empty lines.
        rest = rest.replace(/^(\r\n)+/, '');
        const end = rest.indexOf('\r\n\r\n');
        if (end < 0) return;
        const size = Number(
          /\r\n(?:content-length|l):\s*(\d+)/i.exec(rest.slice(0, end + 2))?.[1] ?? 0,
        );
        if (rest.length < end + 4 + size) return;
        const message = rest.slice(0, end + 4 + size);
        rest = rest.slice(end + 4 + size);
        this.#receive(message, (reply) => void socket.write(reply));
      }
    });
  }

  #receive(text: string, send: Send): void {
    if (text.startsWith('SIP/2.0')) {
      this.responses.push(text);
      return;
    }
    const method = text.slice(0, text.indexOf(' '));
    this.methods.push(method);
    if (method === 'INVITE') this.#invited(text, send);
    else if (method !== 'ACK') send(this.#response(text, '200 OK'));
  }

  #invited(invite: string, send: Send): void {
    const proof = headerOf(invite, 'proxy-authorization');
    if (proof === '') {
      const challenge = `Proxy-Authenticate: Digest realm="${REALM}", nonce="${this.#nonce}", algorithm=MD5, qop="auth"`;
      send(this.#response(invite, '407 Proxy Authentication Required', [challenge]));
      return;
    }
    if (!this.#isValid(proof, 'INVITE')) {
      send(this.#response(invite, '403 Forbidden'));
      return;
    }
    this.invites.push(invite);
    send(this.#response(invite, '180 Ringing'));
    const sdp = this.#options.answer(invite.slice(invite.indexOf('\r\n\r\n') + 4));
    send(this.#response(invite, '200 OK', ['Content-Type: application/sdp'], sdp));
  }

  #isValid(proof: string, method: string): boolean {
    const value = (name: string): string =>
      new RegExp(`\\b${name}="?([^",]+)`).exec(proof)?.[1] ?? '';
    const { username, password } = this.#options;
    const secret = md5(`${username}:${REALM}:${password}`);
    const request = md5(`${method}:${value('uri')}`);
    const parts = [value('nonce'), value('nc'), value('cnonce'), value('qop')];
    const expected = md5(`${secret}:${parts.join(':')}:${request}`);
    return value('username') === username && value('response') === expected;
  }

  #response(request: string, status: string, fields: readonly string[] = [], body = ''): string {
    const [to = ''] = linesOf(request, 'to');
    const transport = this.#tls === undefined ? 'udp' : 'tls';
    return [
      `SIP/2.0 ${status}`,
      ...linesOf(request, 'via'),
      ...linesOf(request, 'record-route'),
      ...linesOf(request, 'from'),
      to.includes(';tag=') || status.startsWith('100') ? to : `${to};tag=vendor`,
      ...linesOf(request, 'call-id'),
      ...linesOf(request, 'cseq'),
      `Contact: <sip:vendor@${this.#options.host ?? '127.0.0.1'}:${this.port};transport=${transport}>`,
      ...fields,
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n');
  }
}

/** A call from the vendor to the service. */
class OwnCall {
  readonly #send: Send;
  readonly #from: string;
  readonly #to: string;
  readonly #port: number;
  readonly #callId = randomBytes(8).toString('hex');

  constructor(
    send: Send,
    { from, to, port }: { readonly from: string; readonly to: string; readonly port: number },
  ) {
    this.#send = send;
    this.#from = from;
    this.#to = to;
    this.#port = port;
  }

  invite(sdp: string, fields: readonly string[]): void {
    this.#request('INVITE', this.#to, {
      cseq: 1,
      to: `<${this.#to}>`,
      fields: [...fields, 'Content-Type: application/sdp'],
      body: sdp,
    });
  }

  /** Acknowledges a 200. */
  ack(ok: string): void {
    this.#request('ACK', targetOf(ok), { cseq: 1, to: headerOf(ok, 'to') });
  }

  bye(ok: string): void {
    this.#request('BYE', targetOf(ok), { cseq: 2, to: headerOf(ok, 'to') });
  }

  #request(
    method: string,
    target: string,
    parts: {
      readonly cseq: number;
      readonly to: string;
      readonly fields?: readonly string[];
      readonly body?: string;
    },
  ): void {
    const { cseq, to, fields = [], body = '' } = parts;
    this.#send(
      [
        `${method} ${target} SIP/2.0`,
        `Via: SIP/2.0/TLS 127.0.0.1:${this.#port};branch=z9hG4bK${randomBytes(6).toString('hex')};rport`,
        'Max-Forwards: 70',
        `From: <${this.#from}>;tag=caller`,
        `To: ${to}`,
        `Call-ID: ${this.#callId}`,
        `CSeq: ${cseq} ${method}`,
        `Contact: <sip:vendor@127.0.0.1:${this.#port};transport=tls>`,
        ...fields,
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    );
  }
}

const targetOf = (ok: string): string => /<([^>]+)>/.exec(headerOf(ok, 'contact'))?.[1] ?? '';
