import { formatCSeq, MAX_CSEQ } from '../header/cseq.ts';
import { formatNameAddr, type NameAddr } from '../header/name-addr.ts';
import { withParam } from '../header/text.ts';
import { createRequest, type HeaderInit, type SipRequest, type SipResponse } from '../message.ts';
import { formatUri, type Uri } from '../uri.ts';

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
      remoteTarget: formatUri(request.contact?.uri ?? request.from.uri),
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
      remoteTarget: response.contact ? formatUri(response.contact.uri) : requestUri,
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
      this.#state.remoteTarget = formatUri(contact.uri);
    }
  }

  /** Sets the route set from the 2xx, if provisional responses left it open (§13.2.2.4). */
  settleRoute(response: SipResponse): void {
    this.#state.routeSet = (response.recordRoute ?? []).toReversed();
    this.refreshTarget(response);
  }
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
    const requestUri = formatUri({
      ...first.uri,
      params: withParam(first.uri.params, 'method', undefined),
      headers: '',
    });
    const routes = [...rest.map((route) => formatNameAddr(route)), `<${target}>`];
    return { requestUri, routes, nextHop: firstUri };
  }
  return {
    requestUri: target,
    routes: routeSet.map((route) => formatNameAddr(route)),
    nextHop: firstUri,
  };
}
