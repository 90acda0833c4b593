import { noOperation } from '../../../base/no-operation.ts';
import type { Flow } from '../transport/flow.ts';
import type {
  HangupCommand,
  LegEndFacts,
  LegId,
  ReferFacts,
  ReferStep,
  RespondingPeer,
} from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { type Dialog, type Leg, type ReferRequest, reasonHeaders, replacedLeg } from './dialog.ts';
import { type BranchOptions, type BranchUser, InviteBranch } from './invite-branch.ts';
import type { Cancel } from './pending.ts';
import type { Session } from './session.ts';

/** Reason of the CANCEL to the remaining branches (RFC 3326 §3.1). */
const ANSWERED_ELSEWHERE = 'SIP;cause=200;text="Call completed elsewhere"';

export type BranchPlan = Omit<BranchOptions, 'user'>;

/** Caller's side of a call: one INVITE, or one to each contact of a user in parallel. All branches belong to one leg. */
export class OutboundLeg implements Leg, BranchUser {
  readonly #core: UserAgentCore;
  readonly #id: LegId;
  readonly #released: () => void;
  readonly #branches = new Set<InviteBranch>();
  #early: InviteBranch | undefined;
  /** Branch whose 200 contained an offer that has not been answered yet. */
  #unanswered: InviteBranch | undefined;
  #session: Session | undefined;
  /** Session whose offer has not been answered yet. */
  #asking: Session | undefined;
  #reported: RespondingPeer | undefined;
  #worst: { readonly branch: InviteBranch; readonly end: LegEndFacts } | undefined;
  #over = false;
  #cancelLimit: Cancel = noOperation;

  constructor(core: UserAgentCore, id: LegId, released: () => void) {
    this.#core = core;
    this.#id = id;
    this.#released = released;
  }

  /** `answerMs` is the time limit for an answer in milliseconds; undefined leaves the limit to the caller. */
  start(plans: readonly BranchPlan[], answerMs: number | undefined): void {
    if (plans.length === 0) {
      const end = {
        by: 'remote',
        how: 'unreachable',
        status: undefined,
        reason: undefined,
      } as const;
      this.#core.dialogTimers.at(this.#core.nowMs, () => this.#end(end));
      return;
    }
    const branches = plans.map((plan) => new InviteBranch(this.#core, { ...plan, user: this }));
    for (const branch of branches) this.#branches.add(branch);
    for (const branch of branches) branch.start();
    if (answerMs !== undefined) this.#limit(answerMs);
  }

  #limit(answerMs: number): void {
    this.#cancelLimit = this.#core.dialogTimers.at(this.#core.nowMs + answerMs, () => {
      if (this.#over || this.#session !== undefined) return;
      this.#cancelBranches(undefined);
      const reason = `no answer within ${answerMs} ms`;
      this.#end({ by: 'local', how: 'refused', status: 408, reason });
    });
  }

  hangup(command: HangupCommand): void {
    if (this.#over) return;
    const { reason } = command;
    // A 200 must be acknowledged before the BYE, even if its offer cannot be answered.
    this.acknowledge(undefined);
    this.#cancelBranches(reason);
    const how = this.#session === undefined ? 'cancel' : 'bye';
    this.#session?.bye(reasonHeaders(reason));
    this.#end({ by: 'local', how, status: undefined, reason });
  }

  /** Answers the offer of the 200. */
  acknowledge(sdp: string | undefined): void {
    const branch = this.#unanswered;
    this.#unanswered = undefined;
    branch?.acknowledge(sdp);
  }

  sendDigit(digit: string, durationMs: number): void {
    this.#session?.sendDigit(digit, durationMs);
  }

  answerOffer(sdp: string | undefined): void {
    this.#asking?.answerOffer(sdp);
  }

  /** Forwards the early media of the first branch that has any; other branches only ring. */
  progress(branch: InviteBranch, status: number, sdp: string | undefined): void {
    if (this.#over || this.#session !== undefined) return;
    this.#notifyPeer(branch);
    if (sdp !== undefined) this.#early ??= branch;
    const received = this.#early === branch ? sdp : undefined;
    this.#core.emit({ kind: 'progress', leg: this.#id, status, sdp: received });
  }

  connected(branch: InviteBranch, session: Session, sdp: string | undefined): void {
    this.#branches.delete(branch);
    if (this.#over || this.#session !== undefined) {
      session.bye([]);
      return;
    }
    this.#session = session;
    this.#early = undefined;
    if (branch.awaitsAnswer) this.#unanswered = branch;
    this.#cancelLimit();
    this.#cancelBranches(ANSWERED_ELSEWHERE);
    this.#notifyPeer(branch);
    this.#core.emit({ kind: 'connected', leg: this.#id, callId: branch.callId, sdp });
  }

  failed(branch: InviteBranch, end: LegEndFacts): void {
    this.#branches.delete(branch);
    const other = branch.otherFlow(end);
    if (this.#over || this.#session !== undefined) return;
    if (other !== undefined) {
      const next = new InviteBranch(this.#core, { ...other, user: this });
      this.#branches.add(next);
      next.start();
      return;
    }
    if (this.#worst === undefined || tellsMore(end, this.#worst.end)) this.#worst = { branch, end };
    // A 6xx applies to the user, not to one phone: cancel the other branches (RFC 3261 §16.7 step 5).
    if ((end.status ?? 0) >= 600) this.#cancelBranches(undefined);
    if (this.#branches.size > 0) return;
    this.#notifyPeer(this.#worst.branch);
    this.#end(this.#worst.end);
  }

  acknowledged(): void {}

  movedTo(flow: Flow, session: Session): void {
    if (this.#isHeard(session)) this.#core.emit({ kind: 'moved', leg: this.#id, flow });
  }

  #isHeard(session: Session): boolean {
    return session === this.#session || this.#early?.owns(session) === true;
  }

  /** Before the answer, accepts offers only from the branch with the active early media. */
  offered(sdp: string | undefined, session: Session): void {
    if (!this.#isHeard(session)) {
      session.answerOffer(undefined);
      return;
    }
    this.#asking = session;
    this.#core.emit({ kind: 'offered', leg: this.#id, sdp });
  }

  /** Dialog of the answered branch, otherwise of the first branch that rings. */
  get dialog(): Dialog | undefined {
    if (this.#session !== undefined) return this.#session.dialog;
    for (const branch of this.#branches) if (branch.dialog !== undefined) return branch.dialog;
    return undefined;
  }

  get id(): LegId {
    return this.#id;
  }

  referred(refer: ReferFacts): void {
    const replaced = replacedLeg(this.#core, refer);
    this.#core.emit({ kind: 'referred', leg: this.#id, refer, replaced });
  }

  answerRefer(id: number, status: number): void {
    this.#session?.refers.answer(id, status);
  }

  notifyRefer(id: number, status: number): void {
    this.#session?.refers.notify(id, status);
  }

  refer(refer: ReferRequest): void {
    this.#session?.referring.start(refer);
  }

  forgetRefer(): void {
    this.#session?.referring.forget();
  }

  stepped(step: ReferStep): void {
    this.#core.emit({ kind: 'referStep', leg: this.#id, step });
  }

  answered(sdp: string): void {
    this.#core.emit({ kind: 'answered', leg: this.#id, sdp });
  }

  dtmf(digit: string, durationMs: number): void {
    this.#core.emit({ kind: 'dtmf', leg: this.#id, digit, durationMs });
  }

  /** Before the answer, the branch of a lost connection ends, and the others keep ringing. */
  connectionChanged(connected: boolean, session: Session): void {
    if (session === this.#session)
      this.#core.emit({ kind: 'connection', leg: this.#id, connected });
  }

  ended(end: LegEndFacts): void {
    this.#end(end);
  }

  #notifyPeer({ peer }: InviteBranch): void {
    if (peer === undefined || isSamePeer(peer, this.#reported)) return;
    this.#reported = peer;
    this.#core.emit({ kind: 'heardFrom', leg: this.#id, peer });
  }

  #cancelBranches(reason: string | undefined): void {
    for (const branch of this.#branches) branch.cancel(reason);
    this.#branches.clear();
  }

  #end(end: LegEndFacts): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelLimit();
    this.#core.emit({ kind: 'ended', leg: this.#id, end });
    this.#released();
  }
}

/**
 * Returns whether a later failure takes precedence over an earlier one (RFC 3261 §16.7 step 6): 6xx, then the lowest
 * class.
 */
function tellsMore(later: LegEndFacts, earlier: LegEndFacts): boolean {
  const rank = ({ status }: LegEndFacts): number => {
    if (status === undefined) return 9;
    return status >= 600 ? 0 : Math.floor(status / 100);
  };
  return rank(later) < rank(earlier);
}

const isSamePeer = (one: RespondingPeer, other: RespondingPeer | undefined): boolean =>
  one.software === other?.software &&
  one.isOfferedIpv6 === other?.isOfferedIpv6 &&
  one.flow.transport === other?.flow.transport &&
  one.flow.remoteAddress === other.flow.remoteAddress &&
  one.flow.remotePort === other.flow.remotePort;
