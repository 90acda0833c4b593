import { hashHex } from '../../base/hash.ts';
import type {
  InboundLeg,
  InviteOptions,
  Leg,
  OutboundLegEvents,
  OutboundTarget,
  SipAddresses,
} from '../../domain/call/needs.ts';
import type { Binding } from '../../domain/registration/types.ts';
import {
  type Flow,
  isSecure,
  isSecureBinding,
  isWebSocket,
  peerOf,
  type SipTransportName,
  UserAgent,
  type UserAgentInput,
  type UserAgentOutput,
} from '../../protocol/sip/sip.ts';
import { AgentDriver } from './agent-driver.ts';
import { acquaintanceOf, CarrierSources } from './carrier-sources.ts';
import { type CarrierState, CarrierWatch } from './carrier-watch.ts';
import { systemDns } from './dns.ts';
import { EdgeOutboundLeg } from './edge-legs.ts';
import { GuardedResolver } from './guarded-resolver.ts';
import { inviteCommand } from './invite-command.ts';
import { LegTable } from './leg-table.ts';
import { countNonce } from './nonce-counting.ts';
import { SipResolver } from './resolver.ts';
import type { RunningSignalling, SignallingCounters, SignallingOptions } from './signalling.ts';
import { SipSockets } from './sip-sockets.ts';
import { Texts } from './texts.ts';
import { UserDirectory } from './user-directory.ts';
import type { SipWire } from './wire.ts';

const CALL_ID_BYTES = 16;
const FIRST_RESPONSE_MS = 4_000;
const MESSAGE_MAX_BYTES = 4096;

/** Connects legs of calls to the user agent and its sockets. */
class SignallingService implements RunningSignalling {
  readonly #options: SignallingOptions;
  readonly #wire: SipWire;
  readonly #resolver: GuardedResolver;
  readonly #directory: UserDirectory;
  readonly #carriers: CarrierWatch;
  readonly #sources: CarrierSources;
  readonly texts: Texts;
  readonly #legs: LegTable;
  #agent: UserAgent | undefined;
  #driver: AgentDriver | undefined;
  #discarded = 0;
  #authFailures = 0;
  #isReady = false;

  constructor(options: SignallingOptions) {
    const { clock, random, logger, carriers } = options;
    const transports = spoken(options);
    this.#options = options;
    const dispatch = this.#reported;
    this.#sources = new CarrierSources(carriers, clock);
    const acquaintance = acquaintanceOf(() => this.#agent, this.#sources, clock);
    this.#legs = new LegTable(options, dispatch);
    const cutOff = (callIds: readonly string[], why: string): void =>
      this.#legs.cutOff(callIds, why);
    const parts = { options, acquaintance, dispatch, cutOff };
    this.#wire = options.wire?.(parts) ?? new SipSockets(options, parts);
    const dns = options.dns ?? systemDns(clock);
    const resolver = new SipResolver({ dns, clock, random, transports });
    this.#resolver = new GuardedResolver(resolver, options, (port) => this.listensOn(port));
    this.#directory = new UserDirectory(options.directory, options.bindings, logger, dispatch);
    this.#carriers = new CarrierWatch(carriers, clock, dispatch, options.carrierProbeMs);
    this.texts = new Texts(options.publicHost, dispatch);
  }

  async start(): Promise<void> {
    const options = this.#options;
    const { clock, random, logger, realm, userAgent, publicHost, publicHost6 } = options;
    const stored = await options.bindings.listAll();
    await this.#wire.start();
    const port = this.port();
    const ports = this.ports();
    const agent = new UserAgent({
      random,
      publicHost,
      publicHost6,
      publicPort: port,
      publicPorts: ports,
      localAddress: options.host,
      localPort: port,
      userAgent,
      transports: spoken(options),
      edges: options.outboundEdges ?? [],
      instanceId: instanceOf(realm),
      wallOffsetMs: clock.wallMs() - clock.monotonicMs(),
      realm,
      trustedSource: (flow) => this.#sources.at(flow),
      challengeOrder: options.challengeOrder ?? 'compatible',
      messageMaxBytes: options.messageMaxBytes ?? MESSAGE_MAX_BYTES,
      ...(options.nonceKey === undefined ? {} : { nonceKey: options.nonceKey }),
      sharesNonceCounts: options.nonceCounts !== undefined,
      ...(options.newCalls === undefined ? {} : { newCalls: options.newCalls }),
      ...(options.registrar === undefined ? {} : { registrar: options.registrar }),
      ...(options.sessionTimer === undefined ? {} : { sessionTimer: options.sessionTimer }),
    });
    this.#agent = agent;
    this.#driver = new AgentDriver(agent, clock, logger, (output) => this.#act(output));
    this.#dispatch({ kind: 'restoreBindings', bindings: stored });
    this.#carriers.start();
    this.#isReady = true;
    logger.info({ host: options.host, ports, publicHost, publicHost6 }, 'SIP listening');
  }

  async stop(): Promise<void> {
    this.#isReady = false;
    this.#carriers.stop();
    this.#driver?.stop();
    await this.#wire.stop();
  }

  drain(): void {
    this.#isReady = false;
    this.#dispatch({ kind: 'drain' });
    this.#wire.drain?.();
  }

  pause(cause: string | undefined): void {
    this.#dispatch({ kind: 'pause', cause });
  }

  ready(): boolean {
    return this.#isReady && this.#wire.state.isUp;
  }

  get detail(): string {
    return this.#wire.state.detail;
  }

  port(): number {
    return this.#wire.port;
  }

  ports(): SipWire['ports'] {
    return this.#wire.ports;
  }

  listensOn(port: number): boolean {
    const { udp, tcp, tls, ws, wss } = this.#wire.ports;
    return port === udp || port === tcp || port === tls || port === ws || port === wss;
  }

  upgrade(...upgrade: Parameters<SipWire['upgrade']>): void {
    this.#wire.upgrade(...upgrade);
  }

  onInbound(handler: (leg: InboundLeg) => void): void {
    this.#legs.onInbound(handler);
  }

  invite(target: OutboundTarget, options: InviteOptions, events: OutboundLegEvents): Leg {
    const leg = this.#legs.nextId();
    const callId = Buffer.from(this.#options.random.bytes(CALL_ID_BYTES)).toString('hex');
    const watched = this.#carriers.watching(target, events);
    const outbound = new EdgeOutboundLeg(leg, callId, watched, this.#reported);
    this.#legs.add(leg, outbound);
    if (options.owner !== undefined) this.#options.traces?.belongs(callId, options.owner);
    const command = inviteCommand(target, options, {
      leg,
      callId,
      publicHost: this.#options.publicHost,
      carriers: this.#options.carriers(),
      firstResponseMs: this.#options.firstResponseMs ?? FIRST_RESPONSE_MS,
    });
    if (command === undefined || this.#driver === undefined) {
      const end = {
        by: 'remote',
        how: 'unreachable',
        status: undefined,
        reason: undefined,
      } as const;
      this.#legs.endLater(leg, end);
    } else this.#dispatch(command);
    return outbound;
  }

  isRegistered(username: string, secure = false): boolean {
    const contacts = this.#agent?.contactsOf(username, this.#options.clock.monotonicMs()) ?? [];
    return contacts.some((binding) => !secure || isSecureBinding(binding));
  }

  isSecured(username: string): boolean {
    return this.#isReachedOver(username, isSecure);
  }

  isDown(target: OutboundTarget): boolean {
    return this.#carriers.isDown(target);
  }

  isBrowser(username: string): boolean {
    return this.#isReachedOver(username, isWebSocket);
  }

  /** Returns whether the user has current contacts, all over such transports. */
  #isReachedOver(username: string, isMeant: (transport: SipTransportName) => boolean): boolean {
    const contacts = this.#agent?.contactsOf(username, this.#options.clock.monotonicMs()) ?? [];
    return contacts.length > 0 && contacts.every(({ flow }) => isMeant(flow.transport));
  }

  registrations(): readonly Binding[] {
    return this.#agent?.bindings(this.#options.clock.monotonicMs()) ?? [];
  }

  bindingsElsewhere(
    saved: readonly Binding[],
    removed: readonly Pick<Binding, 'username' | 'contactUri'>[],
  ): void {
    this.#dispatch({ kind: 'bindingsElsewhere', saved, removed });
  }

  forgetBindings(username: string, login?: string): void {
    this.#dispatch({ kind: 'forgetBindings', username, ...(login !== undefined && { login }) });
  }

  get addresses(): SipAddresses {
    return this.#resolver.book;
  }

  carrierStates(): readonly CarrierState[] {
    return this.#carriers.states();
  }

  waitMs(): number {
    return this.#wire.traffic.waitMs();
  }

  counters(): SignallingCounters {
    const { traffic } = this.#wire;
    return {
      messages: traffic.counts(),
      carrierMessages: traffic.carrierCounts(),
      discarded: this.#discarded,
      dropped: { ...traffic.dropped(), socket: this.#wire.lost },
      authFailures: this.#authFailures,
      legs: this.#agent?.legs ?? 0,
      transactions: this.#agent?.transactions ?? 0,
      connections: this.#wire.connections(),
      failedHandshakes: this.#wire.failedHandshakes,
    };
  }

  #dispatch(input: UserAgentInput): void {
    this.#driver?.dispatch(input);
  }

  /** Shared callback for long-lived objects: one instance for all legs. */
  readonly #reported = (input: UserAgentInput): void => this.#dispatch(input);

  #act(output: UserAgentOutput): void {
    switch (output.kind) {
      case 'send':
        this.#wire.send(output);
        break;
      case 'resolve':
        this.#resolve(output);
        break;
      case 'connect':
        this.#connect(output);
        break;
      case 'keepAlive':
        this.#wire.keepAlive(output);
        break;
      case 'findSecret':
        this.#directory.find(output);
        break;
      case 'countNonce':
        void countNonce(output, this.#options.nonceCounts).then((input) => this.#dispatch(input));
        break;
      case 'store':
        this.#directory.store(output);
        break;
      case 'message':
      case 'messageSent':
        this.texts.act(output);
        break;
      case 'probed':
        this.#carriers.probed(output);
        break;
      case 'registration':
        this.#carriers.registration(output);
        break;
      case 'refused':
        this.#refused(output);
        break;
      case 'discarded':
        this.#discarded += 1;
        this.#options.logger.debug({ why: output.why, ...whence(output.flow) }, 'SIP discarded');
        break;
      default:
        this.#legs.act(output);
    }
  }

  #resolve({ id, query, guard }: Extract<UserAgentOutput, { kind: 'resolve' }>): void {
    void this.#resolver
      .resolve(query, guard)
      .then((resolution) => this.#dispatch({ kind: 'resolved', id, ...resolution }));
  }

  #connect({ id, target }: Extract<UserAgentOutput, { kind: 'connect' }>): void {
    void this.#wire.connect(target).then((flow) => {
      this.#dispatch({ kind: 'connected', id, flow });
    });
  }

  #refused(output: Extract<UserAgentOutput, { kind: 'refused' }>): void {
    const { method, status, why, flow } = output;
    const fields = { method, status, why, ...whence(flow) };
    if (why !== 'wrong credentials') {
      this.#options.logger.debug(fields, 'SIP request refused');
      return;
    }
    this.#authFailures += 1;
    // examples/fail2ban parses this line.
    this.#options.logger.info(fields, 'SIP authentication failed');
  }
}

/** Instance URN, derived from the persistent realm and thus equal after each start (RFC 4122 §4.3). */
function instanceOf(realm: string): string {
  const hex = hashHex('sha256', `sip.instance ${realm}`);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join('-')}`;
}

/** Transports for outgoing calls, in order of preference. */
const spoken = ({ transports, tls }: SignallingOptions): readonly SipTransportName[] =>
  tls === undefined ? transports : [...transports, 'tls'];

const whence = (flow: Flow) => {
  const { transport, address: remoteAddress, port: remotePort } = peerOf(flow);
  return { transport, remoteAddress, remotePort };
};

/** Creates SIP signalling over local sockets for `domain/call`. */
export const createSignalling = (options: SignallingOptions): RunningSignalling =>
  new SignallingService(options);
