/** A running signalling service on 127.0.0.1 and its peers as plain sockets. */

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket as TcpSocket } from 'node:net';
import { type ConnectionOptions, TLSSocket, connect as tlsConnect } from 'node:tls';
import { WebSocket } from 'ws';
import { asAccountId, asEndpointId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemRandom } from '../../../src/base/system-random.ts';
import type { InboundLeg } from '../../../src/domain/call/needs.ts';
import type { Carrier } from '../../../src/domain/provisioning/types.ts';
import type { Binding } from '../../../src/domain/registration/types.ts';
import { systemClock } from '../../../src/edge/clock/system-clock.ts';
import type { RunningSignalling, SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { createSignalling } from '../../../src/edge/sip/signalling-service.ts';
import {
  answerChallenge,
  strongestChallenge,
} from '../../../src/protocol/sip/auth/answer-challenge.ts';
import { ha1Of } from '../../../src/protocol/sip/auth/digest.ts';
import { parseAuth } from '../../../src/protocol/sip/header/auth.ts';
import { until } from '../../eventually.ts';

const REALM = 'carillon.test';
export const SDP =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n';

class MemoryBindings {
  readonly rows = new Map<string, Binding>();

  async save(binding: Binding): Promise<void> {
    this.rows.set(`${binding.username} ${binding.contactUri}`, binding);
  }

  async remove(username: string, contactUri: string): Promise<void> {
    this.rows.delete(`${username} ${contactUri}`);
  }

  async listAll(): Promise<readonly Binding[]> {
    return [...this.rows.values()];
  }
}

export interface Rig {
  readonly signalling: RunningSignalling;
  readonly bindings: MemoryBindings;
  readonly legs: InboundLeg[];
  /** Resolves with the next inbound leg. */
  nextLeg(): Promise<InboundLeg>;
  onLeg: (leg: InboundLeg) => void;
}

export const QUIET = {
  heardFrom: () => undefined,
  ended: () => undefined,
  offered: () => SDP,
  answered: () => undefined,
  dtmf: () => undefined,
};

export async function startRig(options: Partial<SignallingOptions> = {}): Promise<Rig> {
  const bindings = new MemoryBindings();
  const waiting: ((leg: InboundLeg) => void)[] = [];
  const legs: InboundLeg[] = [];
  const users: Readonly<Record<string, string>> = { alice: 'wonderland', bob: 'builder' };
  const signalling = createSignalling({
    egress: {
      refusesSip: () => undefined,
      judgeRtp: () => ({ kind: 'send' }),
      addressesOf: async () => [],
      isOwn: () => false,
    },
    host: '127.0.0.1',
    port: 0,
    publicHost: '127.0.0.1',
    transports: ['udp', 'tcp'],
    realm: REALM,
    userAgent: 'carillon',
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    directory: {
      async byUsername(username) {
        const password = users[username];
        if (password === undefined) return undefined;
        const ha1 = (algorithm: 'MD5' | 'SHA-256' | 'SHA-512-256') =>
          ha1Of(algorithm, username, REALM, password);
        const secrets = { md5: ha1('MD5'), sha256: ha1('SHA-256'), sha512256: ha1('SHA-512-256') };
        return {
          endpointId: asEndpointId(username),
          accountId: asAccountId('MA_X'),
          username,
          secrets,
          active: true,
        };
      },
    },
    bindings,
    carriers: () => [],
    ...options,
  });
  const rig: Rig = {
    signalling,
    bindings,
    legs,
    nextLeg: () => new Promise((resolve) => waiting.push(resolve)),
    onLeg: (leg) => leg.attach(QUIET),
  };
  signalling.onInbound((leg) => {
    rig.onLeg(leg);
    legs.push(leg);
    waiting.shift()?.(leg);
  });
  await signalling.start();
  return rig;
}

export const carrier = (more: Partial<Carrier>): Carrier => ({
  name: 'north',
  host: '127.0.0.1',
  port: 5060,
  transport: 'udp',
  auth: undefined,
  sourceAddresses: ['127.0.0.1'],
  prefixes: [''],
  strip: 0,
  prepend: '',
  cpsLimit: 0,
  concurrentCallsLimit: 0,
  secure: false,
  priority: 1,
  policy: {},
  enabled: true,
  ...more,
});

/** Common part of both kinds of peer: a queue of texts, read by their start line. */
export abstract class WirePeer {
  readonly texts: string[] = [];
  readonly #seen = new Set<string>();
  abstract readonly port: number;
  abstract readonly transport: 'UDP' | 'TCP' | 'TLS' | 'WS';
  abstract write(text: string | Uint8Array): void;

  /** Next unread message whose start line contains `start`. */
  async read(start: string): Promise<string> {
    let found: string | undefined;
    await until(() => {
      found = this.texts.find(
        (text, i) => !this.#seen.has(`${i}`) && (text.split('\r\n')[0] ?? '').includes(start),
      );
      return found !== undefined;
    }).catch(() => {
      throw new Error(
        `no "${start}" in ${this.texts.map((text) => text.split('\r\n')[0]).join(' | ')}`,
      );
    });
    this.#seen.add(`${this.texts.indexOf(found ?? '')}`);
    return found ?? '';
  }
}

export class UdpPeer extends WirePeer {
  readonly transport = 'UDP';
  readonly #socket: UdpSocket;
  readonly #to: number;

  private constructor(socket: UdpSocket, to: number) {
    super();
    this.#socket = socket;
    this.#to = to;
    socket.on('message', (bytes) => this.texts.push(bytes.toString('latin1')));
  }

  static async open(to: number): Promise<UdpPeer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new UdpPeer(socket, to);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  write(text: string | Uint8Array): void {
    this.#socket.send(text, this.#to, '127.0.0.1');
  }

  close(): void {
    this.#socket.close();
  }
}

export class TcpPeer extends WirePeer {
  readonly transport: 'TCP' | 'TLS';
  readonly socket: TcpSocket;
  closed = false;
  #pending = '';

  constructor(socket: TcpSocket) {
    super();
    this.transport = socket instanceof TLSSocket ? 'TLS' : 'TCP';
    this.socket = socket;
    socket.on('data', (chunk) => this.#received(chunk.toString('latin1')));
    socket.on('close', () => {
      this.closed = true;
    });
    socket.on('error', () => undefined);
  }

  static async open(to: number): Promise<TcpPeer> {
    const socket = connect(to, '127.0.0.1');
    await once(socket, 'connect');
    return new TcpPeer(socket);
  }

  /** Connects over TLS without checking the server's name. */
  static async secure(to: number, options: ConnectionOptions = {}): Promise<TcpPeer> {
    const socket = tlsConnect({
      port: to,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ...options,
    });
    await once(socket, 'secureConnect');
    return new TcpPeer(socket);
  }

  get port(): number {
    return this.socket.localPort ?? 0;
  }

  write(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  close(): void {
    this.socket.destroy();
  }

  #received(chunk: string): void {
    this.#pending += chunk;
    for (;;) {
      const head = this.#pending.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/^content-length: (\d+)/im.exec(this.#pending)?.[1] ?? 0);
      if (this.#pending.length < head + 4 + length) return;
      this.texts.push(this.#pending.slice(0, head + 4 + length));
      this.#pending = this.#pending.slice(head + 4 + length);
    }
  }
}

/** A browser: SIP over WebSocket, with a Contact that cannot be resolved. */
export class WsPeer extends WirePeer {
  readonly transport = 'WS';
  readonly port = 0;
  readonly socket: WebSocket;
  closed: number | undefined;

  private constructor(socket: WebSocket) {
    super();
    this.socket = socket;
    socket.on('message', (data: Buffer) => this.texts.push(data.toString('latin1')));
    socket.on('close', (code) => {
      this.closed = code;
    });
    socket.on('error', () => undefined);
  }

  static async open(url: string, protocols: readonly string[] = ['sip']): Promise<WsPeer> {
    const socket = new WebSocket(url, [...protocols], { rejectUnauthorized: false });
    await once(socket, 'open');
    return new WsPeer(socket);
  }

  write(text: string | Uint8Array): void {
    this.socket.send(text);
  }

  close(): void {
    this.socket.terminate();
  }
}

export const headerOf = (text: string, name: string): string =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1]?.trim() ?? '';

let branches = 0;

export interface RequestLines {
  readonly method: string;
  readonly uri: string;
  readonly user?: string;
  /** Password for `authenticated`. */
  readonly password?: string;
  readonly to?: string;
  readonly cseq?: number;
  readonly callId: string;
  readonly branch?: string;
  /** Scheme of the Contact. */
  readonly scheme?: 'sip' | 'sips';
  readonly contactParams?: string;
  readonly more?: readonly string[];
  readonly body?: string;
}

const hasType = ({ more = [] }: RequestLines): boolean =>
  more.some((line) => /^content-type:/i.test(line));

/** A request, by default from `alice`. */
export function requestText(peer: WirePeer, lines: RequestLines): string {
  branches += 1;
  const { method, uri, user = 'alice', to = `<${uri}>`, cseq = 1, body = '' } = lines;
  const branch = lines.branch ?? `z9hG4bKwire${branches}`;
  const transport = peer.transport === 'UDP' ? '' : `;transport=${peer.transport.toLowerCase()}`;
  const at = peer.port === 0 ? 'browser.invalid' : `127.0.0.1:${peer.port}`;
  return [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/${peer.transport} ${at};rport;branch=${branch}`,
    'Max-Forwards: 70',
    `From: <sip:${user}@127.0.0.1>;tag=${lines.callId}`,
    `To: ${to}`,
    `Call-ID: ${lines.callId}`,
    `CSeq: ${cseq} ${method}`,
    `Contact: <${lines.scheme ?? 'sip'}:${user}@${at}${transport}>${lines.contactParams ?? ''}`,
    ...(lines.more ?? []),
    ...(body === '' || hasType(lines) ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** Authorization line that answers a 401. */
function authorization(
  challenge: string,
  lines: {
    readonly method: string;
    readonly uri: string;
    readonly user?: string;
    readonly password?: string;
  },
): string {
  const values = [...challenge.matchAll(/^WWW-Authenticate: (.*)$/gim)].map(
    (m) => m[1]?.trim() ?? '',
  );
  const understood = strongestChallenge(values.map(parseAuth).filter((c) => c !== undefined));
  if (understood === undefined) throw new Error(`no challenge in ${challenge}`);
  const { method, uri, user = 'alice', password = 'wonderland' } = lines;
  const account = { username: user, password };
  return `Authorization: ${answerChallenge(understood, account, { method, uri }, 1, systemRandom)}`;
}

/** Sends a request, answers its challenge and returns the lines of the second attempt. */
export async function authenticated(peer: WirePeer, lines: RequestLines): Promise<void> {
  peer.write(requestText(peer, lines));
  const challenge = await peer.read('401');
  if (lines.method === 'INVITE') {
    const to = headerOf(challenge, 'To');
    const branch = /branch=([^;\s]+)/.exec(headerOf(challenge, 'Via'))?.[1] ?? '';
    peer.write(requestText(peer, { ...lines, method: 'ACK', to, branch, body: '' }));
  }
  const more = [...(lines.more ?? []), authorization(challenge, lines)];
  peer.write(requestText(peer, { ...lines, cseq: 2, more }));
}
