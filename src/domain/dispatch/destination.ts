/** Destination rules for all outbound legs: toll-fraud protection, caller IDs, prices and routes. */
import type { EndpointId } from '../../base/ids.ts';
import { ofTel, plainNumber } from '../../base/phone-number.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import type { CallPrice } from '../call/call.ts';
import type { LegPolicy, OutboundTarget, Signalling } from '../call/needs.ts';
import type { HangupCauseKey, HangupSource } from '../call/types.ts';
import type { PolicyParties } from '../provisioning/provisioning.ts';
import { readDialledNumber } from './dialled-number.ts';
import { mediaPolicyOfLeg } from './media-policy-of-leg.ts';
import type { DispatchNeeds } from './needs.ts';

/** Reason for refusing a destination, as recorded in the CDR. */
export interface DialRefusal {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource;
  readonly detail: string;
}

/** Destination that may be dialled. */
export interface Destined {
  /** Destination for records and callbacks: E.164 digits, a special number as dialled, or a SIP address. */
  readonly to: string;
  readonly price: CallPrice;
  /** Endpoint ID, if the destination is an endpoint of this service. */
  readonly endpointId: EndpointId | undefined;
  /** Targets in order of preference; at least one. */
  readonly targets: readonly OutboundTarget[];
}

/** Calling party: the paying main account, and the requesting account (the main account or a sub-account). */
export interface Calling {
  readonly owner: Account;
  readonly account: Account;
}

type DestinationNeeds = Pick<
  DispatchNeeds,
  'clock' | 'random' | 'provisioning' | 'factory' | 'signalling' | 'addresses' | 'settings'
>;

export class Destinations {
  readonly #needs: DestinationNeeds;

  constructor(needs: DestinationNeeds) {
    this.#needs = needs;
  }

  /** Resolves a telephone number: completes it, checks bars, and determines price and routes. */
  number(calling: Calling, dialled: string): Result<Destined, DialRefusal> {
    const read = readDialledNumber(dialled, calling.account.country);
    switch (read.kind) {
      case 'invalid':
        return refused('invalidDestination', 'Error', `${dialled} is not a telephone number`);
      case 'special':
        if (!this.#needs.settings.allowSpecial.includes(read.digits)) {
          const detail = `${read.digits} is an emergency, short or premium-rate number (setting dialing.allowSpecial)`;
          return refused('numberBarred', 'Platform', detail);
        }
        return barred(calling, read.digits, undefined) ?? this.#routed(calling, read.digits);
      case 'e164':
        return barred(calling, read.e164, read.country) ?? this.#routed(calling, read.e164);
    }
  }

  /**
   * Resolves a SIP address: an endpoint of this service (reachable from documents only, spec: Answer-XML rule 4) or an
   * external address. A number at a host of this service or of a carrier is treated as a telephone number, with its
   * bars and price.
   */
  async sip(
    calling: Calling,
    uri: string,
    options: { readonly endpoints: boolean },
  ): Promise<Result<Destined, DialRefusal>> {
    const address = this.#needs.addresses.read(uri);
    if (address === undefined) {
      return refused('invalidDestination', 'Error', `${uri} is not a SIP address`);
    }
    if (address.whose === 'elsewhere') return this.#elsewhere(calling, uri);
    const number = numberIn(address.user);
    if (address.whose === 'ours' && !(await this.#isDialledAt(calling, address.user, number))) {
      if (options.endpoints) return this.#endpoint(calling, address.user, address.secure);
      const detail = 'registered endpoints can be called only from a document, with Dial and User';
      return refused('endpointNotRegistered', 'Error', detail);
    }
    if (address.secure) {
      // TLS to the carrier does not secure the path beyond it.
      return refused(
        'routingError',
        'Error',
        `${uri} requires TLS, which is not possible to a telephone number`,
      );
    }
    if (number !== undefined) return this.number(calling, number);
    const detail = `${address.host} belongs to a carrier: call numbers there with Number`;
    return refused('forbidden', 'Platform', detail);
  }

  /** Returns whether the user part is a number to dial. An endpoint whose username consists of digits takes precedence. */
  async #isDialledAt({ owner }: Calling, user: string, number: string | undefined) {
    if (number === undefined) return false;
    const endpoint = await this.#needs.provisioning.endpoints.byUsername(user);
    return endpoint?.accountId !== owner.authId;
  }

  /** Plans a call to an external SIP address, resolved by RFC 3263. The address is checked after its resolution. */
  #elsewhere({ owner }: Calling, uri: string): Result<Destined, DialRefusal> {
    return ok({
      to: uri,
      price: this.#sipPrice(owner),
      endpointId: undefined,
      targets: [{ kind: 'uri', uri, ...this.#mediaPolicyOfLeg({ account: owner.authId }) }],
    });
  }

  /** Plans a call to a registered endpoint of the account, by its username. */
  async #endpoint(
    { owner }: Calling,
    username: string,
    secure: boolean,
  ): Promise<Result<Destined, DialRefusal>> {
    const { provisioning, signalling, settings } = this.#needs;
    const endpoint = await provisioning.endpoints.byUsername(username);
    if (endpoint?.accountId !== owner.authId || !signalling.isRegistered(username, secure)) {
      const scheme = secure ? 'sips:' : '';
      const detail = `no phone is registered as ${scheme}${username}@${settings.registrarHost}`;
      return refused('endpointNotRegistered', 'Error', detail);
    }
    if (!endpoint.allowVoice) {
      return refused('forbidden', 'Platform', `${username} does not accept voice calls`);
    }
    return ok({
      to: `${secure ? 'sips' : 'sip'}:${username}@${settings.registrarHost}`,
      price: this.#sipPrice(owner),
      endpointId: endpoint.endpointId,
      targets: [{ kind: 'endpoint', username, secure, ...this.#wishOf(username, owner) }],
    });
  }

  /**
   * Returns the caller ID to present, or undefined if the account may not present it (decisions: caller id ownership).
   * The username of one of the account's endpoints is allowed only with `names`.
   */
  async callerId(
    { owner, account }: Calling,
    from: string,
    { names }: { readonly names: boolean },
  ): Promise<string | undefined> {
    const { provisioning, settings } = this.#needs;
    const name = /^sips?:/i.test(from) ? userOf(from) : withoutSeparators(ofTel(from));
    const read = readDialledNumber(name, account.country);
    const number = read.kind === 'e164' ? read.e164 : name.replace(/^\+/, '');
    if (await provisioning.callerIds.owns(owner.authId, number)) return number;
    const endpoint = await provisioning.endpoints.byUsername(name);
    if (endpoint?.accountId === owner.authId) return names ? name : undefined;
    return settings.callerIdPolicy === 'any' ? number : undefined;
  }

  #routed({ owner }: Calling, number: string): Result<Destined, DialRefusal> {
    const { factory } = this.#needs;
    const price = factory.price(owner, 'outbound', number);
    if (price === undefined) {
      const detail = `calls to ${number} have no price in ${owner.currency}`;
      return refused('routingError', 'Error', detail);
    }
    const targets = inOrder(this.#needs.signalling, this.#carriersFor(number, owner));
    if (targets.length === 0) {
      return refused('routingError', 'Error', `no carrier accepts calls to ${number}`);
    }
    return ok({ to: number, price, endpointId: undefined, targets });
  }

  #mediaPolicyOfLeg(
    parties: PolicyParties,
    more: { secured?: boolean; mustBeSecure?: boolean } = {},
  ) {
    const { provisioning, settings } = this.#needs;
    return mediaPolicyOfLeg(provisioning, {
      parties,
      srtp: settings.srtp,
      secured: false,
      ...more,
    });
  }

  #wishOf(username: string, owner: Account): LegPolicy {
    const { signalling } = this.#needs;
    const parties = { endpoint: username, account: owner.authId };
    const preference = this.#mediaPolicyOfLeg(parties, { secured: signalling.isSecured(username) });
    const byDtls = signalling.isBrowser(username);
    return { ...preference, srtp: preference.srtp && { ...preference.srtp, byDtls } };
  }

  #carriersFor(number: string, owner: Account): OutboundTarget[] {
    const { provisioning, clock, random } = this.#needs;
    return provisioning.carriers
      .routesFor(number, { wallMs: clock.wallMs(), random })
      .map(({ name, secure, policy, policy: { failoverOn, maxRedirects } }) => ({
        kind: 'carrier',
        carrier: name,
        number,
        policy: Object.keys(policy).length === 0 ? undefined : policy,
        ...this.#mediaPolicyOfLeg(
          { carrier: name, account: owner.authId },
          { mustBeSecure: secure },
        ),
        ...(failoverOn === undefined ? {} : { failoverOn }),
        ...(maxRedirects === undefined ? {} : { maxRedirects }),
      }));
  }

  #sipPrice(owner: Account): CallPrice {
    const { factory } = this.#needs;
    return factory.price(owner, 'sip', '') ?? factory.free(owner.currency);
  }
}

/** Moves targets that are currently down to the end. Trying them last costs time but does not fail the call. */
export function inOrder(
  signalling: Pick<Signalling, 'isDown'>,
  targets: readonly OutboundTarget[],
): readonly OutboundTarget[] {
  const isDown = targets.map((target) => signalling.isDown(target));
  if (!isDown.includes(true)) return targets;
  const which = (down: boolean): OutboundTarget[] =>
    targets.filter((_, index) => isDown[index] === down);
  return [...which(false), ...which(true)];
}

/** Checks the bars of the requesting and the paying account (dialect §3.12, 2030 to 2050). */
function barred(
  { owner, account }: Calling,
  number: string,
  country: string | undefined,
): Result<never, DialRefusal> | undefined {
  const bars = [...owner.barredPrefixes, ...account.barredPrefixes].map(plainNumber);
  if (bars.includes(number)) return refused('numberBarred', 'Platform', `${number} is barred`);
  const prefix = bars.find((bar) => bar !== '' && number.startsWith(bar));
  if (prefix !== undefined) {
    return refused('prefixBarred', 'Platform', `destinations with ${prefix} are barred`);
  }
  const countries = [...owner.barredCountries, ...account.barredCountries];
  if (country === undefined || !countries.includes(country)) return undefined;
  return refused('countryBarred', 'Platform', `destinations in ${country} are barred`);
}

const refused = (
  cause: HangupCauseKey,
  source: HangupSource,
  detail: string,
): Result<never, DialRefusal> => err({ cause, source, detail });

/** Returns the user part of a SIP address, without password and parameters. */
const userOf = (uri: string): string => /^sips?:([^@:;]+)/i.exec(uri)?.[1] ?? '';

/** Returns the telephone number in a user part, without parameters; undefined if it is a name. */
function numberIn(user: string): string | undefined {
  const text = withoutSeparators(user.split(';')[0] ?? '');
  return /^\+?[\d*#]+$/.test(text) ? text : undefined;
}

/** Removes separators from a telephone number. Returns other text unchanged. */
const withoutSeparators = (text: string): string =>
  /^\+?[\d\s().-]+$/.test(text) ? text.replaceAll(/[\s().-]/g, '') : text;
