/** REFER requested by a customer: permission, target and outcome (RFC 3515, 5589). */
import { err, ok, type Result } from '../../base/result.ts';
import { permits } from '../account/account.ts';
import type { Call } from '../call/call.ts';
import type { ReferCommand, ReferProgress } from '../call/needs.ts';
import type {
  ReferOutcome,
  ReferRefusal,
  ReferRequest,
  Referral,
  Referrer,
} from '../interpreter/interpreter.ts';
import { type Calling, Destinations, type Destined, type DialRefusal } from './destination.ts';
import { readDialledNumber } from './dialled-number.ts';
import type { DispatchNeeds } from './needs.ts';

const FAILURES: Readonly<Record<Extract<ReferProgress, { what: 'failed' }>['why'], string>> = {
  state: 'another REFER is in progress',
  timeout: 'the peer did not answer the REFER',
  unreachable: 'the target cannot be resolved',
  notAllowed: 'the target is not allowed',
  untold: 'the peer ended its notifications before the outcome',
};

/** Content that a Refer-To must not contain: header fields, or a method other than INVITE. */
const SMUGGLED = /[?<>"\s]|;\s*method=/i;

export class Referrals implements Referrer {
  readonly #needs: DispatchNeeds;
  readonly #destinations: Destinations;
  readonly #running = new WeakSet<Call>();

  constructor(needs: DispatchNeeds) {
    this.#needs = needs;
    this.#destinations = new Destinations(needs);
  }

  async refer(call: Call, request: ReferRequest): Promise<Result<Referral, ReferRefusal>> {
    const calling = await this.#callingOf(call);
    const refusal = calling === undefined ? GONE : this.#refusal(call, calling);
    if (refusal !== undefined || calling === undefined) return err(refusal ?? GONE);
    const planned = await this.#planned(calling, request);
    if (!planned.ok) return err({ kind: 'notAllowed', detail: planned.error.detail });
    // The call may have ended, or another REFER may have started, during the awaits.
    const late = this.#refusal(call, calling);
    if (late !== undefined) return err(late);
    const command = this.#command(call, request, { ...planned.value, ...calling });
    return ok(this.#begin(call, request, command));
  }

  async #callingOf({ identity }: Call): Promise<Calling | undefined> {
    const { accounts } = this.#needs;
    const owner = await accounts.get(identity.accountId);
    if (owner === undefined) return undefined;
    const { subAccount } = identity;
    const account = subAccount === undefined ? owner : await accounts.get(subAccount);
    return { owner, account: account ?? owner };
  }

  #refusal(call: Call, { owner, account }: Calling): ReferRefusal | undefined {
    if (!permits(owner, 'refer') || !permits(account, 'refer')) {
      return { kind: 'notAllowed', detail: 'the account may not send REFER' };
    }
    if (!this.#takesRefer(call)) {
      const detail = 'the other end is not a carrier or trunk with the setting refer';
      return { kind: 'notAllowed', detail };
    }
    if (call.isEnded) return GONE;
    if (call.refer === undefined) return { kind: 'wrongState', detail: 'the call is not answered' };
    return this.#running.has(call) ? { kind: 'wrongState', detail: FAILURES.state } : undefined;
  }

  /** Returns whether the peer, as called carrier or trunk or as calling carrier, accepts REFER. */
  #takesRefer({ peer, facts }: Call): boolean {
    if (facts.direction === 'outbound') return peer.takesRefer === true;
    const { carriers } = this.#needs.provisioning;
    return peer.carrier !== undefined && carriers.get(peer.carrier)?.policy.refer === true;
  }

  async #planned(
    calling: Calling,
    { destination }: ReferRequest,
  ): Promise<Result<Destined, DialRefusal>> {
    if (destination.kind === 'number') {
      return this.#destinations.number(calling, destination.number);
    }
    const { uri } = destination;
    if (SMUGGLED.test(uri)) {
      const detail = `${uri} contains more than an address`;
      return err({ cause: 'invalidDestination', source: 'Error', detail });
    }
    return this.#destinations.sip(calling, uri, { endpoints: true });
  }

  #command(
    call: Call,
    { destination }: ReferRequest,
    { to, targets, account }: Destined & Calling,
  ): ReferCommand {
    const { direction, from, to: called } = call.facts;
    const own = direction === 'inbound' ? called : from;
    const isHidden = call.identity.caller?.hidden === true;
    return {
      to: destination.kind === 'number' ? this.#tel(to, account.country) : destination.uri,
      // The account's number, which the peer already knows. Addresses of phones and applications are not revealed.
      by: /^\d+$/.test(own) && !isHidden ? `+${own}` : 'anonymous',
      isGuarded: destination.kind === 'sip' && targets[0]?.kind === 'uri',
    };
  }

  /** Returns a tel URI. A number that is valid only nationally gets a phone-context (RFC 3966). */
  #tel(number: string, country: string): string {
    const isGlobal = readDialledNumber(number, country).kind === 'e164';
    return isGlobal
      ? `tel:+${number}`
      : `tel:${number};phone-context=${this.#needs.settings.registrarHost}`;
  }

  #begin(call: Call, { timeoutMs, source }: ReferRequest, command: ReferCommand): Referral {
    const { clock } = this.#needs;
    const { promise, resolve } = Promise.withResolvers<ReferOutcome>();
    let answered: number | undefined;
    let notified: number | undefined;
    let isDecided = false;
    let forget: () => void = () => undefined;
    const decide = (status: ReferOutcome['status'], detail?: string): void => {
      if (isDecided) return;
      isDecided = true;
      cancel();
      forget();
      this.#running.delete(call);
      call.log.add('sip', `REFER ${status}`, { answered, notified, reason: detail });
      resolve({ status, answered, notified, detail });
      if (status === 'completed') call.hangup('normal', source, `referred to ${command.to}`);
    };
    const stepped = (step: ReferProgress): void => {
      if (step.what === 'failed') {
        decide(step.why === 'timeout' ? 'timeout' : 'failed', FAILURES[step.why]);
        return;
      }
      if (step.what === 'accepted' || step.what === 'refused') answered = step.status;
      else notified = step.status;
      if (step.what === 'refused') decide('refused', `the peer answered ${step.status}`);
      else if (step.what === 'done') decide(step.status < 300 ? 'completed' : 'failed');
    };
    const cancel = clock.at(clock.monotonicMs() + timeoutMs, () =>
      decide('timeout', `no outcome within ${timeoutMs / 1000} s`),
    );
    this.#running.add(call);
    call.log.add('sip', 'REFER sent', { to: command.to });
    forget = call.refer?.(command, { stepped }) ?? forget;
    void call.ended.then(() => decide('ended', 'the call ended before the outcome was known'));
    return { outcome: promise, stop: () => decide('ended', 'the request was cancelled') };
  }
}

const GONE: ReferRefusal = { kind: 'wrongState', detail: 'the call has ended' };
