import { formatCSeq, MAX_CSEQ } from '../header/cseq.ts';
import { formatNameAddr, type NameAddr } from '../header/name-addr.ts';
import { retryAfterMs } from '../header/retry-after.ts';
import { withParam } from '../header/text.ts';
import { createRequest, type HeaderInit, type SipRequest, type SipResponse } from '../message.ts';
import { formatUri, type Uri } from '../uri.ts';
import type {
  DestinationGuard,
  HangupCommand,
  LegEndFacts,
  LegId,
  ReferFacts,
} from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';

/** Dialog state of RFC 3261 §12. */
interface DialogState {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** From and To values of our requests, with tags. */
  readonly local: string;
  readonly remote: string;
  routeSet: readonly NameAddr[];
  readonly secure: boolean;
  remoteTarget: string;
  localSequence: number;
  remoteSequence: number | undefined;
}

const MAX_FORWARDS = ['Max-Forwards', '70'] as const;

export interface DialogRequestParts {
  readonly headers?: HeaderInit;
  readonly body?: Uint8Array | string | undefined;
  /** CSeq number. ACK and CANCEL carry that of their INVITE; other requests use the next one. */
  readonly sequence?: number;
}

/** A request without Via, and the URI of its next hop (§8.1.2). */
export interface RoutedRequest {
  readonly request: SipRequest;
  readonly nextHop: string;
}

/** Fields of our request that start the dialog. */
export interface Asked {
  readonly callId: string;
  readonly localTag: string;
  /** From value of our request. */
  readonly local: string;
  readonly secure: boolean;
  readonly requestUri: string;
  readonly sequence: number;
}

export const askedBy = (request: SipRequest): Asked => ({
  callId: request.callId,
  localTag: request.from.tag ?? '',
  local: formatNameAddr(request.from),
  secure: isSips(request.uri),
  requestUri: request.requestUri,
  sequence: request.cseq.sequence,
});

export const dialogId = (callId: string, localTag: string, remoteTag: string): string =>
  `${callId}\n${localTag}\n${remoteTag}`;

/** A dialog between two user agents (RFC 3261 §12): identity, CSeq order, route set and remote target. */
export class Dialog {
  readonly #state: DialogState;

  private constructor(state: DialogState) {
    this.#state = state;
  }

  /** Creates the callee's side (§12.1.1). The request must be validated and contain a Contact. */
  static fromRequest(request: SipRequest, localTag: string, firstSequence: number): Dialog {
    return new Dialog({
      callId: request.callId,
      localTag,
      remoteTag: request.from.tag ?? '',
      local: formatNameAddr({ ...request.to, tag: localTag }),
      remote: formatNameAddr(request.from),
      routeSet: request.recordRoute ?? [],
      secure: isSips(request.uri) || isSips((request.recordRoute?.[0] ?? request.contact)?.uri),
      remoteTarget: asRequestUri(request.contact?.uri ?? request.from.uri),
      localSequence: firstSequence,
      remoteSequence: request.cseq.sequence,
    });
  }

  /** Creates the caller's side from a provisional or final response with a To tag (§12.1.2). */
  static fromResponse(requested: Asked, response: SipResponse): Dialog {
    const { callId, localTag, local, secure, requestUri, sequence } = requested;
    return new Dialog({
      callId,
      localTag,
      local,
      secure,
      remoteTag: response.to.tag ?? '',
      remote: formatNameAddr(response.to),
      routeSet: (response.recordRoute ?? []).toReversed(),
      remoteTarget: response.contact ? asRequestUri(response.contact.uri) : requestUri,
      localSequence: sequence,
      remoteSequence: undefined,
    });
  }

  get id(): string {
    return dialogId(this.#state.callId, this.#state.localTag, this.#state.remoteTag);
  }

  get callId(): string {
    return this.#state.callId;
  }

  get localTag(): string {
    return this.#state.localTag;
  }

  get remoteTag(): string {
    return this.#state.remoteTag;
  }

  get remoteTarget(): string {
    return this.#state.remoteTarget;
  }

  /**
   * True if the dialog started with `sips:` URIs. Our Contact then is `sips:`, and all requests use TLS (RFC 3261
   * §12.1, RFC 5630 §3.1.4).
   */
  get isSecure(): boolean {
    return this.#state.secure;
  }

  /** True if proxies added Record-Route. Requests then follow the route set, regardless of the flow. */
  get hasRouteSet(): boolean {
    return this.#state.routeSet.length > 0;
  }

  /** Builds a request inside the dialog (§12.2.1.1). It uses the next CSeq unless one is given. */
  request(method: string, parts: DialogRequestParts = {}): RoutedRequest {
    const state = this.#state;
    const sequence = parts.sequence ?? this.takeSequence();
    const { requestUri, routes, nextHop } = routed(state.routeSet, state.remoteTarget);
    const own: HeaderInit = [
      MAX_FORWARDS,
      ['From', state.local],
      ['To', state.remote],
      ['Call-ID', state.callId],
      ['CSeq', formatCSeq(sequence, method)],
    ];
    const route: HeaderInit = routes.map((hop) => ['Route', hop]);
    const headers = route.concat(own, parts.headers ?? []);
    const request = createRequest({ method, requestUri, headers, body: parts.body });
    return { request, nextHop };
  }

  /** Returns and reserves the next local CSeq. */
  takeSequence(): number {
    const state = this.#state;
    state.localSequence = (state.localSequence % MAX_CSEQ) + 1;
    return state.localSequence;
  }

  /** Records the CSeq of a peer's request. Returns false if it is out of order; answer 500 (§12.2.2). */
  receive(request: SipRequest): boolean {
    const { sequence } = request.cseq;
    const { remoteSequence } = this.#state;
    if (remoteSequence !== undefined && sequence <= remoteSequence) return false;
    this.#state.remoteSequence = sequence;
    return true;
  }

  /** Target refresh (§12.2): INVITE and UPDATE and their 2xx update the peer's contact, never the route set. */
  refreshTarget(message: SipRequest | SipResponse): void {
    const { contact } = message;
    if (contact !== undefined && contact.uri.kind === 'sip') {
      this.#state.remoteTarget = asRequestUri(contact.uri);
    }
  }

  /** Sets the route set from the 2xx, if provisional responses left it open (§13.2.2.4). */
  settleRoute(response: SipResponse): void {
    this.#state.routeSet = (response.recordRoute ?? []).toReversed();
    this.refreshTarget(response);
  }
}

/** Text of a URI as Request-URI, which has no method parameter and no headers (§19.1.1). */
function asRequestUri(uri: Uri): string {
  if (uri.kind !== 'sip' || (uri.headers === '' && !uri.params.has('method')))
    return formatUri(uri);
  return formatUri({ ...uri, params: withParam(uri.params, 'method', undefined), headers: '' });
}

const isSips = (uri: Uri | undefined): boolean => uri?.kind === 'sip' && uri.secure;

/**
 * Builds Request-URI and Route from a route set. If the first proxy is a strict router (no `lr`), it becomes the
 * Request-URI and the target becomes the last route (§12.2.1.1).
 */
export function routed(
  routeSet: readonly NameAddr[],
  target: string,
): { readonly requestUri: string; readonly routes: readonly string[]; readonly nextHop: string } {
  if (routeSet.length === 0) return { requestUri: target, routes: [], nextHop: target };
  const [first, ...rest] = routeSet as readonly [NameAddr, ...NameAddr[]];
  const firstUri = formatUri(first.uri);
  if (first.uri.kind === 'sip' && !first.uri.params.has('lr')) {
    const requestUri = asRequestUri(first.uri);
    const routes = [...rest.map((route) => formatNameAddr(route)), `<${target}>`];
    return { requestUri, routes, nextHop: firstUri };
  }
  return {
    requestUri: target,
    routes: routeSet.map((route) => formatNameAddr(route)),
    nextHop: firstUri,
  };
}

/** Finds the local dialog named in a Replaces header field (RFC 3891). */

interface Replaces {
  /** Dialog key in the local format. */
  readonly dialog: string;
  /** Same key with the two tags exchanged. */
  readonly turned: string;
  readonly earlyOnly: boolean;
}

function parseNamed(text: string) {
  const [callId = '', ...params] = text.split(';').map((part) => part.trim());
  const named = (name: string): string | undefined =>
    params.find((param) => param.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
  return { callId, params, named };
}

/** Key of the dialog in Target-Dialog. The sender's local tag is our remote tag (RFC 4538 §7). */
export function targetDialog(request: SipRequest): string | undefined {
  const { callId, named } = parseNamed(request.header('target-dialog') ?? '');
  const [theirs, ours] = [named('local-tag'), named('remote-tag')];
  return callId === '' || !theirs || !ours ? undefined : dialogId(callId, ours, theirs);
}

/** Returns undefined if the value is malformed. */
function parseReplaces(text: string): Replaces | undefined {
  const { callId, params, named } = parseNamed(text);
  const [to, from] = [named('to-tag'), named('from-tag')];
  if (callId === '' || !to || !from) return undefined;
  const earlyOnly = params.some((param) => param.toLowerCase() === 'early-only');
  return { dialog: dialogId(callId, to, from), turned: dialogId(callId, from, to), earlyOnly };
}

/** Key of the local dialog named by a Replaces in the URI (RFC 3891 §3). */
export function replacedDialog(uri: NameAddr['uri']): string | undefined {
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

/** Leg of the dialog that a REFER names in Replaces (RFC 3891 §3). */
export const replacedLeg = (
  core: UserAgentCore,
  { replaces }: Pick<ReferFacts, 'replaces'>,
): LegId | undefined => (replaces === undefined ? undefined : core.dialogs.get(replaces)?.leg);

/** Leg to be replaced by a new INVITE, or the status that refuses it (§3). Undefined without Replaces. */
export function replacedBy(
  core: UserAgentCore,
  request: SipRequest,
): { readonly leg: LegId } | { readonly status: number } | undefined {
  const [text, ...more] = request.headers('replaces');
  if (text === undefined) return undefined;
  const replaces = more.length > 0 ? undefined : parseReplaces(text);
  if (replaces === undefined) return { status: 400 };
  // Dialog events show the phone's tag as local (RFC 4235 §4.1.1). Phones disagree on whether that is the to-tag or the
  // from-tag of Replaces, so both orders are accepted.
  const found = core.dialogs.get(replaces.dialog) ?? core.dialogs.get(replaces.turned);
  if (found?.leg === undefined || found.stage === undefined) return { status: 481 };
  switch (found.stage) {
    case 'over':
      return { status: 603 };
    case 'confirmed':
      return replaces.earlyOnly ? { status: 486 } : { leg: found.leg };
    case 'early':
      return { leg: found.leg };
    case 'asked':
      // The dialog is an unanswered INVITE from another peer.
      return { status: 481 };
  }
}

export interface ReferRequest {
  /** SIP or tel URI of the target. */
  readonly to: string;
  /** User part of Referred-By, at our public host (RFC 3892). */
  readonly by: string;
  /** Guard that checks the location of `to` before the REFER is sent. Undefined allows any location. */
  readonly guard: DestinationGuard | undefined;
}

/** One call leg, inbound or outbound, and the commands that it accepts. */
export interface Leg {
  hangup(command: HangupCommand): void;
  sendDigit(digit: string, durationMs: number): void;
  answerOffer(sdp: string | undefined): void;
  /** Answers a REFER of the peer; later calls report the progress of the referred call. */
  answerRefer(id: number, status: number): void;
  notifyRefer(id: number, status: number): void;
  /** Sends a REFER to the peer. `referStep` reports its progress until `forget` is called. */
  refer(refer: ReferRequest): void;
  forgetRefer(): void;
}

export const reasonHeaders = (reason: string | undefined): HeaderInit =>
  reason === undefined ? [] : [['Reason', reason]];

/** Maximum number of alternatives tried from a redirection. */
const MAX_CONTACTS = 4;

/** End of a leg caused by a final failure response. The reason is the peer's text (RFC 3326 if given). */
export const refusedBy = (response: SipResponse): LegEndFacts => ({
  by: 'remote',
  how: 'refused',
  status: response.status,
  reason: response.header('reason') ?? response.reason,
  ...resting(retryAfterMs(response)),
  ...alternatives(response),
});

const resting = (ms: number | undefined): { readonly retryAfterMs?: number } =>
  ms === undefined ? {} : { retryAfterMs: ms };

/** Contacts of a 3xx, ordered by q (RFC 3261 §8.1.3.4). */
function alternatives({ status, contacts }: SipResponse): {
  readonly contacts?: readonly string[];
} {
  if (status < 300 || status >= 400 || contacts === undefined || contacts === '*') return {};
  const qOf = ({ params }: NameAddr): number => Number(params.get('q') ?? 1) || 0;
  const best = [...contacts].sort((a, b) => qOf(b) - qOf(a)).slice(0, MAX_CONTACTS);
  return { contacts: best.map(({ uri }) => asRequestUri(uri)) };
}

export const cancelledBy = (cancel: SipRequest): LegEndFacts => ({
  by: 'remote',
  how: 'cancel',
  status: 487,
  reason: cancel.header('reason'),
});

/** Failures that end the whole dialog: RFC 3261 §12.2.1.2 and RFC 5057 §5.1. */
const ENDS_DIALOG: ReadonlySet<number> = new Set([
  ...[404, 408, 410, 416, 480, 481, 482, 484, 485, 502, 604],
]);

export const endsDialog = (status: number): boolean => ENDS_DIALOG.has(status);
