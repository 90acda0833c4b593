import { ClientAuth } from '../auth/client-auth.ts';
import type { UserAgentCore } from '../dialog/core.ts';
import { OutgoingRequest } from '../dialog/outgoing-request.ts';
import type { Cancel } from '../dialog/pending.ts';
import type { Peer } from '../dialog/public-hosts.ts';
import { formatCSeq, MAX_CSEQ } from '../header/cseq.ts';
import { parseNameAddr } from '../header/name-addr.ts';
import { retryAfterMs } from '../header/retry-after.ts';
import { parseDeltaSeconds } from '../header/values.ts';
import { createRequest, type HeaderInit, type SipRequest, type SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import { isReliable, type SipTransportName } from '../types.ts';
import { formatUri, parseUri, unescapeUser } from '../uri.ts';
import type { RegisterCommand } from '../user-agent-types.ts';

const MS_PER_SECOND = 1000;
/** First and longest delay after a failure in seconds, doubled in between (RFC 5626 §4.5). */
const FIRST_RETRY_S = 30;
const LAST_RETRY_S = 1800;
/** Maximum number of immediate retries after a 423; more wait like those after other failures. */
const MAX_INTERVAL_RETRIES = 2;
/** Time before expiry at which a binding is refreshed, in seconds. Short bindings are refreshed at nine tenths. */
const REFRESH_MARGIN_S = 30;
/** Status code of RFC 5626 §11.6. */
const FIRST_HOP_LACKS_OUTBOUND = 439;
const OUTBOUND: HeaderInit = [['Supported', 'path, outbound']];
const MAX_SERVICE_ROUTES = 10;
/** Ping interval in seconds, and its minimum share in per cent (RFC 5626 §4.4.1). */
const PING_S = 120;
const LEAST_PING_S = 10;
const SPREAD_FROM = 80;
const SPREAD = 20;

/** Keeps one of our addresses of record registered with an external registrar (RFC 3261 §10.2). */
export class RegistrationClient {
  readonly #core: UserAgentCore;
  readonly #command: RegisterCommand;
  readonly #auth: ClientAuth;
  readonly #callId: string;
  #expires: number;
  #sequence = 0;
  #failures = 0;
  /** Immediate retries since the last registration. */
  #intervalRetries = 0;
  #leaving = false;
  #isRefusedAsFlow = false;
  #cancelTimer: Cancel = () => undefined;
  #flow: Flow | undefined;
  #outgoing: OutgoingRequest | undefined;

  constructor(core: UserAgentCore, command: RegisterCommand) {
    this.#core = core;
    this.#command = command;
    this.#auth = new ClientAuth(command.account, core.options.random);
    this.#callId = core.newToken();
    this.#expires = command.expires;
  }

  start(): void {
    this.#send(this.#expires);
  }

  leave(): void {
    this.#leaving = true;
    this.#cancelTimer();
    // A challenge to an earlier REGISTER would register again, after the removal.
    this.#outgoing?.abandon();
    this.#send(0);
  }

  /** Registers again immediately after the connection of the binding has closed. */
  connectionLost(connectionId: number): void {
    if (this.#leaving || this.#flow?.connectionId !== connectionId) return;
    this.#flow = undefined;
    this.#again(1);
  }

  #send(expires: number): void {
    const { aor, registrar, transport } = this.#command;
    const outgoing = new OutgoingRequest(this.#core, {
      request: this.#request(aor, registrar, expires),
      destination: { kind: 'uri', uri: registrar, transport, viaEdges: true },
      auth: this.#auth,
      isConfigured: true,
      nextSequence: () => this.#nextSequence(),
      user: {
        response: (response, flow) => this.#answered(response, flow, expires),
        failed: () => this.#failed(undefined),
      },
    });
    this.#outgoing = outgoing;
    outgoing.start();
  }

  #request(aor: string, registrar: string, expires: number): SipRequest {
    const uri = parseUri(registrar);
    const requestUri =
      uri?.kind === 'sip' ? formatUri({ ...uri, user: '', headers: '' }) : registrar;
    const transport = this.#command.transport ?? 'udp';
    return createRequest({
      method: 'REGISTER',
      requestUri,
      headers: [
        ['Max-Forwards', '70'],
        ['From', `<${aor}>;tag=${this.#core.newToken()}`],
        ['To', `<${aor}>`],
        ['Call-ID', this.#callId],
        ['CSeq', formatCSeq(this.#nextSequence(), 'REGISTER')],
        ['Contact', `${this.#contact({ transport })}${this.#flowParams(transport)}`],
        ...(this.#flowParams(transport) === '' ? [] : OUTBOUND),
        ['Expires', String(expires)],
        ['User-Agent', this.#core.options.userAgent],
      ],
    });
  }

  #answered(response: SipResponse, flow: Flow, expires: number): void {
    const { status } = response;
    if (status < 200) return;
    if (expires === 0) {
      this.#core.serviceRoutes.delete(this.#command.registrar);
      this.#notify('removed', status, undefined);
      return;
    }
    if (this.#leaving) return;
    if (status === FIRST_HOP_LACKS_OUTBOUND && !this.#isRefusedAsFlow) {
      this.#isRefusedAsFlow = true;
      this.#send(expires);
      return;
    }
    if (status === 423 && this.#raise(response)) {
      this.#send(this.#expires);
      return;
    }
    if (status >= 300) {
      this.#failed(status, retryAfterMs(response));
      return;
    }
    const granted = grantedSeconds(response, this.#contact(flow)) ?? expires;
    // The registrar has removed the binding, or never stored it.
    if (granted === 0) {
      this.#failed(status);
      return;
    }
    this.#failures = 0;
    this.#intervalRetries = 0;
    this.#flow = flow;
    this.#noteRoute(response);
    this.#keepAlive(response, flow);
    const againIn = Math.max(
      1,
      Math.floor(Math.max(granted * 0.5, Math.min(granted * 0.9, granted - REFRESH_MARGIN_S))),
    );
    this.#notify('registered', status, againIn);
    this.#again(againIn);
  }

  #contact(flow: Peer): string {
    const aor = parseUri(this.#command.aor);
    const user = aor?.kind === 'sip' ? unescapeUser(aor.user) : '';
    return this.#core.contact(flow, user === '' ? {} : { user });
  }

  /** Contact parameters of an outbound flow, for transports whose failure is detected (RFC 5626 §4.2). */
  #flowParams(transport: SipTransportName): string {
    const { instanceId } = this.#core.options;
    if (instanceId === undefined || this.#isRefusedAsFlow || !isReliable(transport)) return '';
    return `;+sip.instance="<${instanceId}>";reg-id=1`;
  }

  #noteRoute(response: SipResponse): void {
    const hops = response.list('service-route').map(parseNameAddr);
    const routes = hops.filter((hop) => hop !== undefined).slice(0, MAX_SERVICE_ROUTES);
    const { registrar } = this.#command;
    if (routes.length === 0) this.#core.serviceRoutes.delete(registrar);
    else this.#core.serviceRoutes.set(registrar, routes);
  }

  #keepAlive(response: SipResponse, { transport, connectionId }: Flow): void {
    const isStream = transport === 'tcp' || transport === 'tls';
    const requested = parseDeltaSeconds(response.header('flow-timer') ?? '');
    const isFlow = response.tokens('require').includes('outbound') || requested !== undefined;
    if (!isFlow || !isStream || connectionId === undefined) return;
    const everyS = Math.max(LEAST_PING_S, Math.min(requested ?? PING_S, PING_S));
    // Use 80 to 100 % of the interval, so that pings of all flows are spread (§4.4.1).
    const share = (SPREAD_FROM + this.#core.options.random.integer(SPREAD + 1)) / 100;
    this.#core.emit({ kind: 'keepAlive', connectionId, everyMs: everyS * share * MS_PER_SECOND });
  }

  /** Applies the Min-Expires of a 423. Returns true if the REGISTER may be repeated immediately. */
  #raise(response: SipResponse): boolean {
    const least = parseDeltaSeconds(response.header('min-expires') ?? '');
    if (least === undefined || least <= this.#expires) return false;
    this.#expires = least;
    this.#intervalRetries += 1;
    return this.#intervalRetries <= MAX_INTERVAL_RETRIES;
  }

  /** `restMs` is the Retry-After of a 503: the registrar accepts no requests for that time (RFC 3261 §21.5.4). */
  #failed(status: number | undefined, restMs = 0): void {
    if (this.#leaving) {
      this.#notify('removed', status, undefined);
      return;
    }
    const restS = Math.ceil(restMs / MS_PER_SECOND);
    const againIn = Math.min(Math.max(FIRST_RETRY_S * 2 ** this.#failures, restS), LAST_RETRY_S);
    this.#failures += 1;
    this.#notify('failed', status, againIn);
    this.#again(againIn);
  }

  #again(seconds: number): void {
    this.#cancelTimer();
    const dueMs = this.#core.nowMs + seconds * MS_PER_SECOND;
    this.#cancelTimer = this.#core.dialogTimers.at(dueMs, () => this.#send(this.#expires));
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence % MAX_CSEQ) + 1;
    return this.#sequence;
  }

  #notify(
    state: 'registered' | 'failed' | 'removed',
    status: number | undefined,
    againIn: number | undefined,
  ): void {
    const { registration } = this.#command;
    this.#core.emit({ kind: 'registration', registration, state, status, againIn });
  }
}

/** Minimum delay in seconds that the contact of another device can cause. */
const LEAST_OF_OTHERS_S = 30;

/**
 * Expiry granted to our contact in seconds. The response may contain other contacts of the user. If the registrar has
 * rewritten ours, for example with the address that NAT gave it, the earliest expiry counts: any contact may be ours.
 */
function grantedSeconds(response: SipResponse, ownContact: string): number | undefined {
  const { contacts } = response;
  if (contacts === undefined || contacts === '*') return response.expires;
  const own = contacts.find((contact) => `<${formatUri(contact.uri)}>` === ownContact);
  const granted = (own === undefined ? contacts : [own]).flatMap(
    ({ params }) => parseDeltaSeconds(params.get('expires') ?? '') ?? [],
  );
  if (granted.length < 2) return granted[0] ?? response.expires;
  const current = granted.filter((seconds) => seconds > 0);
  const longest = Math.max(0, ...current);
  return Math.max(Math.min(...current, longest), Math.min(longest, LEAST_OF_OTHERS_S));
}
