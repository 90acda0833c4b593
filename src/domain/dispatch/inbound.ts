/** Inbound calls: from registered endpoints to their application, and from carriers to a number's application or trunk. */

import { isBug, ServiceError } from '../../base/errors.ts';
import { type AccountId, asAppId, type CallUuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { plainNumber } from '../../base/phone-number.ts';
import type { Result } from '../../base/result.ts';
import { isSecure } from '../../protocol/sip/types.ts';
import type { Accounts } from '../account/account.ts';
import type { Account } from '../account/types.ts';
import type { Call, CallIdentity } from '../call/call.ts';
import {
  BEFORE_CALL,
  type CallerProofs,
  type Headers,
  type InboundLeg,
  type LegPolicy,
  type SipAddresses,
  type SrtpPolicy,
} from '../call/needs.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { FairShare, Slots } from '../capacity/capacity.ts';
import { dialOf, Interpreter, type InterpreterNeeds } from '../interpreter/interpreter.ts';
import type { ApplicationStore, EndpointStore, NumberStore } from '../provisioning/needs.ts';
import type { Provisioning } from '../provisioning/provisioning.ts';
import type { Application, PhoneNumber, ProofPolicy } from '../provisioning/types.ts';
import type { Admission, SlotRefusal } from './admission.ts';
import type { CallBilling } from './call-billing.ts';
import { type Caller, carriersCaller, requestedCaller } from './caller.ts';
import { proofOf } from './caller-proof.ts';
import { slotAtCarrier } from './carrier-gate.ts';
import { calledKind, mediaNotPermitted, notPermitted } from './endpoint-permissions.ts';
import type { EndpointRate } from './endpoint-rate.ts';
import type { CallFactory } from './factory.ts';
import { mediaPolicyOfLeg } from './media-policy-of-leg.ts';
import type { Scripts } from './scripts.ts';

export interface InboundNeeds {
  /**
   * Returns true if another node created the leg for one of its calls and it is handled there. Default: false for all
   * legs.
   */
  readonly takes?: (leg: InboundLeg) => boolean;
  readonly accounts: Accounts;
  readonly applications: ApplicationStore;
  readonly endpoints: EndpointStore;
  readonly numbers: NumberStore;
  readonly admission: Admission;
  readonly factory: CallFactory;
  readonly endpointRate: EndpointRate;
  /** Carrier slots. Inbound calls from a carrier count against its limits. */
  readonly shares: FairShare;
  readonly slots: Slots;
  readonly interpreter: InterpreterNeeds;
  readonly scripts: Scripts;
  /**
   * Connects a call to its trunk's origination URI. Also called for refused calls, so that the trunk's webhook is
   * notified.
   */
  readonly toTrunk: (call: Call, owner: Account, number: PhoneNumber) => Promise<void>;
  readonly registrarHost: string;
  readonly srtp: SrtpPolicy;
  readonly carriers: Pick<Provisioning['carriers'], 'get'>;
  readonly callerIds: Pick<Provisioning['callerIds'], 'owns'>;
  readonly addresses: SipAddresses;
  readonly proofs: CallerProofs;
  /** Default policy, for carriers without a specific one. */
  readonly proofPolicy: ProofPolicy;
  readonly callBilling: Pick<CallBilling, 'live' | 'changed'>;
  readonly mediaPolicies: Provisioning['mediaPolicies'];
  readonly logger: Logger;
}

export class Inbound {
  readonly #needs: InboundNeeds;

  constructor(needs: InboundNeeds) {
    this.#needs = needs;
  }

  /** Handles a new INVITE. Must be called in the event-loop turn in which it arrives. */
  accept(leg: InboundLeg): void {
    if (this.#needs.takes?.(leg) === true) return;
    leg.attach(BEFORE_CALL);
    const route =
      leg.endpointUsername === undefined
        ? this.#fromCarrier(leg)
        : this.#fromEndpoint(leg, leg.endpointUsername);
    route.catch((error: unknown) => this.#failed(leg, error));
  }

  #failed(leg: InboundLeg, error: unknown): void {
    const { callBilling, logger } = this.#needs;
    logger.error({ error, sipCallId: leg.sipCallId }, 'inbound call failed');
    // A component of the node is unavailable: the caller may retry at another node or later.
    const detail = error instanceof ServiceError && !isBug(error) ? error.message : undefined;
    const cause = detail === undefined ? 'internalError' : 'unavailable';
    const call = callBilling.live().find(({ legId }) => legId === leg.id);
    if (call === undefined) leg.hangup(cause, detail);
    else call.hangup(cause, 'Error', detail);
  }

  async #fromEndpoint(leg: InboundLeg, username: string): Promise<void> {
    const { endpoints, accounts, applications, callerIds, factory, registrarHost } = this.#needs;
    const endpoint = await endpoints.byUsername(username);
    const account = endpoint && (await accounts.get(endpoint.accountId));
    if (endpoint === undefined || account === undefined) {
      leg.hangup('forbidden');
      return;
    }
    const owner = await accounts.ownerOf(account);
    const named = await this.#namedApplication(leg, owner);
    const appId = endpoint.appId ?? account.defaultEndpointApp ?? owner.defaultEndpointApp;
    const application = named ?? (appId === undefined ? undefined : await applications.get(appId));
    const preference = await requestedCaller(leg, account.country, (e164) =>
      callerIds.owns(owner.authId, e164),
    );
    const identity = this.#identity(
      leg,
      { owner, subAccount: endpoint.subAccount },
      {
        from: `sip:${endpoint.username}@${registrarHost}`,
        preference,
        callerName: (preference?.hidden === true ? '' : leg.from.displayName) || endpoint.alias,
      },
    );
    const call = factory.create(
      {
        ...identity,
        context: 'sip-endpoint',
        endpointId: endpoint.endpointId,
        phoneLogin: leg.login,
        facts: {
          ...identity.facts,
          to: dialledParty(leg, registrarHost),
          routeType: 'sip',
          sipHeaders: [...passedHeaders(leg.headers), ['SIP-H-To', `<${leg.to.uri}>`]],
        },
      },
      factory.price(owner, 'sip', leg.dialled) ?? factory.free(owner.currency),
      hangupTargetOf(application),
    );
    call.takeInbound(leg, this.#mediaPolicyOfLeg(leg, owner));
    const called =
      named === undefined ? calledKind(leg, account.country, this.#needs.addresses) : 'apps';
    const barred = mediaNotPermitted(endpoint, leg.sdp) ?? notPermitted(endpoint, called);
    if (!(await this.#admit(call, owner, { barred }))) return;
    if (!this.#needs.endpointRate.take(endpoint.endpointId)) {
      call.hangup(
        'concurrencyBreached',
        'Platform',
        'the endpoint exceeds its limit of calls per minute',
      );
      return;
    }
    if (leg.replaces === undefined) await this.#run(call, application);
    else await this.#takePlace(call, leg.replaces);
  }

  /** Replaces a ringing or connected party of a Dial of the same account (RFC 3891). */
  async #takePlace(call: Call, legId: string): Promise<void> {
    const { callBilling } = this.#needs;
    const live = callBilling.live().filter(({ identity }) => isSameOwner(identity, call.identity));
    const of = live.find((other) => other.legId === legId && other !== call);
    const dial = live.map(dialOf).find((running) => of !== undefined && running?.has(of));
    if (of === undefined || dial === undefined) {
      call.hangup('rejected', 'Platform', 'the call to replace is not a party of a Dial');
      return;
    }
    call.log.add('call', 'replaces another call', { callUuid: of.uuid });
    const answered = await call.answer(() => callBilling.changed(call));
    if (answered && !dial.takePlace(of, call)) {
      call.hangup('normal', 'Platform', 'the call to replace has ended');
    }
  }

  async #fromCarrier(leg: InboundLeg): Promise<void> {
    const { numbers, accounts, applications, carriers, factory, toTrunk } = this.#needs;
    if (leg.replaces !== undefined) {
      leg.hangup('forbidden');
      return;
    }
    const e164 = plainNumber(leg.dialled);
    const number = await numbers.get(e164);
    const account =
      number?.accountId === undefined ? undefined : await accounts.get(number.accountId);
    if (number === undefined || account === undefined || !TAKES_CALLS.has(number.status)) {
      leg.hangup('unallocated');
      return;
    }
    const owner = await accounts.ownerOf(account);
    const appId = number.trunkGroupId === undefined ? number.applicationId : undefined;
    const application = appId === undefined ? undefined : await applications.get(appId);
    const policy = leg.carrier === undefined ? undefined : carriers.get(leg.carrier)?.policy;
    const proved = await proofOf(leg, policy?.stir ?? this.#needs.proofPolicy, this.#needs.proofs);
    if (!proved.ok) {
      const { status, why, phrase } = proved.error;
      this.#needs.logger.info(
        { status, why, carrier: leg.carrier, to: e164 },
        'caller identity not verified',
      );
      leg.refuse(status, why, phrase);
      return;
    }
    const arrived = this.#identity(
      leg,
      { owner, subAccount: number.subAccount },
      carriersCaller(leg, policy),
    );
    const identity: CallIdentity = {
      ...arrived,
      context: number.trunkGroupId === undefined ? 'did' : 'trunk',
      trunkId: number.trunkGroupId,
      facts: { ...arrived.facts, ...proved.value, to: e164, routeType: 'pstn' },
    };
    const isSuspended = number.status === 'suspended';
    const price =
      (isSuspended ? undefined : factory.price(owner, 'inbound', e164)) ??
      factory.free(owner.currency);
    const call = factory.create(identity, price, hangupTargetOf(application));
    call.takeInbound(leg, this.#mediaPolicyOfLeg(leg, owner));
    const slot = await this.#slotAtCarrier(call, leg, owner);
    if (isSuspended) {
      if (await this.#admit(call, owner, { slot }))
        call.hangup('numberSuspended', 'Platform', 'the renewal of the number could not be paid');
      return;
    }
    if (number.trunkGroupId !== undefined) {
      await this.#admit(call, owner, { slot });
      if (call.isUnrecorded) return;
      await toTrunk(call, owner, number);
      return;
    }
    if (!(await this.#admit(call, owner, { slot }))) return;
    await this.#run(call, application);
  }

  /** Reserves a carrier slot, released when the call ends. Returns the refusal, or undefined on success. */
  async #slotAtCarrier(
    call: Call,
    { carrier: name }: InboundLeg,
    owner: Account,
  ): Promise<Result<never, SlotRefusal> | undefined> {
    const carrier = name === undefined ? undefined : this.#needs.carriers.get(name);
    const slot = carrier && (await slotAtCarrier(carrier, owner, this.#needs));
    if (slot?.ok === false) return slot;
    if (slot !== undefined) void call.ended.then(() => slot.value.release());
    return undefined;
  }

  async #run(call: Call, application: Application | undefined): Promise<void> {
    const { interpreter, scripts } = this.#needs;
    if (application === undefined || !application.enabled || application.answerUrl === '') {
      call.hangup('routingError', 'Error', 'no application handles this call');
      return;
    }
    const script = new Interpreter(
      call,
      {
        answer: { url: application.answerUrl, method: application.answerMethod },
        fallback:
          application.fallbackAnswerUrl === ''
            ? undefined
            : { url: application.fallbackAnswerUrl, method: application.fallbackMethod },
      },
      interpreter,
    );
    scripts.add(call, script);
    await script.run();
  }

  #mediaPolicyOfLeg({ carrier, endpointUsername, source }: InboundLeg, owner: Account): LegPolicy {
    const { carriers, mediaPolicies, srtp } = this.#needs;
    return mediaPolicyOfLeg(
      { mediaPolicies },
      {
        parties: { endpoint: endpointUsername, carrier, account: owner.authId },
        srtp,
        secured: isSecure(source.transport),
        mustBeSecure: carrier !== undefined && carriers.get(carrier)?.secure === true,
      },
    );
  }

  /** Checks permission, slot, funds and offer. If one is missing, ends the call and returns false. */
  async #admit(
    call: Call,
    owner: Account,
    {
      slot,
      barred,
    }: {
      /** Refusal by the carrier's limits. */
      readonly slot?: Result<never, SlotRefusal> | undefined;
      /** Permission that the endpoint lacks. */
      readonly barred?: string | undefined;
    },
  ): Promise<boolean> {
    const problem = call.offerProblem;
    const admitted = await this.#needs.admission.admit(call, owner, slot);
    if (call.isEnded) return false;
    if (!admitted.ok) {
      if (admitted.error.unserviceable) call.endUnrecorded();
      call.hangup(admitted.error.cause, 'Platform', admitted.error.detail);
      return false;
    }
    if (barred !== undefined) {
      call.hangup('forbidden', 'Platform', barred);
      return false;
    }
    if (problem !== undefined) {
      call.hangup('mediaAnchoring', 'Error', `${problem.kind}: ${problem.detail}`);
      return false;
    }
    return true;
  }

  /** Returns the application of the account that was called by its `sip_uri`. */
  async #namedApplication(
    { dialled }: InboundLeg,
    { authId }: Account,
  ): Promise<Application | undefined> {
    if (!/^\d{1,15}$/.test(dialled)) return undefined;
    const application = await this.#needs.applications.get(asAppId(Number(dialled)));
    return application?.accountId === authId ? application : undefined;
  }

  #identity(
    leg: InboundLeg,
    { owner, subAccount }: { readonly owner: Account; readonly subAccount: AccountId | undefined },
    caller: Caller,
  ) {
    const callUuid = this.#needs.factory.newCallUuid();
    return {
      callUuid,
      accountId: owner.authId,
      subAccount,
      country: owner.country,
      parentCallUuid: undefined,
      endpointId: undefined,
      trunkId: undefined,
      terminatedTo: leg.carrier === undefined ? undefined : 'inbound_carrier',
      ...(caller.preference === undefined ? {} : { caller: caller.preference }),
      facts: this.#facts(leg, { owner, callUuid }, caller),
    };
  }

  #facts(
    leg: InboundLeg,
    { owner, callUuid }: { readonly owner: Account; readonly callUuid: CallUuid },
    { from, callerName }: Caller,
  ): CallIdentity['facts'] {
    const diversion = headerOf(leg.headers, 'Diversion');
    return {
      callUuid,
      requestUuid: undefined,
      direction: 'inbound',
      from,
      to: plainNumber(leg.dialled),
      callerName,
      parentAuthId: owner.authId,
      routeType: 'pstn',
      sessionStartUs: this.#needs.factory.nowUs(),
      stirVerification:
        headerOf(leg.headers, 'Identity') === undefined ? 'Not Applicable' : 'Not Verified',
      stirAttestation: '',
      forwardedFrom:
        diversion === undefined
          ? ''
          : plainNumber(/(?:sips?|tel):([^@;>]+)/i.exec(diversion)?.[1] ?? ''),
      sipHeaders: passedHeaders(leg.headers),
      machine: undefined,
    };
  }
}

/** Calls to suspended numbers are recorded and refused. */
const TAKES_CALLS: ReadonlySet<string> = new Set(['active', 'suspended']);

/** Calls of sub-accounts are separate. */
const isSameOwner = (one: CallIdentity, other: CallIdentity): boolean =>
  one.accountId === other.accountId && one.subAccount === other.subAccount;

const hangupTargetOf = (application: Application | undefined): CallbackTarget | undefined =>
  application === undefined || application.hangupUrl === ''
    ? undefined
    : { url: application.hangupUrl, method: application.hangupMethod };

/** Formats the dialled party: a number in its canonical form, or a name as an address at our host. */
function dialledParty({ dialled }: InboundLeg, registrarHost: string): string {
  const number = plainNumber(dialled);
  return /^\d+$/.test(number) ? number : `sip:${dialled}@${registrarHost}`;
}

const headerOf = (headers: Headers, name: string): string | undefined =>
  headers.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];

/** Customers' header fields are passed on (dialect §5.6). */
const passedHeaders = (headers: Headers): Headers =>
  headers.filter(([name]) => /^x-(ph|vh)-/i.test(name));
