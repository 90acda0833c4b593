/** Handles REFER requests of the peer (RFC 3515) and reports the actual outcome of the referred calls. */
import { type NameAddr, parseNameAddr } from '../header/name-addr.ts';
import type { HeaderInit, ResponseParts, SipRequest } from '../message.ts';
import { reasonPhrase } from '../reason-phrase.ts';
import type { TransactionId } from '../transaction/types.ts';
import { formatUri } from '../uri.ts';
import type { ReferFacts } from '../user-agent-types.ts';
import type { PeerRoute } from './peer-route.ts';
import { parseReplaces } from './replaces.ts';

/** Dialog in which a REFER is answered and notified: its session, or a separate dialog. */
export interface ReferNotifier {
  readonly route: PeerRoute;
  /** True if no further NOTIFY is wanted. */
  readonly isOver: boolean;
  accepted?(): void;
  /** Called after the last NOTIFY. */
  reported?(): void;
  reply(
    transaction: TransactionId,
    request: SipRequest,
    status: number,
    parts?: ResponseParts,
  ): void;
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
const EXPIRES_S = 180;
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
    const headers: HeaderInit = [
      ['Contact', notifier.route.contact],
      ['Event', event],
      ['Subscription-State', state],
      ['Content-Type', SIPFRAG],
    ];
    const body = `SIP/2.0 ${status} ${reasonPhrase(status)}\r\n`;
    const nothing = { response: () => undefined, failed: () => undefined };
    notifier.route.send('NOTIFY', { headers, body }, nothing);
    if (isOver) notifier.reported?.();
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

function targetOf(request: SipRequest): NameAddr | undefined {
  const values = request.headers('refer-to');
  return values.length === 1 ? parseNameAddr(values[0] ?? '') : undefined;
}

/** Returns whether the REFER requests an INVITE. Other methods are refused, which RFC 3515 §2.4.3 allows. */
const isCall = ({ uri }: NameAddr): boolean =>
  uri.kind === 'tel' ||
  (uri.kind === 'sip' && (uri.params.get('method') ?? 'INVITE').toUpperCase() === 'INVITE');

/** Key of the local dialog named by a Replaces in the URI (RFC 3891 §3). */
function replacedDialog(uri: NameAddr['uri']): string | undefined {
  if (uri.kind !== 'sip') return undefined;
  const field = uri.headers.split('&').find((pair) => /^replaces=/i.test(pair));
  if (field === undefined) return undefined;
  // An invalid value yields a key that no dialog has.
  return parseReplaces(decoded(field.slice('replaces='.length)))?.dialog ?? '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
