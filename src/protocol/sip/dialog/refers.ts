/** Requests of the peer to call somebody else for it (RFC 3515), and the truth about what came of them. */
import { type NameAddr, parseNameAddr } from '../header/name-addr.ts';
import type { HeaderInit, ResponseParts, SipRequest } from '../message.ts';
import { reasonPhrase } from '../reason-phrase.ts';
import type { TransactionId } from '../transaction/types.ts';
import { formatUri } from '../uri.ts';
import type { ReferFacts } from '../user-agent-types.ts';
import type { PeerRoute } from './peer-route.ts';
import { parseReplaces } from './replaces.ts';

/** The session that the requests are made in. */
interface ReferredSession {
  readonly route: PeerRoute;
  readonly isConfirmed: boolean;
  referred(refer: ReferFacts): void;
  reply(
    transaction: TransactionId,
    request: SipRequest,
    status: number,
    parts?: ResponseParts,
  ): void;
}

interface Open {
  readonly request: SipRequest;
  readonly transaction: TransactionId;
  /** False: `Refer-Sub: false`, nothing is told afterwards (RFC 4488). */
  readonly isTold: boolean;
  accepted: boolean;
}

const MAX_OPEN = 4;
/** Seconds that we say it may take. */
const EXPIRES_S = 180;
const SIPFRAG = 'message/sipfrag;version=2.0';

export class Refers {
  readonly #session: ReferredSession;
  /** By CSeq of the REFER, which is their id in Event (RFC 3515 §2.4.6). */
  readonly #open = new Map<number, Open>();
  #isFirst = true;
  #first: number | undefined;

  constructor(session: ReferredSession) {
    this.#session = session;
  }

  receive(request: SipRequest, transaction: TransactionId): void {
    const session = this.#session;
    const target = targetOf(request);
    if (target === undefined) session.reply(transaction, request, 400, { reason: 'Bad Refer-To' });
    else if (!session.isConfirmed || !isCall(target)) session.reply(transaction, request, 403);
    else if (this.#open.size >= MAX_OPEN) session.reply(transaction, request, 491);
    else this.#begin(request, transaction, target);
  }

  /** 202, or why not. */
  answer(id: number, status: number): void {
    const open = this.#open.get(id);
    if (open === undefined || open.accepted) return;
    const { transaction, request, isTold } = open;
    if (status >= 300) {
      this.#open.delete(id);
      this.#session.reply(transaction, request, status);
      return;
    }
    open.accepted = true;
    const headers: HeaderInit = [
      ['Contact', this.#session.route.contact],
      ...(isTold ? [] : ([['Refer-Sub', 'false']] as const)),
    ];
    this.#session.reply(transaction, request, 202, { headers });
    this.notify(id, 100);
  }

  /** What the called party has answered so far; a final status ends it. */
  notify(id: number, status: number): void {
    const open = this.#open.get(id);
    if (open?.accepted !== true) return;
    const isOver = status >= 200;
    if (isOver) this.#open.delete(id);
    if (!open.isTold) return;
    const state = isOver ? 'terminated;reason=noresource' : `active;expires=${EXPIRES_S}`;
    const headers: HeaderInit = [
      ['Contact', this.#session.route.contact],
      ['Event', id === this.#first ? 'refer' : `refer;id=${id}`],
      ['Subscription-State', state],
      ['Content-Type', SIPFRAG],
    ];
    const body = `SIP/2.0 ${status} ${reasonPhrase(status)}\r\n`;
    const nothing = { response: () => undefined, failed: () => undefined };
    this.#session.route.send('NOTIFY', { headers, body }, nothing);
  }

  #begin(request: SipRequest, transaction: TransactionId, target: NameAddr): void {
    const id = request.cseq.sequence;
    if (this.#isFirst) this.#first = id;
    this.#isFirst = false;
    const isTold = request.header('refer-sub')?.trim().toLowerCase() !== 'false';
    this.#open.set(id, { request, transaction, isTold, accepted: false });
    const { uri } = target;
    this.#session.referred({
      id,
      to: formatUri(uri.kind === 'sip' ? { ...uri, headers: '' } : uri),
      replaces: replacedDialog(uri),
      referredBy: request.header('referred-by'),
    });
  }
}

function targetOf(request: SipRequest): NameAddr | undefined {
  const values = request.headers('refer-to');
  return values.length === 1 ? parseNameAddr(values[0] ?? '') : undefined;
}

/** Other methods than INVITE are not sent for anybody (RFC 3515 §2.4.3 leaves it to us). */
const isCall = ({ uri }: NameAddr): boolean =>
  uri.kind === 'tel' ||
  (uri.kind === 'sip' && (uri.params.get('method') ?? 'INVITE').toUpperCase() === 'INVITE');

/** The dialog of ours that a Replaces in the URI names (RFC 3891 §3), as the dialogs are kept. */
function replacedDialog(uri: NameAddr['uri']): string | undefined {
  if (uri.kind !== 'sip') return undefined;
  const field = uri.headers.split('&').find((pair) => /^replaces=/i.test(pair));
  if (field === undefined) return undefined;
  // A dialog that is not named right is none that there is.
  return parseReplaces(decoded(field.slice('replaces='.length)))?.dialog ?? '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
