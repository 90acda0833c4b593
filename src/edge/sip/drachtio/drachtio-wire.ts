/**
 * SIP over drachtio-server instead of local sockets. The servers handle sockets, retransmissions, transactions, dialog
 * routes and session timers. The user agent handles authentication, registrations, offers and answers, and calls.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type Flow,
  parseMessage,
  type SipTransportName,
  type Target,
} from '../../../protocol/sip/sip.ts';
import { Traffic } from '../traffic.ts';
import type { SipWire, WireFactory, WireParts } from '../wire.ts';
import { DrachtioConnection } from './connection.ts';
import { Dialogs } from './dialogs.ts';
import { Flows } from './flows.ts';
import type { MessageMeta } from './frames.ts';
import { InboundRequests } from './inbound-requests.ts';
import { Outages } from './outages.ts';
import { OutboundRequests } from './outbound-requests.ts';

export interface DrachtioOptions {
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  readonly secret: string;
  /** Time in milliseconds for which calls continue without their server. */
  readonly graceMs: number;
}

const CONTROL_PORT = 9022;
const START_MS = 2_000;
const PLACE = /^(?:\[([0-9a-f:.]+)\]|([^:\s[\]]+))(?::(\d{1,5}))?$/i;

/** Parses `host`, `host:port` or `[address]:port`; undefined if the list is empty or an entry is invalid. */
export function serversOf(texts: readonly string[]): DrachtioOptions['servers'] | undefined {
  const places = texts.map((text) => {
    const [, address, name, port = CONTROL_PORT] = PLACE.exec(text.trim()) ?? [];
    const host = address ?? name;
    return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
  });
  const known = places.filter((place) => place !== undefined);
  return known.length === 0 || known.length < places.length ? undefined : known;
}

type Send = Parameters<SipWire['send']>[0];

class DrachtioWire implements SipWire {
  readonly traffic: Traffic;
  readonly failedHandshakes = 0;
  readonly lost = 0;
  readonly #parts: WireParts;
  readonly #servers: readonly DrachtioConnection[];
  readonly #flows: Flows;
  readonly #dialogs = new Dialogs();
  readonly #ours: OutboundRequests;
  readonly #theirs: InboundRequests;
  readonly #outages: Outages;
  #started: () => void = () => undefined;

  constructor(parts: WireParts, { servers, secret, graceMs }: DrachtioOptions) {
    const { options, acquaintance, dispatch } = parts;
    const { clock, logger } = options;
    this.#parts = parts;
    this.traffic = new Traffic({ options, acquaintance, dispatch, close: () => undefined });
    this.#servers = servers.map((place) => {
      const server: DrachtioConnection = new DrachtioConnection({
        ...place,
        secret,
        clock,
        logger,
        events: {
          up: () => this.#up(server),
          down: () => this.#down(server),
          sip: (meta, bytes) => this.#received(server, meta, bytes),
        },
      });
      return server;
    });
    this.#flows = new Flows(this.#servers);
    const deliver = (bytes: Uint8Array, flow: Flow): void => this.traffic.received(bytes, flow);
    const failed = (why: string, method: string): void =>
      logger.debug({ method, why }, 'drachtio-server did not send the message');
    this.#ours = new OutboundRequests({
      flows: this.#flows,
      dialogs: this.#dialogs,
      deliver,
      dispatch,
      failed,
    });
    this.#theirs = new InboundRequests({ dialogs: this.#dialogs, deliver, failed });
    this.#outages = new Outages({
      clock,
      graceMs,
      dialogs: this.#dialogs,
      cutOff: (callIds, why) => this.#cutOff(callIds, why),
    });
  }

  get state(): SipWire['state'] {
    const up = this.#servers.filter(({ isUp }) => isUp);
    const away = this.#servers.filter(({ isUp }) => !isUp);
    const reported = away.map(({ name, problem }) => `${name}: ${problem}`);
    const detail = [
      `${up.length} of ${this.#servers.length} drachtio servers connected`,
      ...reported,
    ];
    return { isUp: up.length > 0, detail: detail.join('; ') };
  }

  get port(): number {
    return this.#parts.options.port;
  }

  get ports(): SipWire['ports'] {
    const { port } = this;
    return { udp: port, tcp: port };
  }

  /** Waits briefly for the first server. Others may connect later; the readiness check reports them. */
  start(): Promise<void> {
    const { clock } = this.#parts.options;
    return new Promise((resolve) => {
      const cancel = clock.at(clock.monotonicMs() + START_MS, resolve);
      this.#started = () => {
        cancel();
        resolve();
      };
      for (const server of this.#servers) server.start();
    });
  }

  async stop(): Promise<void> {
    this.#outages.stop();
    for (const server of this.#servers) server.stop();
  }

  drain(): void {
    for (const server of this.#servers) server.leaveCalls();
  }

  /** Empty, because the servers do not report their connections. */
  connections(): Readonly<Partial<Record<SipTransportName, number>>> {
    return {};
  }

  async connect(target: Target): Promise<Flow | undefined> {
    return this.#flows.to(target);
  }

  keepAlive(): void {}

  /** Refuses the upgrade, because browsers connect to the WebSocket ports of the servers. */
  upgrade(_request: IncomingMessage, socket: Duplex): void {
    socket.end(
      'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    );
  }

  send(output: Send): void {
    this.traffic.sent(output);
    if (output.message.kind === 'request') this.#ours.send(output);
    else this.#theirs.send(output);
  }

  #received(server: DrachtioConnection, meta: MessageMeta, bytes: Buffer): void {
    const parsed = parseMessage(bytes);
    if (!parsed.ok) {
      this.#parts.options.logger.debug({ why: parsed.error.reason }, 'drachtio message discarded');
      return;
    }
    const { message } = parsed;
    if (message.kind === 'response') this.#ours.received(server, meta, message);
    else if (meta.source === 'application') {
      // The server sent a BYE: the ACK to our 200 is missing, or a session refresh timed out.
      this.#cutOff([message.callId], 'drachtio-server has ended the dialog');
    } else {
      const flow = this.#flows.received(server, meta, message.topVia?.transport);
      this.#theirs.received(server, meta, message, flow);
    }
  }

  #up(server: DrachtioConnection): void {
    this.#started();
    this.#outages.over(server);
  }

  #down(server: DrachtioConnection): void {
    this.#ours.lost(server);
    const unanswered = this.#theirs.lost(server);
    if (unanswered.length > 0) this.#cutOff(unanswered, 'drachtio-server is unavailable');
    this.#outages.began(server);
  }

  #cutOff(callIds: readonly string[], why: string): void {
    this.#parts.options.logger.info({ calls: callIds.length, why }, 'calls are cut off');
    this.#parts.cutOff(callIds, why);
  }
}

/** Creates the SIP transport for `sip.backend=drachtio`. */
export const drachtioWire =
  (options: DrachtioOptions): WireFactory =>
  (parts) =>
    new DrachtioWire(parts, options);
