/** Signalling without bytes: calls between phones and service, and registrations. */
import type { Clock } from '../../src/base/clock.ts';
import type {
  Headers,
  InboundLeg,
  InviteOptions,
  Leg,
  OutboundLegEvents,
  OutboundTarget,
  Party,
  Signalling,
} from '../../src/domain/call/needs.ts';
import { addressesOf } from '../addresses.ts';
import { ANSWERS, type Called, NO_STATUS, SimLeg } from './leg.ts';
import type { SimPhone } from './phone.ts';
import type { SimRandom } from './random.ts';

export interface Dialling {
  readonly dialled?: string;
  /** User name of the caller; undefined for a call from `carrier`. */
  readonly username?: string | undefined;
  readonly carrier?: string;
  /** False for an INVITE without SDP. */
  readonly offers?: boolean;
}

export class SimSignalling implements Signalling {
  readonly legs: SimLeg[] = [];
  readonly addresses = addressesOf('registrar.test');
  readonly #clock: Clock;
  readonly #random: SimRandom;
  readonly #phones = new Map<string, { readonly phone: SimPhone; called: Called }>();
  readonly #notify: (line: string) => void;
  #handler: (leg: InboundLeg) => void = () => undefined;

  readonly #name: string;

  /** `name` is the prefix of its leg names when there are several services. */
  constructor(clock: Clock, random: SimRandom, notify: (line: string) => void, name = '') {
    this.#name = name;
    this.#clock = clock;
    this.#random = random;
    this.#notify = notify;
  }

  /** Legs that have not ended on the service's side. */
  get live(): readonly SimLeg[] {
    return this.legs.filter(({ serviceOver }) => !serviceOver);
  }

  /** Connects a phone as a registered endpoint by user name, or behind a number of a carrier. */
  plugIn(name: string, phone: SimPhone, called: Called = ANSWERS): void {
    this.#phones.set(name, { phone, called });
  }

  unplug(name: string): void {
    this.#phones.delete(name);
  }

  /** Calls the service from a phone. */
  call(phone: SimPhone, { dialled = '1000', username, carrier, offers = true }: Dialling): SimLeg {
    const leg = this.#leg(phone);
    const host = '192.0.2.1';
    const party = (user: string): Party => ({
      uri: `sip:${user}@${host}`,
      user,
      host,
      displayName: '',
    });
    const headers: Headers = [];
    const facts = {
      from: party(username ?? phone.name),
      to: party(dialled),
      dialled,
      requestUri: `sip:${dialled}@${host}`,
      source: { transport: 'udp', address: phone.place.address, port: 5060 } as const,
      endpointUsername: username,
      carrier,
      userAgent: 'sim',
      headers,
      sdp: offers ? phone.sdp() : undefined,
    };
    leg.toService(() => this.#handler(leg.asInbound(facts)));
    return leg;
  }

  invite(target: OutboundTarget, options: InviteOptions, events: OutboundLegEvents): Leg {
    const found = this.#phones.get(nameOf(target));
    const leg = this.#leg(found?.phone);
    leg.attach(events);
    if (found === undefined) {
      leg.toService(() => leg.end({ by: 'remote', how: 'unreachable', ...NO_STATUS }));
    } else {
      leg.toPhone(() => leg.behave(found.called, options.sdp, events));
    }
    return leg;
  }

  onInbound(handler: (leg: InboundLeg) => void): void {
    this.#handler = handler;
  }

  isDown(): boolean {
    return false;
  }

  isRegistered(username: string): boolean {
    return this.#phones.has(username);
  }

  isSecured(): boolean {
    return false;
  }

  isBrowser(): boolean {
    return false;
  }

  forgetBindings(username: string): void {
    this.#phones.delete(username);
  }

  #leg(phone: SimPhone | undefined): SimLeg {
    const id = `${this.#name}leg-${this.legs.length + 1}`;
    const delayMs = this.#random.between(1, 15);
    const leg = new SimLeg(id, phone, { clock: this.#clock, delayMs, notify: this.#notify });
    this.legs.push(leg);
    return leg;
  }
}

const nameOf = (target: OutboundTarget): string => {
  if (target.kind === 'endpoint') return target.username;
  return target.kind === 'carrier' ? target.number : target.uri;
};
