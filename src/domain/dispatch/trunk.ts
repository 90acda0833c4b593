/** Calls to numbers assigned to an inbound trunk: connects them to the trunk's origination URI. */
import { ServiceError } from '../../base/errors.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Account } from '../account/types.ts';
import type { Call, CallEnd, CallIdentity, DialPlan } from '../call/call.ts';
import type { Bridge, Headers, LegPolicy, OutboundTarget } from '../call/needs.ts';
import type { CapacityLimits, CapacityRefusal } from '../capacity/capacity.ts';
import { playWhileHeld, relayDigits } from '../interpreter/interpreter.ts';
import type { OriginationUri, PhoneNumber, Trunk } from '../provisioning/types.ts';
import { type DialRefusal, inOrder } from './destination.ts';
import { mediaPolicyOfLeg } from './media-policy-of-leg.ts';
import type { DispatchNeeds } from './needs.ts';
import { onwardOf, presentedCaller } from './presented.ts';
import { TrunkWebhook } from './trunk-webhook.ts';

/** Maximum length of a trunk recording, in ms: the default duration limit of calls (spec Limits: `time_limit`). */
const RECORDING_MAX_MS = 14_400_000;

/** Matches a URI that names a transport without TLS. */
const INSECURE_TRANSPORT = /^sip:.*;transport=(?!tls\b)/i;

export class TrunkConnector {
  readonly #needs: DispatchNeeds;

  constructor(needs: DispatchNeeds) {
    this.#needs = needs;
  }

  /**
   * Connects `a` to its trunk. `a` is admitted and unanswered, or already refused. Resolves once the origination URI is
   * being called or `a` has been refused.
   */
  async toTrunk(a: Call, owner: Account, number: PhoneNumber): Promise<void> {
    const { trunks } = this.#needs.provisioning;
    const accountId = number.accountId ?? owner.authId;
    const { trunkGroupId } = number;
    const found =
      trunkGroupId === undefined ? undefined : await trunks.get(accountId, trunkGroupId);
    if (found?.ok !== true) {
      a.hangup('routingError', 'Error', 'the trunk of this number does not exist');
      return;
    }
    const trunk = found.value;
    const webhook = new TrunkWebhook(trunk, a, this.#needs);
    const targets = await this.#targetsOf(trunk, number);
    if (targets.ok)
      await this.#connect(a, owner, number, { trunk, targets: targets.value, webhook });
    else a.hangup(targets.error.cause, targets.error.source, targets.error.detail);
  }

  async #connect(
    a: Call,
    owner: Account,
    number: PhoneNumber,
    way: {
      readonly trunk: Trunk;
      readonly targets: readonly OutboundTarget[];
      readonly webhook: TrunkWebhook;
    },
  ): Promise<void> {
    if (a.isEnded) return;
    const { trunk, targets, webhook } = way;
    const { admission, capacity, factory, provisioning } = this.#needs;
    // Read first, so that an error leaves no leg and no slot.
    const auth = await provisioning.trunks.loginOf(trunk);
    const limits = { concurrentCalls: trunk.concurrentCallsLimit, cps: trunk.cpsLimit };
    const slot = await capacity.take(`trunk:${trunk.trunkId}`, limits);
    if (a.isEnded && slot.ok) slot.value.undo();
    if (a.isEnded) return;
    if (!slot.ok) {
      const detail = `trunk ${trunk.name} is full: ${fullOf(slot.error, limits)}`;
      const isUnknown = slot.error.kind === 'away';
      if (isUnknown) a.endUnrecorded();
      a.hangup(isUnknown ? 'unavailable' : 'concurrencyBreached', 'Platform', detail);
      return;
    }
    // The account pays for the inbound call. The second leg is free, and counts against the trunk's limits.
    const free = factory.free(owner.currency);
    const b = factory.create(this.#identity(a, owner, trunk), free, undefined, a);
    const admitted = await admission.admit(b, owner, slot);
    if (!admitted.ok) {
      b.hangup(admitted.error.cause, 'Platform', admitted.error.detail);
      a.hangup(admitted.error.cause, 'Platform', admitted.error.detail);
      return;
    }
    webhook.allowed();
    const { settings } = this.#needs;
    await new TrunkCall(a, b, trunk.recording, this.#needs).run({
      targets,
      from: presentedCaller(a),
      headers: trunkHeaders(a, number, settings.registrarHost),
      ...onwardOf(a, b, settings),
      ...(auth === undefined ? {} : { auth }),
    });
  }

  async #targetsOf(
    trunk: Trunk,
    number: PhoneNumber,
  ): Promise<Result<readonly OutboundTarget[], DialRefusal>> {
    const { trunks } = this.#needs.provisioning;
    if (!trunk.enabled) {
      const detail = `trunk ${trunk.name} is disabled`;
      return err({ cause: 'destinationOutOfService', source: 'Platform', detail });
    }
    if (trunk.direction === 'outbound') {
      return unroutable(`trunk ${trunk.name} does not accept inbound calls`);
    }
    const uris: OriginationUri[] = [];
    for (const id of [trunk.primaryUriUuid, trunk.fallbackUriUuid]) {
      const uri =
        id === undefined ? undefined : await trunks.getOriginationUri(trunk.accountId, id);
      if (uri?.ok === true && uri.value.enabled) uris.push(uri.value);
    }
    if (uris.length === 0) return unroutable(`trunk ${trunk.name} has no enabled origination URI`);
    const downgrading = uris.find(
      ({ sipUri }) => trunk.transport === 'tls' && INSECURE_TRANSPORT.test(sipUri),
    );
    if (downgrading !== undefined) {
      const detail = `trunk ${trunk.name} requires TLS, but its origination URI ${downgrading.sipUri} does not use it`;
      return unroutable(detail);
    }
    const preference = mediaPolicyOfLeg(this.#needs.provisioning, {
      parties: { trunk: trunk.trunkId, account: trunk.accountId },
      srtp: this.#needs.settings.srtp,
      secured: false,
      mustBeSecure: trunk.secure,
    });
    const targets = uris.map(({ sipUri }) => targetOf(sipUri, trunk, { number, preference }));
    return ok(inOrder(this.#needs.signalling, targets));
  }

  #identity(a: Call, owner: Account, trunk: Trunk): CallIdentity {
    const { factory } = this.#needs;
    const callUuid = factory.newCallUuid();
    return {
      callUuid,
      accountId: owner.authId,
      subAccount: a.identity.subAccount,
      country: owner.country,
      context: 'trunk',
      parentCallUuid: a.uuid,
      endpointId: undefined,
      trunkId: trunk.trunkId,
      terminatedTo: 'origination_uri',
      facts: {
        ...a.facts,
        callUuid,
        direction: 'outbound',
        sessionStartUs: factory.nowUs(),
      },
    };
  }
}

/** The two legs of a trunk call. Ringing, answer and end of one leg are applied to the other. */
class TrunkCall {
  readonly #a: Call;
  readonly #b: Call;
  readonly #recorded: boolean;
  readonly #needs: DispatchNeeds;
  #bridge: Bridge | undefined;

  constructor(a: Call, b: Call, recorded: boolean, needs: DispatchNeeds) {
    this.#a = a;
    this.#b = b;
    this.#recorded = recorded;
    this.#needs = needs;
  }

  async run(plan: DialPlan): Promise<void> {
    const a = this.#a;
    const b = this.#b;
    void a.ended.then((end) => {
      this.#bridge?.close();
      if (a.endMs !== undefined) b.limitTo(a.endMs);
      if (b.answerUs === undefined) b.hangup('canceled', end.source, end.detail);
      else b.hangup('normal', end.source);
    });
    void b.ended.then((end) => this.#bEnded(end));
    if (b.isEnded) return;
    const cancelRinging = this.#ringTimeout();
    b.observe({
      ringing: () => a.ring(),
      earlyMedia: () => void this.#earlyMedia(),
      answered: () => {
        cancelRinging();
        void this.#answered();
      },
    });
    try {
      await b.dial(this.#needs.signalling, plan);
    } catch (error) {
      this.#failed(error);
    }
  }

  #ringTimeout(): () => void {
    const { clock, settings } = this.#needs;
    const cancel = clock.at(clock.monotonicMs() + settings.ringTimeoutMs, () =>
      this.#b.hangup('ringTimeout', 'Platform'),
    );
    this.#b.signal.addEventListener('abort', cancel, { once: true });
    return cancel;
  }

  /** Passes early media of the called party on to the caller (183). */
  async #earlyMedia(): Promise<void> {
    try {
      const received = await this.#a.startEarlyMedia();
      if (received) this.#connect();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #answered(): Promise<void> {
    const a = this.#a;
    const b = this.#b;
    const { callBilling } = this.#needs;
    try {
      await callBilling.changed(b);
      const answered = await a.answer(() => callBilling.changed(a));
      if (!answered || b.isEnded) return;
      this.#connect();
      a.bridgedWith(b);
      const music = playWhileHeld(a, b, this.#needs.interpreter());
      const forget = [relayDigits(a, b), relayDigits(b, a), music];
      void Promise.race([a.ended, b.ended]).then(() => {
        for (const stop of forget) stop();
      });
      for (const call of [a, b]) callBilling.noted(call);
      if (this.#recorded) await this.#record();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Records both sides if the trunk has `recording`, on the trunk's leg. The call continues if recording fails. */
  async #record(): Promise<void> {
    const started = await this.#needs.interpreter().recorder.start(this.#b, {
      format: 'mp3',
      channels: 'stereo',
      maxMs: RECORDING_MAX_MS,
      callback: undefined,
    });
    if (!started.ok) {
      this.#a.log.add('warning', 'the trunk call is not recorded', { reason: started.error.kind });
    }
  }

  #connect(): void {
    if (this.#bridge !== undefined || this.#a.isEnded || this.#b.isEnded) return;
    this.#bridge = this.#needs.interpreter().media.bridge(this.#a.media, this.#b.media);
  }

  #bEnded(end: CallEnd): void {
    this.#bridge?.close();
    if (this.#b.endMs !== undefined) this.#a.limitTo(this.#b.endMs);
    this.#a.hangup(end.cause, end.source, end.detail);
  }

  #failed(error: unknown): void {
    const callUuid = this.#a.uuid;
    this.#needs.logger.error({ error, callUuid }, 'trunk call failed');
    this.#b.hangup(
      'internalError',
      'Error',
      error instanceof ServiceError ? error.message : undefined,
    );
  }
}

const unroutable = (detail: string): Result<never, DialRefusal> =>
  err({ cause: 'routingError', source: 'Error', detail });

/** Builds the target of an origination URI. A URI without a user part gets the called number. */
function targetOf(
  sipUri: string,
  trunk: Trunk,
  { number, preference }: { readonly number: PhoneNumber; readonly preference: LegPolicy },
): OutboundTarget {
  const uri = sipUri.includes('@')
    ? sipUri
    : sipUri.replace(/^(sips?):/i, `$1:${encodeURIComponent(`+${number.e164}`)}@`);
  const { transport, egressAllow: allow, policy } = trunk;
  return { kind: 'uri', uri, transport, allow, policy, ...preference, isTrunk: true };
}

/**
 * Header fields for the trunk: customers' fields, and the called number, which may differ from the request URI (RFC
 * 7315 §4.2).
 */
const trunkHeaders = (a: Call, number: PhoneNumber, host: string): Headers => [
  ...a.facts.sipHeaders,
  ['P-Called-Party-ID', `<sip:+${number.e164}@${host}>`],
];

function fullOf({ kind }: CapacityRefusal, { cps, concurrentCalls }: CapacityLimits): string {
  if (kind === 'away') return 'the capacity shared with other nodes is unknown';
  return kind === 'cps' ? `${cps} calls per second` : `${concurrentCalls} concurrent calls`;
}
