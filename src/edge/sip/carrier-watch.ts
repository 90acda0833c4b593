import type { Clock } from '../../base/clock.ts';
import { bracketed } from '../../base/host.ts';
import type { OutboundLegEvents, OutboundTarget } from '../../domain/call/needs.ts';
import type { Carrier } from '../../domain/provisioning/types.ts';
import type { SipTransportName, UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';
import { carrierKey, healthKey, PeerHealth } from './peer-health.ts';

export interface CarrierState {
  readonly name: string;
  /**
   * True if the carrier responded to OPTIONS with any status except 408 and 503. Undefined before the first probe or
   * without probing.
   */
  readonly reachable: boolean | undefined;
  readonly lastStatus: number | undefined;
  /** True if our registration is active; undefined if we do not register. */
  readonly registered: boolean | undefined;
  /** Time of the last change in milliseconds since the epoch; undefined before the first response. */
  readonly changedMs: number | undefined;
}

/** Time limit for the response to OPTIONS, in milliseconds. */
const PROBE_WAIT_MS = 4_000;
const REGISTER_EXPIRES_S = 3_600;
/**
 * Interval for checking the list of carriers, in milliseconds. A new carrier registers within 0.5 s, a changed one
 * within 1 s.
 */
const FOLLOW_MS = 500;

interface Watched {
  readonly id: number;
  carrier: Carrier;
  state: CarrierState;
  registering: boolean;
  /** True if the carrier answered an INVITE but no OPTIONS. OPTIONS results are then ignored. */
  ignoresOptions: boolean;
}

/** URI `sip:host[:port][;transport=tcp]` of a carrier. Without a port, SRV selects it. */
export function carrierUri(carrier: Carrier, user = ''): string {
  const port = carrier.port === undefined ? '' : `:${carrier.port}`;
  const transport = carrier.transport === 'udp' ? '' : `;transport=${carrier.transport}`;
  return `sip:${user === '' ? '' : `${user}@`}${bracketed(carrier.host)}${port}${transport}`;
}

/** Probes every carrier with OPTIONS and registers where configured. Follows changes of the carrier list. */
export class CarrierWatch {
  readonly #carriers: () => readonly Carrier[];
  readonly #clock: Clock;
  readonly #dispatch: (input: UserAgentInput) => void;
  readonly #everyMs: number;
  readonly #watched = new Map<string, Watched>();
  readonly #health: PeerHealth;
  #lastId = 0;
  #cancelFollow: () => void = () => undefined;
  #cancelProbe: () => void = () => undefined;

  constructor(
    carriers: () => readonly Carrier[],
    clock: Clock,
    dispatch: (input: UserAgentInput) => void,
    everyMs = 30_000,
  ) {
    this.#carriers = carriers;
    this.#clock = clock;
    this.#dispatch = dispatch;
    this.#everyMs = everyMs;
    this.#health = new PeerHealth(() => clock.monotonicMs());
  }

  /** Wraps the events of a call, whose result updates the health of the peer. */
  watching(target: OutboundTarget, events: OutboundLegEvents): OutboundLegEvents {
    const key = healthKey(target);
    if (key === undefined) return events;
    const watched = this.#health.watching(key, events);
    const carrier = target.kind === 'carrier' ? this.#watched.get(target.carrier) : undefined;
    if (carrier?.state.reachable !== false) return watched;
    return {
      ...watched,
      heardFrom: (peer) => {
        carrier.ignoresOptions = true;
        watched.heardFrom(peer);
      },
    };
  }

  /** See Signalling.isDown. */
  isDown(target: OutboundTarget): boolean {
    const key = healthKey(target);
    if (key !== undefined && this.#health.isDown(key)) return true;
    const carrier = target.kind === 'carrier' ? this.#watched.get(target.carrier) : undefined;
    return carrier?.state.reachable === false && !carrier.ignoresOptions;
  }

  start(): void {
    this.#followList();
    this.#probeLater();
  }

  stop(): void {
    this.#cancelFollow();
    this.#cancelProbe();
    for (const watched of this.#watched.values()) this.#leave(watched);
  }

  states(): readonly CarrierState[] {
    return [...this.#watched.values()].map(({ state }) => state);
  }

  probed(output: Extract<UserAgentOutput, { kind: 'probed' }>): void {
    const { status } = output;
    const reachable = status !== undefined && status !== 408 && status !== 503;
    const watched = this.#note(output.id, { reachable, lastStatus: status });
    if (watched === undefined) return;
    if (reachable) {
      this.#health.probed(carrierKey(watched.carrier.name));
      watched.ignoresOptions = false;
    }
  }

  registration(output: Extract<UserAgentOutput, { kind: 'registration' }>): void {
    this.#note(output.registration, { registered: output.state === 'registered' });
  }

  #note(id: number, news: Partial<CarrierState>): Watched | undefined {
    const watched = [...this.#watched.values()].find((candidate) => candidate.id === id);
    if (watched === undefined) return undefined;
    const { state } = watched;
    const changed =
      (news.reachable ?? state.reachable) !== state.reachable ||
      (news.registered ?? state.registered) !== state.registered;
    const changedMs = changed ? this.#clock.wallMs() : state.changedMs;
    watched.state = { ...state, ...news, changedMs };
    return watched;
  }

  /** Adopts added and changed carriers and releases changed, disabled or removed ones. */
  #followList(): void {
    const wanted = new Map<string, Carrier>();
    for (const carrier of this.#carriers()) if (carrier.enabled) wanted.set(carrier.name, carrier);
    for (const [name, watched] of this.#watched) {
      const carrier = wanted.get(name);
      if (carrier !== undefined && sameAccess(carrier, watched.carrier)) {
        watched.carrier = carrier;
        continue;
      }
      // Adopt it in the next round, because the registrar must first receive the end of the old registration.
      if (watched.registering) wanted.delete(name);
      this.#leave(watched);
      this.#watched.delete(name);
    }
    for (const carrier of wanted.values()) {
      if (!this.#watched.has(carrier.name)) this.#watch(carrier);
    }
    const dueMs = this.#clock.monotonicMs() + FOLLOW_MS;
    this.#cancelFollow = this.#clock.at(dueMs, () => this.#followList());
  }

  #probeLater(): void {
    const dueMs = this.#clock.monotonicMs() + this.#everyMs;
    this.#cancelProbe = this.#clock.at(dueMs, () => {
      for (const watched of this.#watched.values()) this.#probe(watched);
      this.#probeLater();
    });
  }

  #watch(carrier: Carrier): void {
    this.#lastId += 1;
    const registering = carrier.auth?.register === true;
    const state = {
      name: carrier.name,
      reachable: undefined,
      lastStatus: undefined,
      registered: registering ? false : undefined,
      changedMs: undefined,
    };
    const watched = {
      id: this.#lastId,
      carrier,
      state,
      registering,
      ignoresOptions: false,
    };
    this.#watched.set(carrier.name, watched);
    this.#register(watched);
    this.#probe(watched);
  }

  #register({ id, carrier }: Watched): void {
    const { auth } = carrier;
    if (auth?.register !== true) return;
    this.#dispatch({
      kind: 'register',
      registration: id,
      aor: `sip:${auth.username}@${bracketed(carrier.host)}`,
      registrar: carrierUri(carrier),
      transport: carrierTransport(carrier),
      account: auth,
      expires: REGISTER_EXPIRES_S,
    });
  }

  #leave(watched: Watched): void {
    if (watched.registering) this.#dispatch({ kind: 'unregister', registration: watched.id });
    watched.registering = false;
  }

  #probe({ id, carrier }: Watched): void {
    if (carrier.policy.probe === false) return;
    const transport = carrierTransport(carrier);
    const uri = carrierUri(carrier);
    this.#dispatch({ kind: 'probe', id, uri, transport, waitMs: PROBE_WAIT_MS });
  }
}

export const carrierTransport = (carrier: Carrier): SipTransportName => carrier.transport;

function sameAccess(a: Carrier, b: Carrier): boolean {
  if (a === b) return true;
  const key = ({ host, port, transport, auth }: Carrier): string =>
    JSON.stringify([host, port, transport, auth]);
  return key(a) === key(b);
}
