/** SIP side of the phone: one user agent over UDP or TCP that exposes a call as promises and events. */
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Clock } from '../base/clock.ts';
import { type Driver, drive } from '../base/drive.ts';
import { bracketed } from '../base/host.ts';
import { asLegId, type LegId, type Random, token } from '../base/ids.ts';
import { ConnectionTable } from '../edge/sip/transport/connection-table.ts';
import {
  DEFAULT_STREAM_LIMITS,
  StreamTransport,
  TCP,
} from '../edge/sip/transport/stream-transport.ts';
import { UdpTransport } from '../edge/sip/transport/udp-transport.ts';
import {
  defaultPort,
  type Flow,
  type LegEndFacts,
  type TargetQuery,
  UserAgent,
  type UserAgentInput,
  type UserAgentOutput,
} from '../protocol/sip/sip.ts';

export interface LineOptions {
  readonly host: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp';
  readonly username: string;
  readonly password: string;
  readonly clock: Clock;
  readonly random: Random;
}

export interface CallEvents {
  /** Reports a provisional response. `sdp` is present with early media. */
  ringing(status: number, sdp: string | undefined): void;
  connected(sdp: string | undefined): void;
  /** Reports the end of the call exactly once. */
  ended(end: LegEndFacts): void;
  /** Handles a re-INVITE. Returns the SDP answer, or undefined to refuse it and keep the session unchanged. */
  offered(sdp: string): string | undefined;
}

export interface PhoneCall {
  readonly sipCallId: string;
  hangup(): void;
  /** Sends a key press by SIP INFO, for peers without RFC 4733. */
  sendDigit(digit: string, durationMs: number): void;
}

/** Handles an inbound call with this offer. Returns the answer and event handlers, or undefined to refuse as busy. */
type CallHandler = (
  sdp: string,
  call: PhoneCall,
) => { readonly sdp: string; readonly events: CallEvents } | undefined;

type Output<K extends UserAgentOutput['kind']> = Extract<UserAgentOutput, { readonly kind: K }>;

/** Time to send pending messages when the line closes, in ms. */
const LAST_WORDS_MS = 2000;
/** Timeout of REGISTER in ms: Timer F of RFC 3261. */
const REGISTER_TIMEOUT_MS = 32_000;
const REGISTRATION = 1;
/** Leg ID of outbound calls. Legs of inbound calls have odd numbers. */
const OWN_LEG = asLegId(2);
const EXPIRES_S = 300;
/** Status for inbound calls without a handler. */
const BUSY_HERE = 486;

export class SipLine {
  readonly localAddress: string;
  readonly #options: LineOptions;
  readonly #udp: UdpTransport;
  readonly #tcp: StreamTransport;
  readonly #table: ConnectionTable;
  readonly #driver: Driver<UserAgentInput>;
  readonly localPort: number;
  /** Pending address lookups and connection attempts. */
  readonly #looking = new Set<Promise<void>>();
  #call: CallEvents | undefined;
  #leg = OWN_LEG;
  #handler: CallHandler = () => undefined;
  #registration: ((output: Output<'registration'>) => void) | undefined;

  private constructor(
    options: LineOptions,
    local: { readonly address: string; readonly port: number; readonly udp: UdpTransport },
  ) {
    this.#options = options;
    this.localAddress = local.address;
    this.localPort = local.port;
    this.#udp = local.udp;
    const { clock, random, username } = options;
    const table = new ConnectionTable(DEFAULT_STREAM_LIMITS, {
      received: (bytes, flow) => this.#driver.notify({ kind: 'received', bytes, flow }),
      lost: ({ connectionId }) => {
        if (connectionId !== undefined)
          this.#driver.notify({ kind: 'connectionLost', connectionId });
      },
    });
    this.#table = table;
    const failed = (): void => undefined;
    this.#tcp = new StreamTransport({ host: local.address, clock, table, kind: TCP, failed });
    const agent = new UserAgent({
      random,
      publicHost: local.address,
      publicPort: local.port,
      localAddress: local.address,
      localPort: local.port,
      transports: ['udp', 'tcp'],
      userAgent: `Carillon phone (${username})`,
      wallOffsetMs: clock.wallMs() - clock.monotonicMs(),
      realm: undefined,
      trustedSource: () => undefined,
    });
    this.#driver = drive(agent, clock, (output) => this.#act(output));
  }

  static async open(options: LineOptions): Promise<SipLine> {
    const address = await localAddressTowards(options.host, options.port);
    let line: SipLine | undefined;
    const udp: UdpTransport = new UdpTransport(address, 0, {
      received: (bytes, from, port) => {
        if (line !== undefined) line.#receivedUdp(bytes, from, port);
      },
      failed: () => undefined,
    });
    const port = await udp.start();
    line = new SipLine(options, { address, port, udp });
    return line;
  }

  /** Resolves when the registrar responds with 200. */
  async register(): Promise<void> {
    const { username, password, transport } = this.#options;
    const { state, status } = await this.#registrationAfter({
      kind: 'register',
      registration: REGISTRATION,
      aor: `sip:${username}@${this.#authority()}`,
      registrar: `sip:${this.#authority()}`,
      transport,
      account: { username, password },
      expires: EXPIRES_S,
    });
    if (state === 'registered') return;
    const why = status === undefined ? 'the server did not answer' : `refused with ${status}`;
    throw new Error(`registration at ${this.#authority()} failed: ${why}`);
  }

  async unregister(): Promise<void> {
    await this.#registrationAfter({ kind: 'unregister', registration: REGISTRATION });
  }

  /** Places a call. Only one call is possible at a time. */
  call(to: string, sdp: string, events: CallEvents): PhoneCall {
    const { username, password, transport, random, host } = this.#options;
    const sipCallId = `${token(random)}@${this.localAddress}`;
    this.#call = events;
    this.#leg = OWN_LEG;
    this.#driver.notify({
      kind: 'invite',
      leg: OWN_LEG,
      target: { kind: 'uri', uri: this.#uriOf(to), transport },
      from: { user: username, host, displayName: 'Carillon phone' },
      callId: sipCallId,
      sdp,
      headers: [],
      account: { username, password },
    });
    return this.#callOf(OWN_LEG, sipCallId);
  }

  /** Sets the handler of inbound calls, one at a time. */
  onCall(handler: CallHandler): void {
    this.#handler = handler;
  }

  /** Closes the line after pending messages such as a BYE are sent, or after `LAST_WORDS_MS`. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = this.#options.clock.at(
      this.#options.clock.monotonicMs() + LAST_WORDS_MS,
      late.resolve,
    );
    await Promise.race([Promise.allSettled(this.#looking), late.promise]);
    cancel();
    this.#driver.stop();
    this.#table.stop();
    await Promise.all([this.#udp.stop(), this.#tcp.stop()]);
  }

  #receivedUdp(bytes: Uint8Array, remoteAddress: string, remotePort: number): void {
    const flow: Flow = {
      transport: 'udp',
      localAddress: this.localAddress,
      localPort: this.localPort,
      remoteAddress,
      remotePort,
      connectionId: undefined,
    };
    this.#driver.notify({ kind: 'received', bytes, flow });
  }

  #authority(): string {
    const { host, port } = this.#options;
    return `${bracketed(host)}:${port}`;
  }

  /** Returns a SIP URI for a number, a user name or a complete SIP URI. */
  #uriOf(to: string): string {
    return /^sips?:/i.test(to) ? to : `sip:${to}@${this.#authority()}`;
  }

  async #registrationAfter(input: UserAgentInput): Promise<Output<'registration'>> {
    const { clock } = this.#options;
    let cancel: () => void = () => undefined;
    const answer = await new Promise<Output<'registration'>>((resolve) => {
      this.#registration = resolve;
      cancel = clock.at(clock.monotonicMs() + REGISTER_TIMEOUT_MS, () => {
        resolve({
          kind: 'registration',
          registration: REGISTRATION,
          state: 'failed',
          status: undefined,
          againIn: undefined,
        });
      });
      this.#driver.notify(input);
    });
    cancel();
    this.#registration = undefined;
    return answer;
  }

  #act(output: UserAgentOutput): void {
    switch (output.kind) {
      case 'send':
        this.#send(output);
        break;
      case 'resolve':
        this.#look(this.#resolve(output.id, output.query));
        break;
      case 'connect':
        this.#look(this.#connect(output));
        break;
      case 'registration':
        this.#registration?.(output);
        break;
      case 'incoming':
        this.#take(output.call);
        break;
      default:
        if ('leg' in output && output.leg === this.#leg) this.#tellCall(output);
    }
  }

  #callOf(leg: LegId, sipCallId: string): PhoneCall {
    const notify = (input: UserAgentInput): void => this.#driver.notify(input);
    return {
      sipCallId,
      hangup: () => notify({ kind: 'hangup', leg, status: BUSY_HERE, reason: undefined }),
      sendDigit: (digit, durationMs) => notify({ kind: 'sendDigit', leg, digit, durationMs }),
    };
  }

  #take({ leg, request, sdp }: Output<'incoming'>['call']): void {
    const call = this.#callOf(leg, request.callId);
    const taken =
      this.#call === undefined && sdp !== undefined ? this.#handler(sdp, call) : undefined;
    if (taken === undefined) {
      call.hangup();
      return;
    }
    this.#call = taken.events;
    this.#leg = leg;
    this.#driver.notify({ kind: 'answer', leg, sdp: taken.sdp });
  }

  #tellCall(output: UserAgentOutput): void {
    switch (output.kind) {
      case 'progress':
        this.#call?.ringing(output.status, output.sdp);
        break;
      case 'connected':
        this.#call?.connected(output.sdp);
        break;
      case 'offered': {
        const sdp = output.sdp === undefined ? undefined : this.#call?.offered(output.sdp);
        this.#driver.notify({ kind: 'answerOffer', leg: output.leg, sdp });
        break;
      }
      case 'ended':
        this.#call?.ended(output.end);
        this.#call = undefined;
        break;
      default:
        break;
    }
  }

  #send({ bytes, flow, transaction }: Output<'send'>): void {
    const failed = (): void => {
      if (transaction !== undefined) this.#driver.notify({ kind: 'sendFailed', transaction });
    };
    if (flow.transport === 'udp') {
      this.#udp.send(bytes, flow.remoteAddress, flow.remotePort, failed);
    } else {
      this.#table.send(flow.connectionId, bytes, failed);
    }
  }

  #look(looking: Promise<void>): void {
    this.#looking.add(looking);
    void looking.finally(() => this.#looking.delete(looking));
  }

  /** Resolves addresses only: a phone uses one server, so that NAPTR and SRV are not needed. */
  async #resolve(id: number, query: TargetQuery): Promise<void> {
    const transport = query.transport ?? this.#options.transport;
    const port = query.port ?? defaultPort(transport);
    const found = await lookup(query.host, { all: true }).catch(() => []);
    const targets = found.map(({ address }) => ({ transport, address, port }));
    this.#driver.notify({ kind: 'resolved', id, targets });
  }

  async #connect({ id, target }: Output<'connect'>): Promise<void> {
    const flow = await this.#tcp.connect(target);
    this.#driver.notify({ kind: 'connected', id, flow });
  }
}

/** Returns the local address used to reach the server. */
async function localAddressTowards(host: string, port: number): Promise<string> {
  const { address, family } = await lookup(host);
  const probe = createSocket(family === 6 ? 'udp6' : 'udp4');
  probe.connect(port, address);
  await once(probe, 'connect');
  const local = probe.address().address;
  probe.close();
  return local;
}
