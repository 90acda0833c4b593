/** B legs of `Dial`: permissions, routing and billing (spec: Answer-XML instructions, Dial). */
import { ServiceError } from '../../base/errors.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Call, CallIdentity, DialPlan } from '../call/call.ts';
import type { CapacitySlot } from '../capacity/capacity.ts';
import type { BLegRequest, Dialer, UnplacedLeg } from '../interpreter/interpreter.ts';
import type { SlotRefusal } from './admission.ts';
import { attestedTo, signing } from './caller-proof.ts';
import { type CarrierGate, gateOf } from './carrier-gate.ts';
import { customHeaders, hopsHeader, hopsOf } from './custom-headers.ts';
import { type Calling, Destinations, type Destined, type DialRefusal } from './destination.ts';
import { notPermitted } from './endpoint-permissions.ts';
import type { DispatchNeeds } from './needs.ts';
import { onwardOf, type Presented, presentedBy, presentedCaller } from './presented.ts';

/** Maximum time that a leg waits for the account's calls-per-second limit, in ms. */
const PACING_LIMIT_MS = 3000;
/** Maximum chain of calls through carriers back to this service. A longer chain is treated as a loop. */
const MAX_HOPS = 5;

export class BLegDialer implements Dialer {
  readonly #needs: DispatchNeeds;
  readonly #destinations: Destinations;
  readonly #gate: CarrierGate;

  constructor(needs: DispatchNeeds) {
    this.#needs = needs;
    this.#destinations = new Destinations(needs);
    this.#gate = gateOf(needs);
  }

  async dial(request: BLegRequest): Promise<Result<Call, UnplacedLeg>> {
    const { parent } = request;
    const calling = await this.#callingOf(parent);
    const planned = await this.#permitted(parent, calling, await this.#plan(request, calling));
    const presented = await presentedBy(this.#needs, this.#destinations, calling, request, planned);
    if (!presented.ok) return neverCreated(request, presented.error);
    if (!planned.ok && isUnreachable(planned.error)) {
      return neverCreated(request, planned.error);
    }
    const slot = await this.#pacedSlot(calling, request);
    if (parent.isEnded) {
      if (slot.ok) slot.value.undo();
      return neverCreated(request, CALLER_GONE);
    }
    return ok(await this.#begin(request, { calling, presented: presented.value, planned }, slot));
  }

  async #callingOf(parent: Call): Promise<Calling> {
    const { accounts } = this.#needs;
    const { accountId, subAccount } = parent.identity;
    const owner = await accounts.get(accountId);
    const account = subAccount === undefined ? owner : await accounts.get(subAccount);
    if (owner === undefined)
      throw new ServiceError('NOT_FOUND', `account ${accountId} does not exist`);
    return { owner, account: account ?? owner };
  }

  async #plan(
    { destination, parent }: BLegRequest,
    calling: Calling,
  ): Promise<Result<Destined, DialRefusal>> {
    if (hopsOf(parent.facts.sipHeaders) >= MAX_HOPS) {
      const detail = `loop: a chain of ${MAX_HOPS} calls leads back to this service`;
      return err({ cause: 'loopDetected', source: 'Error', detail });
    }
    const planned =
      destination.kind === 'user'
        ? await this.#destinations.sip(calling, destination.uri, { endpoints: true })
        : this.#destinations.number(calling, destination.number);
    if (planned.ok && parent.identity.context === 'did' && planned.value.to === parent.facts.to) {
      const detail = `loop: a call to ${parent.facts.to} dials the same number again`;
      return err({ cause: 'loopDetected', source: 'Error', detail });
    }
    return planned;
  }

  /** Applies the endpoint's permissions to destinations that a document dials for it. */
  async #permitted(
    { identity }: Call,
    { owner }: Calling,
    planned: Result<Destined, DialRefusal>,
  ): Promise<Result<Destined, DialRefusal>> {
    const { context, endpointId } = identity;
    if (!planned.ok || context !== 'sip-endpoint' || endpointId === undefined) return planned;
    const endpoint = await this.#needs.provisioning.endpoints.get(owner.authId, endpointId);
    const isPhone = planned.value.targets[0]?.kind === 'carrier';
    if (!endpoint.ok || (!isPhone && planned.value.endpointId === undefined)) return planned;
    const detail = notPermitted(endpoint.value, isPhone ? 'phones' : 'sameDomain');
    if (detail === undefined) return planned;
    return err({ cause: 'forbidden', source: 'Platform', detail });
  }

  /**
   * Spreads the destinations of a Dial over the account's calls per second. If several Dials have failed in a row, they
   * get half of the limit, so that other calls of the account can begin.
   */
  async #pacedSlot(
    { owner }: Calling,
    { parent, isRepeated }: BLegRequest,
  ): Promise<Result<CapacitySlot, SlotRefusal>> {
    const { admission, clock } = this.#needs;
    const paced = isRepeated
      ? { ...owner, cpsLimit: Math.max(1, Math.floor(owner.cpsLimit / 2)) }
      : owner;
    const untilMs = clock.monotonicMs() + PACING_LIMIT_MS;
    for (;;) {
      const slot = await admission.slot(paced, parent.signal);
      if (slot.ok || slot.error.kind !== 'cps' || parent.isEnded) return slot;
      if (clock.monotonicMs() + slot.error.retryAfterMs > untilMs) return slot;
      try {
        await clock.sleep(slot.error.retryAfterMs, parent.signal);
      } catch {
        return slot;
      }
    }
  }

  async #begin(
    request: BLegRequest,
    leg: {
      readonly calling: Calling;
      readonly presented: Presented;
      readonly planned: Result<Destined, DialRefusal>;
    },
    slot: Result<CapacitySlot, SlotRefusal>,
  ): Promise<Call> {
    const { factory, admission } = this.#needs;
    const { calling, planned } = leg;
    const price = planned.ok ? planned.value.price : factory.free(calling.owner.currency);
    const call = factory.create(this.#identity(request, leg), price, undefined, request.parent);
    request.parent.log.add('call', 'B leg', { callUuid: call.uuid, to: call.facts.to });
    const admitted = await admission.admit(call, calling.owner, slot);
    // From here on, the end of the call is recorded in any case.
    request.onLeg?.(call);
    if (call.isEnded) return call;
    if (!planned.ok) {
      call.hangup(planned.error.cause, planned.error.source, planned.error.detail);
    } else if (!admitted.ok) {
      call.hangup(admitted.error.cause, 'Platform', admitted.error.detail);
    } else {
      this.#keepWhenAnswered(call);
      const { targets } = planned.value;
      const findSlot = this.#gate.slotFor(calling.owner);
      await this.#invite(call, {
        ...dialPlan(request, call, planned.value),
        ...onwardOf(request.parent, call, this.#needs.settings),
        ...signing(this.#needs, call),
        targets,
        findSlot,
      });
    }
    return call;
  }

  async #invite(call: Call, plan: DialPlan): Promise<void> {
    try {
      await call.dial(this.#needs.signalling, plan);
    } catch (error) {
      this.#needs.logger.error({ error, callUuid: call.uuid }, 'B leg failed');
      call.hangup(
        'internalError',
        'Error',
        error instanceof ServiceError ? error.message : undefined,
      );
    }
  }

  /** Stores the answer immediately, so that the call is billed even if the process crashes afterwards. */
  #keepWhenAnswered(call: Call): void {
    const { callBilling, logger } = this.#needs;
    call.observe({
      answered: () => {
        callBilling.changed(call).catch((error: unknown) => {
          logger.error({ error, callUuid: call.uuid }, 'answer not recorded');
        });
      },
    });
  }

  #identity(
    { parent, destination, callerName }: BLegRequest,
    leg: {
      readonly calling: Calling;
      readonly presented: Presented;
      readonly planned: Result<Destined, DialRefusal>;
    },
  ): CallIdentity {
    const { factory } = this.#needs;
    const { calling, presented, planned } = leg;
    const callUuid = factory.newCallUuid();
    const typed = destination.kind === 'user' ? destination.uri : destination.number;
    return {
      callUuid,
      accountId: calling.owner.authId,
      subAccount: parent.identity.subAccount,
      country: calling.account.country,
      context: 'dial',
      parentCallUuid: parent.uuid,
      endpointId: planned.ok ? planned.value.endpointId : undefined,
      trunkId: undefined,
      terminatedTo: undefined,
      facts: {
        callUuid,
        requestUuid: undefined,
        direction: 'outbound',
        from: presented.callerId,
        to: planned.ok ? planned.value.to : typed,
        callerName: callerName ?? presented.callerName,
        parentAuthId: calling.owner.authId,
        routeType: 'pstn',
        sessionStartUs: factory.nowUs(),
        stirVerification: 'Not Applicable',
        stirAttestation: attestedTo(presented.standing, planned.ok ? planned.value : undefined),
        forwardedFrom: '',
        sipHeaders: [],
        machine: undefined,
      },
      ...(presented.hidden ? { caller: { hidden: true, asserted: presented.asserted } } : {}),
    };
  }
}

function dialPlan(
  { parent, destination, sipHeaders, referredBy }: BLegRequest,
  call: Call,
  { endpointId }: Destined,
): Omit<DialPlan, 'targets'> {
  const leavesUs = endpointId === undefined;
  const hops = hopsHeader(hopsOf(parent.facts.sipHeaders) + 1);
  const auth =
    destination.kind === 'user' && destination.sipAuthUsername !== undefined
      ? { username: destination.sipAuthUsername, password: destination.sipAuthPassword ?? '' }
      : undefined;
  return {
    from: presentedCaller(call),
    headers: [
      ...customHeaders(sipHeaders),
      ...(leavesUs ? [hops] : []),
      ...(referredBy === undefined ? [] : [['Referred-By', referredBy] as const]),
    ],
    ...(auth === undefined ? {} : { auth }),
  };
}

/** True if the destination cannot be reached at all (spec: B leg never created), as opposed to a forbidden destination. */
const isUnreachable = ({ cause }: DialRefusal): boolean =>
  cause === 'endpointNotRegistered' || cause === 'loopDetected';

const CALLER_GONE: DialRefusal = {
  cause: 'canceled',
  source: 'Caller',
  detail: 'the caller hung up before the call could be placed',
};

function neverCreated(
  { parent, callerId, destination }: BLegRequest,
  { cause, source, detail }: DialRefusal,
): Result<never, UnplacedLeg> {
  parent.log.add('warning', 'B leg not created', { reason: detail, cause });
  const to = destination.kind === 'user' ? destination.uri : destination.number;
  return err({ cause, source, detail, from: callerId ?? parent.facts.from, to });
}
