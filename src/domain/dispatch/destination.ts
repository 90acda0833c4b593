/** Where a call may go and as whom: toll-fraud rules, caller ids, prices and routes. One set of rules for all outbound legs. */
import type { EndpointId } from '../../base/ids.ts';
import { ofTel, plainNumber } from '../../base/phone-number.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import type { CallPrice } from '../call/call.ts';
import type { MediaWish, OutboundTarget, Signalling } from '../call/needs.ts';
import type { HangupCauseKey, HangupSource } from '../call/types.ts';
import type { PolicyParties } from '../provisioning/provisioning.ts';
import { readDialledNumber } from './dialled-number.ts';
import { mediaPolicyOfLeg } from './media-policy-of-leg.ts';
import type { DispatchNeeds } from './needs.ts';

/** Why a destination is not dialled, as it will stand in the call's record. */
export interface DialRefusal {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource;
  readonly detail: string;
}

/** A destination that may be dialled. */
export interface Destined {
  /** As records and callbacks show it: E.164 digits, a special number as dialled, or a SIP address. */
  readonly to: string;
  readonly price: CallPrice;
  /** Of a destination that is an endpoint of ours. */
  readonly endpointId: EndpointId | undefined;
  /** In the order to be tried; at least one. */
  readonly targets: readonly OutboundTarget[];
}

/** Who calls: the main account, and the account that asks (itself or one of its sub-accounts). */
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

  /** Digits of a telephone number: completed, checked against the bars, priced and routed. */
  number(calling: Calling, dialled: string): Result<Destined, DialRefusal> {
    const read = readDialledNumber(dialled, calling.account.country);
    switch (read.kind) {
      case 'invalid':
        return refused('invalidDestination', 'Error', `${dialled} is no telephone number`);
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
   * A SIP address: an endpoint of ours (reached by documents alone, spec: Answer-XML rule 4), or a place elsewhere. A number
   * at a host of ours or of a carrier is a number, with its bars and its price.
   */
  async sip(
    calling: Calling,
    uri: string,
    options: { readonly endpoints: boolean },
  ): Promise<Result<Destined, DialRefusal>> {
    const address = this.#needs.addresses.read(uri);
    if (address === undefined) {
      return refused('invalidDestination', 'Error', `${uri} is no SIP address`);
    }
    if (address.whose === 'elsewhere') return this.#elsewhere(calling, uri);
    const number = numberIn(address.user);
    if (address.whose === 'ours' && !(await this.#isDialledAt(calling, address.user, number))) {
      if (options.endpoints) return this.#endpoint(calling, address.user, address.secure);
      const detail = 'a registered endpoint is called from a document, with Dial and User';
      return refused('endpointNotRegistered', 'Error', detail);
    }
    if (address.secure) {
      // TLS from us to the carrier is no promise beyond it.
      return refused('routingError', 'Error', `${uri} asks for TLS up to a telephone number`);
    }
    if (number !== undefined) return this.number(calling, number);
    const detail = `${address.host} is a carrier's: numbers alone are called there, by Number`;
    return refused('forbidden', 'Platform', detail);
  }

  /** Names may consist of digits: an endpoint of that name comes before the number. */
  async #isDialledAt({ owner }: Calling, user: string, number: string | undefined) {
    if (number === undefined) return false;
    const endpoint = await this.#needs.provisioning.endpoints.byUsername(user);
    return endpoint?.accountId !== owner.authId;
  }

  /** Resolved by RFC 3263; whether it may be sent to is known by then. */
  #elsewhere({ owner }: Calling, uri: string): Result<Destined, DialRefusal> {
    return ok({
      to: uri,
      price: this.#sipPrice(owner),
      endpointId: undefined,
      targets: [{ kind: 'uri', uri, ...this.#mediaPolicyOfLeg({ account: owner.authId }) }],
    });
  }

  /** A registered endpoint of the account, by the name that registers. */
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
      return refused('forbidden', 'Platform', `${username} takes no voice calls`);
    }
    return ok({
      to: `${secure ? 'sips' : 'sip'}:${username}@${settings.registrarHost}`,
      price: this.#sipPrice(owner),
      endpointId: endpoint.endpointId,
      targets: [{ kind: 'endpoint', username, secure, ...this.#wishOf(username, owner) }],
    });
  }

  /**
   * The caller id as it is presented, or undefined when the account may not present it (decisions: caller id ownership).
   * A name is one of the account's own endpoints: `names` says whether the called party may see one.
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
      return refused('routingError', 'Error', `no carrier takes calls to ${number}`);
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

  #wishOf(username: string, owner: Account): MediaWish {
    const { signalling } = this.#needs;
    const parties = { endpoint: username, account: owner.authId };
    const wish = this.#mediaPolicyOfLeg(parties, { secured: signalling.isSecured(username) });
    const byDtls = signalling.isBrowser(username);
    return { ...wish, srtp: wish.srtp && { ...wish.srtp, byDtls } };
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

/** The same targets, those that take no calls at the moment at the end: a call to them costs time, not the call. */
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

/** Bars of the account that asks and of the account that pays (dialect §3.12, 2030…2050). */
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

/** User part of a SIP address, without password and parameters. */
const userOf = (uri: string): string => /^sips?:([^@:;]+)/i.exec(uri)?.[1] ?? '';

/** The telephone number in the user part of an address, parameters of it left away; undefined: it is a name. */
function numberIn(user: string): string | undefined {
  const text = withoutSeparators(user.split(';')[0] ?? '');
  return /^\+?[\d*#]+$/.test(text) ? text : undefined;
}

/** A telephone number as people write it, down to its digits; anything else as it is. */
const withoutSeparators = (text: string): string =>
  /^\+?[\d\s().-]+$/.test(text) ? text.replaceAll(/[\s().-]/g, '') : text;
