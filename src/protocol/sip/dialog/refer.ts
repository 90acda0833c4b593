import { bracketed } from '../../../base/host.ts';
import { noOperation } from '../../../base/no-operation.ts';
import { type NameAddr, parseNameAddr } from '../header/name-addr.ts';
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import { reasonPhrase } from '../reason-phrase.ts';
import type { TransactionId } from '../transaction/types.ts';
import { formatUri } from '../uri.ts';
import type { ReferFacts, ReferStep } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { type ReferRequest, replacedDialog } from './dialog.ts';
import { nextHopOf } from './next-hop.ts';
import type { OutgoingRequest } from './outgoing-request.ts';
import type { PeerRoute } from './peer-route.ts';
import type { Replier } from './replier.ts';

/** Handles REFER requests of the peer (RFC 3515) and reports the actual outcome of the referred calls. */

/** Dialog in which a REFER is answered and notified: its session, or a separate dialog. */
export interface ReferNotifier extends Replier {
  readonly route: PeerRoute;
  /** True if no further NOTIFY is wanted. */
  readonly isOver: boolean;
  accepted?(): void;
  /** Called after a NOTIFY that extends the subscription. */
  extended?(): void;
  /** Called after the last NOTIFY. */
  reported?(): void;
  /** Called when the session has ended, so that no outcome will be reported. */
  sessionEnded?(): void;
}

/** Session that the requests refer to. */
interface ReferredSession extends ReferNotifier {
  readonly isConfirmed: boolean;
  referred(refer: ReferFacts): void;
}

interface Open {
  readonly notifier: ReferNotifier;
  /** Value of the Event header field. */
  readonly event: string;
  readonly request: SipRequest;
  readonly transaction: TransactionId;
  /** False for `Refer-Sub: false`: no NOTIFYs follow (RFC 4488). */
  readonly isReported: boolean;
  accepted: boolean;
}

const MAX_OPEN = 4;
/** Expiry of the subscription in seconds. */
export const EXPIRES_S = 180;
const SIPFRAG = 'message/sipfrag;version=2.0';

export class Refers {
  readonly #session: ReferredSession;
  #open: Map<number, Open> | undefined;
  #lastId = 0;
  #isFirst = true;

  constructor(session: ReferredSession) {
    this.#session = session;
  }

  /** `notifier` is the dialog of an out-of-dialog REFER; default: the session. */
  receive(
    request: SipRequest,
    transaction: TransactionId,
    notifier: ReferNotifier = this.#session,
  ): void {
    const target = targetOf(request);
    if (target === undefined) notifier.reply(transaction, request, 400, { reason: 'Bad Refer-To' });
    else if (!this.#session.isConfirmed || !isCall(target))
      notifier.reply(transaction, request, 403);
    else if ((this.#open?.size ?? 0) >= MAX_OPEN) notifier.reply(transaction, request, 491);
    else this.#begin(request, { transaction, target, notifier });
  }

  /** Answers a REFER with 202 or a failure status. */
  answer(id: number, status: number): void {
    const open = this.#open?.get(id);
    if (open === undefined || open.accepted) return;
    const { transaction, request, isReported, notifier } = open;
    if (status >= 300) {
      this.#open?.delete(id);
      notifier.reply(transaction, request, status);
      return;
    }
    open.accepted = true;
    if (isReported) notifier.accepted?.();
    const headers: HeaderInit = [
      ['Contact', notifier.route.contact],
      ...(isReported ? [] : ([['Refer-Sub', 'false']] as const)),
    ];
    notifier.reply(transaction, request, 202, { headers });
    this.notify(id, 100);
  }

  /** Reports the response of the called party; a final status ends the subscription. */
  notify(id: number, status: number): void {
    const open = this.#open?.get(id);
    if (open?.accepted !== true) return;
    const isOver = status >= 200;
    if (isOver) this.#open?.delete(id);
    const { notifier, event } = open;
    if (!open.isReported || notifier.isOver) return;
    const state = isOver ? 'terminated;reason=noresource' : `active;expires=${EXPIRES_S}`;
    sendNotify(notifier.route, { event, state, status });
    if (isOver) notifier.reported?.();
    else notifier.extended?.();
  }

  /** Ends the separate subscriptions, because the outcomes are reported to the session's leg only. */
  sessionEnded(): void {
    for (const { notifier } of this.#open?.values() ?? []) notifier.sessionEnded?.();
  }

  #begin(
    request: SipRequest,
    {
      transaction,
      target,
      notifier,
    }: Pick<Open, 'transaction' | 'notifier'> & { target: NameAddr },
  ): void {
    this.#lastId += 1;
    const id = this.#lastId;
    const isReported = request.header('refer-sub')?.trim().toLowerCase() !== 'false';
    const event = this.#eventOf(request, notifier);
    this.#open ??= new Map();
    this.#open.set(id, { notifier, event, request, transaction, isReported, accepted: false });
    const { uri } = target;
    this.#session.referred({
      id,
      to: formatUri(uri.kind === 'sip' ? { ...uri, headers: '' } : uri),
      replaces: replacedDialog(uri),
      referredBy: request.header('referred-by'),
    });
  }

  /** Value of Event. In a session, further REFERs are identified by their CSeq (RFC 3515 §2.4.6). */
  #eventOf(request: SipRequest, notifier: ReferNotifier): string {
    const isFirst = this.#isFirst || notifier !== this.#session;
    if (notifier === this.#session) this.#isFirst = false;
    return isFirst ? 'refer' : `refer;id=${request.cseq.sequence}`;
  }
}

export function sendNotify(
  route: PeerRoute,
  notify: { readonly event: string; readonly state: string; readonly status: number },
): void {
  const { event, state, status } = notify;
  const headers: HeaderInit = [
    ['Contact', route.contact],
    ['Event', event],
    ['Subscription-State', state],
    ['Content-Type', SIPFRAG],
  ];
  const body = `SIP/2.0 ${status} ${reasonPhrase(status)}\r\n`;
  route.send('NOTIFY', { headers, body }, { response: noOperation, failed: noOperation });
}

function targetOf(request: SipRequest): NameAddr | undefined {
  const values = request.headers('refer-to');
  return values.length === 1 ? parseNameAddr(values[0] ?? '') : undefined;
}

/** Returns whether the REFER requests an INVITE. Other methods are refused, which RFC 3515 §2.4.3 allows. */
const isCall = ({ uri }: NameAddr): boolean =>
  uri.kind === 'tel' ||
  (uri.kind === 'sip' && (uri.params.get('method') ?? 'INVITE').toUpperCase() === 'INVITE');

/** Session in which the REFER is sent. */
interface ReferringSession extends Replier {
  readonly route: PeerRoute;
  readonly isConfirmed: boolean;
  readonly isOver: boolean;
  stepped(step: ReferStep): void;
  expire(status: number): void;
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
      ['Referred-By', `<sip:${by}@${bracketed(this.#core.options.publicHost)}>`],
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
