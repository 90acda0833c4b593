/** Outgoing REFER: asks the peer to call another target and receives the progress (RFC 3515). */
import type { HeaderInit, ResponseParts, SipRequest, SipResponse } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import type { DestinationGuard, ReferStep } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { nextHopOf } from './next-hop.ts';
import type { OutgoingRequest } from './outgoing-request.ts';
import type { PeerRoute } from './peer-route.ts';

/** Session in which the REFER is sent. */
interface ReferringSession {
  readonly route: PeerRoute;
  readonly isConfirmed: boolean;
  readonly isOver: boolean;
  stepped(step: ReferStep): void;
  expire(status: number): void;
  reply(
    transaction: TransactionId,
    request: SipRequest,
    status: number,
    parts?: ResponseParts,
  ): void;
}

export interface ReferRequest {
  /** SIP or tel URI of the target. */
  readonly to: string;
  /** User part of Referred-By, at our public host (RFC 3892). */
  readonly by: string;
  /** Guard that checks the location of `to` before the REFER is sent. Undefined allows any location. */
  readonly guard: DestinationGuard | undefined;
}

/** `requested`: waits for the final response. `reported`: the outcome is known and the subscription is still open. */
type State = 'idle' | 'asked' | 'accepted' | 'told';

/** Maximum number of NOTIFYs for one REFER. Further ones get a response that ends the subscription. */
const MAX_NOTIFIES = 50;

/** Sends one REFER at a time. */
export class Referring {
  readonly #core: UserAgentCore;
  readonly #session: ReferringSession;
  #state: State = 'idle';
  #outgoing: OutgoingRequest | undefined;
  #notifies = 0;
  /** True if an earlier REFER may still be notified, so that a NOTIFY must name the current one. */
  #needsId = false;

  constructor(core: UserAgentCore, session: ReferringSession) {
    this.#core = core;
    this.#session = session;
  }

  /** Sends the REFER. Every outcome is reported through `stepped` in a later turn. */
  start(refer: ReferRequest): void {
    if (this.#state === 'asked' || this.#state === 'accepted' || !this.#session.isConfirmed) {
      this.#later({ what: 'failed', why: 'state' });
      return;
    }
    this.#needsId ||= this.#state === 'told';
    this.#state = 'asked';
    this.#notifies = 0;
    this.#outgoing = undefined;
    const hop = refer.guard === undefined ? undefined : nextHopOf(refer.to, undefined, refer.guard);
    if (refer.guard === undefined) this.#send(refer);
    else if (hop?.kind !== 'query') this.#fail('unreachable');
    else this.#check(refer, hop.query);
  }

  /** Stops reporting; later NOTIFYs have no effect. */
  forget(): void {
    if (this.#state === 'asked' || this.#state === 'accepted') this.#state = 'told';
  }

  /** Handles a NOTIFY inside the dialog. */
  receive(request: SipRequest, transaction: TransactionId): void {
    const answer = (status: number): void => this.#session.reply(transaction, request, status);
    this.#notifies += 1;
    if (!isOfRefer(request)) {
      const headers = [['Allow-Events', 'refer']] as const;
      this.#session.reply(transaction, request, 489, { headers });
    } else if (!this.#isSubscribed(request) || this.#notifies > MAX_NOTIFIES) answer(481);
    else {
      const isOver = stateOf(request) === 'terminated';
      const status = fragmentStatus(request);
      if (status === undefined && !isOver) {
        answer(400);
        return;
      }
      answer(200);
      this.#notified(status, isOver);
    }
  }

  #notified(status: number | undefined, isOver: boolean): void {
    const isOpen = this.#state === 'asked' || this.#state === 'accepted';
    const isFinal = status !== undefined && status >= 200;
    if (isOver) this.#state = 'idle';
    else if (isFinal) this.#state = 'told';
    if (!isOpen) return;
    if (isFinal) this.#session.stepped({ what: 'done', status });
    else if (isOver) this.#session.stepped({ what: 'failed', why: 'untold' });
    else if (status !== undefined) this.#session.stepped({ what: 'progress', status });
  }

  /**
   * Returns whether the NOTIFY belongs to the current REFER. Without an ID it belongs to the first REFER (RFC 3515
   * §2.4.6).
   */
  #isSubscribed(request: SipRequest): boolean {
    const id = /;\s*id=(\d+)/i.exec(request.header('event') ?? '')?.[1];
    const sequence = this.#outgoing?.request.cseq.sequence;
    return this.#state !== 'idle' && (id === undefined ? !this.#needsId : Number(id) === sequence);
  }

  #check(
    refer: ReferRequest,
    query: Extract<NonNullable<ReturnType<typeof nextHopOf>>, { kind: 'query' }>['query'],
  ): void {
    const id = this.#core.resolving.ask(({ targets, refusal }) => {
      if (this.#state !== 'asked') return;
      if (refusal !== undefined) this.#fail('notAllowed');
      else if (targets.length === 0) this.#fail('unreachable');
      else if (this.#session.isConfirmed) this.#send(refer);
    });
    if (id === undefined) this.#fail('unreachable');
    else this.#core.emit({ kind: 'resolve', id, query, guard: refer.guard });
  }

  #send({ to, by }: ReferRequest): void {
    const { route } = this.#session;
    const headers: HeaderInit = [
      ['Contact', route.contact],
      ['Refer-To', `<${to}>`],
      ['Referred-By', `<sip:${by}@${this.#core.options.publicHost}>`],
      ['Refer-Sub', 'true'],
    ];
    this.#outgoing = route.send(
      'REFER',
      { headers },
      {
        response: (response) => this.#answered(response),
        failed: () => this.#fail('timeout'),
      },
    );
  }

  #answered(response: SipResponse): void {
    const { status } = response;
    if (status < 200 || this.#state !== 'asked') return;
    if (status >= 300) {
      this.#state = 'idle';
      this.#session.stepped({ what: 'refused', status });
      // Only 481 means that the dialog no longer exists. 404 and 480 refer to the target.
      if (status === 481) this.#session.expire(status);
      return;
    }
    this.#state = 'accepted';
    this.#session.stepped({ what: 'accepted', status });
    // Without a subscription (RFC 4488 §4), acceptance is the only outcome.
    if (response.header('refer-sub')?.trim().toLowerCase() !== 'false') return;
    this.#state = 'idle';
    this.#session.stepped({ what: 'done', status });
  }

  #fail(why: Extract<ReferStep, { what: 'failed' }>['why']): void {
    if (this.#state !== 'asked') return;
    this.#state = 'idle';
    this.#later({ what: 'failed', why });
  }

  #later(step: ReferStep): void {
    this.#core.dialogTimers.at(this.#core.nowMs, () => {
      if (!this.#session.isOver) this.#session.stepped(step);
    });
  }
}

const isOfRefer = (request: SipRequest): boolean =>
  (request.header('event') ?? '').split(';')[0]?.trim().toLowerCase() === 'refer';

const stateOf = (request: SipRequest): string | undefined =>
  request.header('subscription-state')?.split(';')[0]?.trim().toLowerCase();

/** Status in the message/sipfrag body of a NOTIFY (RFC 3420). */
function fragmentStatus(request: SipRequest): number | undefined {
  const status = /^SIP\/2\.0 ([1-6]\d\d)(?:\s|$)/i.exec(request.bodyText.trimStart())?.[1];
  return status === undefined ? undefined : Number(status);
}
