/** Several user agents on one virtual network in virtual time: no sockets, no sleeps, deterministic runs. */
import { isIP } from 'node:net';
import type { Random } from '../../../src/base/ids.ts';
import type { CountAnswer } from '../../../src/protocol/sip/auth/authenticator.ts';
import { DIGEST_ALGORITHMS, ha1Of } from '../../../src/protocol/sip/auth/digest.ts';
import type { SipMessage, SipRequest, SipResponse } from '../../../src/protocol/sip/message.ts';
import { parseMessage } from '../../../src/protocol/sip/parse.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';
import { UserAgent } from '../../../src/protocol/sip/user-agent.ts';
import type {
  Target,
  TargetQuery,
  TemporaryLogin,
  UserAgentInput,
  UserAgentOptions,
  UserAgentOutput,
} from '../../../src/protocol/sip/user-agent-types.ts';

export const REALM = 'carillon.test';
export const OFFER =
  'v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.9\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n';
export const ANSWER = OFFER.replaceAll('192.0.2.9', '192.0.2.1').replace('4000', '5000');

/** Linear congruential generator with the same numbers in every run. */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return {
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)),
    integer: (below) => Math.floor(next() * below),
  };
}

export interface Sent {
  readonly atMs: number;
  readonly from: string;
  readonly to: string;
  readonly message: SipMessage;
}

interface Delivery {
  readonly atMs: number;
  readonly run: () => void;
}

type Event = Exclude<
  UserAgentOutput,
  { kind: 'send' | 'resolve' | 'connect' | 'findSecret' | 'countNonce' | 'store' }
>;

/** One host: a user agent, or a scripted peer that records messages. */
interface Host {
  readonly address: string;
  receive(bytes: Uint8Array, flow: Flow): void;
}

const LATENCY_MS = 5;

export class World {
  nowMs = 1000;
  readonly sent: Sent[] = [];
  /** Targets by name, for `resolve`. */
  readonly dns = new Map<string, readonly Target[]>();
  /** Addresses `address:port` that refuse connections. */
  readonly refusing = new Set<string>();
  /** Returns true for each message to be lost. */
  lose: (sent: Sent) => boolean = () => false;
  /** True if nodes can share used nonces. */
  nodesTalk = true;
  readonly #usedNonces = new Set<string>();
  readonly #hosts = new Map<string, Host>();
  readonly #agents: Agent[] = [];
  readonly #deliveries: Delivery[] = [];
  #connections = 0;

  agent(address: string, options: Partial<UserAgentOptions> = {}): Agent {
    const agent = new Agent(this, address, options);
    this.#hosts.set(address, agent);
    this.#agents.push(agent);
    return agent;
  }

  peer(address: string): Peer {
    const peer = new Peer(this, address);
    this.#hosts.set(address, peer);
    return peer;
  }

  post(from: string, bytes: Uint8Array, flow: Flow): void {
    const parsed = parseMessage(bytes);
    const to = `${flow.remoteAddress}:${flow.remotePort}`;
    if (parsed.ok) {
      const sent = { atMs: this.nowMs, from, to, message: parsed.message };
      this.sent.push(sent);
      if (this.lose(sent)) return;
    }
    this.later(LATENCY_MS, () => {
      this.#hosts.get(flow.remoteAddress)?.receive(Buffer.from(bytes), reversed(flow));
    });
  }

  connect(agent: Agent, target: Target): Flow | undefined {
    if (this.refusing.has(`${target.address}:${target.port}`)) return undefined;
    this.#connections += 1;
    return {
      transport: target.transport,
      localAddress: agent.address,
      localPort: 40_000 + this.#connections,
      remoteAddress: target.address,
      remotePort: target.port,
      connectionId: this.#connections,
    };
  }

  later(ms: number, run: () => void): void {
    this.#deliveries.push({ atMs: this.nowMs + ms, run });
    this.#deliveries.sort((a, b) => a.atMs - b.atMs);
  }

  /** Advances time and runs all events in order. */
  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    for (;;) {
      const deadlines = this.#agents.map((agent) => agent.ua.deadlineMs() ?? Infinity);
      const next = Math.min(this.#deliveries[0]?.atMs ?? Infinity, ...deadlines);
      if (next > endMs) break;
      this.nowMs = Math.max(this.nowMs, next);
      const delivery = this.#deliveries[0];
      if (delivery !== undefined && delivery.atMs <= this.nowMs) {
        this.#deliveries.shift();
        delivery.run();
      } else for (const agent of this.#agents) agent.expire();
    }
    this.nowMs = endMs;
  }

  /** Nonce counts used by all agents that share nonces. */
  useNonce({ nonce, count }: { readonly nonce: string; readonly count: number }): CountAnswer {
    if (!this.nodesTalk) return 'unavailable';
    const use = `${nonce} ${count}`;
    if (this.#usedNonces.has(use)) return 'used';
    this.#usedNonces.add(use);
    return 'first';
  }

  /** Messages sent over the network, short: `INVITE`, `200 INVITE`. */
  ladder(): string[] {
    return this.sent.map(({ message }) => brief(message));
  }
}

export const brief = (message: SipMessage): string =>
  message.kind === 'request'
    ? message.method
    : `${message.status} ${message.cseqOrUndefined?.method ?? ''}`;

const reversed = (flow: Flow): Flow => ({
  transport: flow.transport,
  localAddress: flow.remoteAddress,
  localPort: flow.remotePort,
  remoteAddress: flow.localAddress,
  remotePort: flow.localPort,
  connectionId: flow.connectionId,
});

/** A user agent under test with its recorded outputs. */
export class Agent implements Host {
  readonly address: string;
  readonly ua: UserAgent;
  readonly events: Event[] = [];
  readonly stored: Extract<UserAgentOutput, { kind: 'store' }>[] = [];
  /** Passwords by username. */
  readonly users = new Map<string, string>();
  /** Groups by username; all others are in one. */
  readonly groups = new Map<string, string>();
  /** Users whose account is not active. */
  readonly inactive = new Set<string>();
  /** Users that are temporary logins. */
  readonly logins = new Map<string, TemporaryLogin>();
  storeWorks = true;
  directoryWorks = true;
  /** Handler of the event `offered`; returns the answer. */
  onOffer: (sdp: string | undefined) => string | undefined = () => ANSWER;
  readonly #world: World;

  constructor(world: World, address: string, options: Partial<UserAgentOptions>) {
    this.#world = world;
    this.address = address;
    this.ua = new UserAgent({
      random: seededRandom(address.length + [...address].reduce((n, c) => n + c.charCodeAt(0), 0)),
      publicHost: address,
      publicPort: 5060,
      localAddress: address,
      localPort: 5060,
      userAgent: 'test',
      transports: ['udp', 'tcp'],
      wallOffsetMs: Date.UTC(2026, 0, 1),
      realm: undefined,
      trustedSource: () => undefined,
      ...options,
    });
  }

  dispatch(input: UserAgentInput): void {
    this.#act(this.ua.handle(input, this.#world.nowMs));
  }

  expire(): void {
    this.#act(this.ua.expire(this.#world.nowMs));
  }

  receive(bytes: Uint8Array, flow: Flow): void {
    this.dispatch({ kind: 'received', bytes, flow });
  }

  /** Latest event of a kind. */
  last<K extends Event['kind']>(kind: K): Extract<Event, { kind: K }> {
    const event = this.events.findLast((candidate) => candidate.kind === kind);
    if (event === undefined)
      throw new Error(`no event ${kind} in ${this.events.map((e) => e.kind)}`);
    return event as Extract<Event, { kind: K }>;
  }

  count(kind: Event['kind']): number {
    return this.events.filter((event) => event.kind === kind).length;
  }

  #act(outputs: readonly UserAgentOutput[]): void {
    const world = this.#world;
    for (const output of outputs) {
      switch (output.kind) {
        case 'send':
          world.post(this.address, output.bytes, output.flow);
          break;
        case 'resolve':
          world.later(1, () =>
            this.dispatch({
              kind: 'resolved',
              id: output.id,
              targets: world.dns.get(output.query.host) ?? addressIn(output.query),
            }),
          );
          break;
        case 'connect':
          world.later(1, () => {
            const flow = world.connect(this, output.target);
            this.dispatch({ kind: 'connected', id: output.id, flow });
          });
          break;
        case 'findSecret':
          world.later(1, () => this.#findSecret(output.id, output.username));
          break;
        case 'countNonce':
          this.dispatch({ kind: 'nonceCounted', id: output.id, use: world.useNonce(output) });
          break;
        case 'store': {
          this.stored.push(output);
          const { id } = output;
          if (id !== undefined)
            world.later(1, () => this.dispatch({ kind: 'stored', id, ok: this.storeWorks }));
          break;
        }
        default:
          this.events.push(output);
          if (output.kind === 'offered') {
            const sdp = this.onOffer(output.sdp);
            this.dispatch({ kind: 'answerOffer', leg: output.leg, sdp });
          }
      }
    }
  }

  #findSecret(id: number, username: string): void {
    if (!this.directoryWorks) {
      this.dispatch({ kind: 'secret', id, secrets: 'unavailable' });
      return;
    }
    const password = this.users.get(username);
    const secrets =
      password === undefined
        ? undefined
        : (Object.fromEntries(
            DIGEST_ALGORITHMS.map((a) => [a, ha1Of(a, username, REALM, password)]),
          ) as Record<(typeof DIGEST_ALGORITHMS)[number], string>);
    const login = this.logins.get(username);
    const group = this.groups.get(username) ?? 'all';
    const inactive = this.inactive.has(username);
    this.dispatch({
      kind: 'secret',
      id,
      secrets: secrets && { ...secrets, inactive, login, group },
    });
  }
}

/** A host that sends exactly the messages that a test writes. */
export class Peer implements Host {
  readonly address: string;
  readonly received: SipMessage[] = [];
  /** Called for each received message, for example to answer it. */
  onMessage: (message: SipMessage, flow: Flow) => void = () => undefined;
  readonly #world: World;

  constructor(world: World, address: string) {
    this.#world = world;
    this.address = address;
  }

  receive(bytes: Uint8Array, flow: Flow): void {
    const parsed = parseMessage(bytes);
    if (!parsed.ok) throw new Error(`peer cannot parse: ${Buffer.from(bytes).toString()}`);
    const message = parsed.message;
    this.received.push(message);
    this.onMessage(message, flow);
  }

  /** Sends lines joined by CRLF, followed by an optional body. */
  send(
    to: string,
    lines: readonly string[],
    body = '',
    transport: Flow['transport'] = 'udp',
  ): void {
    const text = `${[...lines, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`;
    this.sendText(to, text, transport);
  }

  sendText(to: string, text: string | Uint8Array, transport: Flow['transport'] = 'udp'): void {
    const [address = '', port = '5060'] = to.split(':');
    this.#world.post(this.address, Buffer.from(text as string), {
      transport,
      localAddress: this.address,
      localPort: 5060,
      remoteAddress: address,
      remotePort: Number(port),
      connectionId: transport === 'udp' ? undefined : 77,
    });
  }

  lastRequest(method: string): SipRequest {
    const found = this.received.findLast((m) => m.kind === 'request' && m.method === method);
    if (found?.kind !== 'request')
      throw new Error(`${method} not heard in ${this.received.map(brief)}`);
    return found;
  }

  lastResponse(): SipResponse {
    const found = this.received.findLast((m) => m.kind === 'response');
    if (found?.kind !== 'response') throw new Error('no response heard');
    return found;
  }
}

/** Address of a guarded destination that needs no DNS. */
function addressIn({ host, port = 5060, transport = 'udp' }: TargetQuery): readonly Target[] {
  return isIP(host) === 0 ? [] : [{ transport, address: host, port }];
}
