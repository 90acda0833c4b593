import type { Logger } from '../../base/logger.ts';
import type { Flow, Target, UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';
import { type Acquaintance, FrontDesk } from './front-desk.ts';
import { callIdOf, type MessageCount, MessageCounter } from './message-trace.ts';
import type { SignallingOptions } from './signalling.ts';
import { DEFAULT_TCP_LIMITS, TcpTransport } from './tcp-transport.ts';
import { UdpTransport } from './udp-transport.ts';

const UNKNOWN_PEERS_PER_SECOND = 500;
/** Times that a port of the system's choice is tried until TCP can have it too. */
const PORT_ATTEMPTS = 20;

/** The listeners, and everything that crosses them: one port for UDP and TCP, counted and traced. */
export class SipSockets {
  readonly #options: SignallingOptions;
  readonly #tell: (input: UserAgentInput) => void;
  readonly #logger: Logger;
  readonly #counter = new MessageCounter();
  readonly #desk: FrontDesk;
  readonly #acquaintance: Acquaintance;
  #udp: UdpTransport | undefined;
  #tcp: TcpTransport | undefined;
  #port = 0;

  constructor(
    options: SignallingOptions,
    acquaintance: Acquaintance,
    tell: (input: UserAgentInput) => void,
  ) {
    this.#options = options;
    this.#tell = tell;
    this.#logger = options.logger;
    this.#acquaintance = acquaintance;
    this.#desk = new FrontDesk({
      clock: options.clock,
      acquaintance,
      unknownPeersPerSecond: options.unknownPeersPerSecond ?? UNKNOWN_PEERS_PER_SECOND,
      serve: (bytes, flow, isUnknown) => this.#serve(bytes, flow, isUnknown),
      close: (connectionId) => this.#tcp?.close(connectionId, 'too many requests'),
    });
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#tcp?.size ?? 0;
  }

  /** Messages that were not looked at, by reason. */
  dropped(): Readonly<Record<string, number>> {
    return this.#desk.drops();
  }

  counts(): readonly MessageCount[] {
    return this.#counter.rows();
  }

  /** Rejects with PORT_IN_USE. Resolves to the port. */
  async start(): Promise<number> {
    const attempts = this.#options.port === 0 ? PORT_ATTEMPTS : 1;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#open();
        return this.#port;
      } catch (error) {
        await this.stop();
        if (attempt >= attempts) throw error;
      }
    }
  }

  async stop(): Promise<void> {
    const [udp, tcp] = [this.#udp, this.#tcp];
    this.#udp = undefined;
    this.#tcp = undefined;
    await Promise.all([udp?.stop(), tcp?.stop()]);
  }

  connect(target: Target): Promise<Flow | undefined> {
    if (target.transport !== 'tcp' || this.#tcp === undefined) return Promise.resolve(undefined);
    return this.#tcp.connect(target.address, target.port);
  }

  send(output: Extract<UserAgentOutput, { kind: 'send' }>): void {
    const { bytes, flow, transaction } = output;
    this.#counter.note('out', bytes);
    // Stateless answers to unknown peers belong to no call: they are not traced.
    if (transaction !== undefined || this.#isKnown(flow)) this.#trace('out', bytes, flow);
    const failed = (): void => {
      if (transaction !== undefined) this.#tell({ kind: 'sendFailed', transaction });
    };
    if (flow.transport === 'udp' && this.#udp !== undefined) {
      this.#udp.send(bytes, flow.remoteAddress, flow.remotePort, failed);
    } else if (flow.transport === 'tcp' && this.#tcp !== undefined) {
      this.#tcp.send(flow.connectionId, bytes, failed);
    } else queueMicrotask(failed);
  }

  async #open(): Promise<void> {
    const { host, transports, clock, tcp = DEFAULT_TCP_LIMITS } = this.#options;
    const failed = (error: Error): void => {
      this.#logger.error({ error }, 'SIP socket failed');
    };
    this.#port = this.#options.port;
    if (transports.includes('udp')) {
      const udp = new UdpTransport(host, this.#port, {
        received: (bytes, address, port) => this.#received(bytes, this.#udpFlow(address, port)),
        failed,
      });
      this.#port = await udp.start();
      this.#udp = udp;
    }
    if (transports.includes('tcp')) {
      const events = {
        received: (bytes: Uint8Array, flow: Flow) => this.#received(bytes, flow),
        lost: (connectionId: number, why: string) => {
          this.#logger.debug({ connectionId, why }, 'SIP connection gone');
          this.#tell({ kind: 'connectionLost', connectionId });
        },
        failed,
        isKnown: (flow: Flow) => this.#isKnown(flow),
      };
      const listener = new TcpTransport(host, clock, events, tcp);
      this.#port = await listener.start(this.#port);
      this.#tcp = listener;
    }
  }

  #received(bytes: Uint8Array, flow: Flow): void {
    this.#counter.note('in', bytes);
    this.#desk.received(bytes, flow);
  }

  #serve(bytes: Uint8Array, flow: Flow, isUnknown: boolean): void {
    if (!isUnknown) this.#trace('in', bytes, flow);
    this.#tell({ kind: 'received', bytes, flow });
  }

  #isKnown(flow: Flow): boolean {
    return this.#acquaintance.knows(flow) || this.#acquaintance.isCarrier(flow.remoteAddress);
  }

  #udpFlow(address: string, port: number): Flow {
    return {
      transport: 'udp',
      localAddress: this.#options.host,
      localPort: this.#port,
      remoteAddress: address,
      remotePort: port,
      connectionId: undefined,
    };
  }

  #trace(direction: 'in' | 'out', bytes: Uint8Array, flow: Flow): void {
    const { onMessage, clock } = this.#options;
    if (onMessage === undefined) return;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    onMessage({
      direction,
      flow,
      text,
      callId: callIdOf(text),
      atMs: clock.wallMs(),
    });
  }
}
