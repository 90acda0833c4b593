import type { UserAgentCore } from '../dialog/core.ts';
import { Questions } from '../dialog/pending.ts';
import { parseAuth } from '../header/auth.ts';
import type { SipRequest } from '../message.ts';
import type { StatelessAnswer } from '../transaction/stateless.ts';
import type { TransactionId } from '../transaction/types.ts';
import { type Flow, peerOf } from '../transport/flow.ts';
import { isWebSocket } from '../types.ts';
import { parseUri, unescapeUser } from '../uri.ts';
import type { Admitted, SecretAnswer, TemporaryLogin, UserSecrets } from '../user-agent-types.ts';
import {
  type CountAnswer,
  countOf,
  DigestAuthenticator,
  type DigestVerdict,
  type Ha1ByAlgorithm,
} from './authenticator.ts';
import { type DigestCredentials, readDigestCredentials } from './credentials.ts';
import { LockOut } from './lock-out.ts';
import { NonceMint, type SharedNonces } from './nonce.ts';

/** A request to be authenticated. */
export interface GatedRequest {
  readonly request: SipRequest;
  readonly transaction: TransactionId;
  readonly flow: Flow;
}

const MS_PER_SECOND = 1000;
const TRY_LATER_S = '10';
/** User name under which failures with tokens are counted; it is not a valid user name. */
const BEARER = 'Bearer';
const BEARER_TOKEN = /^bearer +([\w.~+/=-]{1,4096})$/i;

/**
 * Admits requests with a valid password of this realm and answers all others (RFC 3261 §22.2). It sends 401 with
 * challenges, 400 for credentials of another request, and 403 or 503 after too many failures. A request without a valid
 * nonce is answered statelessly. An unknown user and a wrong password get the same response.
 */
export class Gate {
  readonly #core: UserAgentCore;
  readonly #authenticator: DigestAuthenticator;
  readonly #realm: string;
  readonly #lockOut: LockOut;
  readonly #finding: Questions<SecretAnswer>;
  readonly #counting: Questions<CountAnswer>;
  /**
   * Cache of the last parsed credentials: one request is checked by the admission filter, statelessly, and with its
   * password.
   */
  #lastRead: {
    readonly authorization: string;
    readonly credentials: DigestCredentials | undefined;
  } = { authorization: '', credentials: undefined };

  constructor(core: UserAgentCore, realm: string) {
    const { random, nonces, nonceKey, challengeOrder = 'compatible' } = core.options;
    this.#core = core;
    this.#realm = realm;
    this.#authenticator = new DigestAuthenticator(
      realm,
      new NonceMint(realm, random, nonces, nonceKey && sharedBy(nonceKey, core)),
      challengeOrder,
    );
    this.#lockOut = new LockOut(core.options.failures);
    this.#finding = new Questions(core.limits.maxWaiting);
    this.#counting = new Questions(core.limits.maxWaiting);
  }

  nonceCounted(id: number, use: CountAnswer): void {
    this.#counting.answer(id, use);
  }

  secretFound(id: number, secrets: SecretAnswer): void {
    this.#finding.answer(id, secrets);
  }

  /**
   * Stateless answer to a request: a challenge without a valid nonce for its source, or a refusal while its source is
   * locked out. Returns undefined if the password must be checked.
   */
  screenRequest(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    if (bearerOf(request, flow) !== undefined) return this.#lockedOut(flow, BEARER);
    const credentials = this.#credentials(request);
    if (credentials === undefined) return this.#challenge(request, flow, false, 'no credentials');
    if (!this.#authenticator.hasNonceOf(this.#requested(flow), credentials)) {
      return this.#challenge(request, flow, true, 'stale nonce');
    }
    return this.#lockedOut(flow, credentials.username);
  }

  #lockedOut(flow: Flow, username: string): StatelessAnswer | undefined {
    const lock = this.#lockOut.lock(flow, username, this.#core.nowMs);
    if (lock === undefined) return undefined;
    return {
      status: lock.lasting ? 403 : 503,
      headers: [['Retry-After', String(Math.ceil(lock.forMs / MS_PER_SECOND))]],
      needed: 1,
      why: 'too many failed attempts',
    };
  }

  /** Calls `passed`, possibly in a later turn. Does not call it if the request is answered here. */
  admit(gated: GatedRequest, passed: (admitted: Admitted) => void): void {
    const { request, flow } = gated;
    const refusal = this.screenRequest(request, flow);
    const token = bearerOf(request, flow);
    if (refusal === undefined && token !== undefined) {
      this.#admitBearer(gated, token, passed);
      return;
    }
    const credentials = this.#credentials(request);
    if (refusal !== undefined || credentials === undefined) {
      if (refusal !== undefined) this.#answer(gated, refusal);
      return;
    }
    const { username } = credentials;
    const id = this.#finding.ask((secrets) => {
      if (secrets === 'unavailable') {
        this.#tryLater(gated, 'user directory failed');
        return;
      }
      const verdict = this.#verify(credentials, gated, secrets);
      if (verdict !== 'ok') {
        this.#failed(gated, verdict, username);
        return;
      }
      this.#firstAnywhere(gated, credentials, () => {
        this.#lockOut.passed(flow, username);
        if (secrets !== undefined) this.#proven(gated, { username, secrets }, passed);
      });
    });
    if (id === undefined) this.#tryLater(gated, 'too many pending requests');
    else this.#core.emit({ kind: 'findSecret', id, username });
  }

  /** Calls `isFirst` if no node has used these credentials before; immediately on a single node. */
  #firstAnywhere(gated: GatedRequest, credentials: DigestCredentials, isFirst: () => void): void {
    if (this.#core.options.sharesNonceCounts !== true) {
      isFirst();
      return;
    }
    const { nonce, username } = credentials;
    const id = this.#counting.ask((use) => {
      const verdict = this.#authenticator.verdictElsewhere(use, credentials, this.#core.nowMs);
      if (verdict === 'ok') isFirst();
      else this.#failed(gated, verdict, username);
    });
    if (id === undefined) this.#tryLater(gated, 'too many pending requests');
    else this.#core.emit({ kind: 'countNonce', id, nonce, count: countOf(credentials) });
  }

  /** Authenticates a bearer token, which the directory resolves to a login (RFC 8898). */
  #admitBearer(gated: GatedRequest, token: string, passed: (admitted: Admitted) => void): void {
    const { request, flow } = gated;
    const id = this.#finding.ask((secrets) => {
      if (secrets === 'unavailable') {
        this.#tryLater(gated, 'user directory failed');
        return;
      }
      if (secrets?.login !== undefined) {
        this.#lockOut.passed(flow, BEARER);
        this.#proven(gated, { username: secrets.login.username, secrets }, passed);
        return;
      }
      this.#lockOut.failed(flow, BEARER, this.#core.nowMs);
      const challenge = this.#challenge(request, flow, false, 'wrong credentials');
      const reported = ['WWW-Authenticate', 'Bearer error="invalid_token"'] as const;
      this.#answer(gated, { ...challenge, headers: [reported, ...challenge.headers] });
    });
    if (id === undefined) this.#tryLater(gated, 'too many pending requests');
    else this.#core.emit({ kind: 'findSecret', id, username: '', token });
  }

  /** Checks the permissions of an authenticated user. */
  #proven(
    gated: GatedRequest,
    { username, secrets }: { readonly username: string; readonly secrets: UserSecrets },
    passed: (admitted: Admitted) => void,
  ): void {
    const { request, flow } = gated;
    if (secrets.inactive) {
      this.#refuse(gated, 403, 'account is not active', {});
      return;
    }
    const { login } = secrets;
    const barred = login && barredBy(login, request.method);
    if (barred !== undefined) {
      this.#refuse(gated, 403, barred, { reason: barred });
      return;
    }
    this.#core.knownPeers.met(flow, this.#core.nowMs);
    passed({ username: login?.username ?? username, login, group: secrets.group });
  }

  /**
   * Returns whether an Authorization header contains a valid nonce for that source. Cheap: it does not check the
   * password.
   */
  hasNonce(authorization: string, flow: Flow, nowMs: number): boolean {
    const credentials = this.#read(authorization);
    const asked = { source: peerOf(flow).address, nowMs };
    return credentials !== undefined && this.#authenticator.hasNonceOf(asked, credentials);
  }

  /** Looks up the group of a user. The result is undefined if the user does not exist or has no group. */
  groupOf(username: string, answered: (group: string | undefined) => void): void {
    const id = this.#finding.ask((secrets) =>
      answered(typeof secrets === 'object' ? secrets.group : undefined),
    );
    if (id === undefined) answered(undefined);
    else this.#core.emit({ kind: 'findSecret', id, username });
  }

  /** Looks up whether a user exists, without authentication. */
  knows(username: string, answered: (known: boolean) => void): void {
    const id = this.#finding.ask((secrets) => answered(typeof secrets === 'object'));
    if (id === undefined) answered(false);
    else this.#core.emit({ kind: 'findSecret', id, username });
  }

  #credentials(request: SipRequest): DigestCredentials | undefined {
    for (const value of request.headers('authorization')) {
      const credentials = this.#read(value);
      if (credentials !== undefined) return credentials;
    }
    return undefined;
  }

  /** Parses the credentials; undefined if they are not for this realm. */
  #read(authorization: string): DigestCredentials | undefined {
    if (this.#lastRead.authorization !== authorization) {
      const fields = parseAuth(authorization);
      const isDigest = fields?.scheme.toLowerCase() === 'digest';
      const credentials = isDigest ? readDigestCredentials(fields.params) : undefined;
      const isOurs = credentials?.realm === this.#realm;
      this.#lastRead = { authorization, credentials: isOurs ? credentials : undefined };
    }
    return this.#lastRead.credentials;
  }

  #verify(
    credentials: DigestCredentials,
    { request, flow }: GatedRequest,
    secrets: Ha1ByAlgorithm | undefined,
  ): DigestVerdict {
    const { method, requestUri } = request;
    const sameUri = meansSameUri(credentials.uri, requestUri);
    return this.#authenticator.verify(
      credentials,
      { ...this.#requested(flow), method, sameUri },
      secrets,
    );
  }

  #failed(gated: GatedRequest, verdict: Exclude<DigestVerdict, 'ok'>, username: string): void {
    const { request, flow } = gated;
    if (verdict === 'wrongUri') {
      this.#refuse(gated, 400, 'credentials for another URI', { reason: 'Digest URI Mismatch' });
      return;
    }
    if (verdict === 'wrong') this.#lockOut.failed(flow, username, this.#core.nowMs);
    const why = verdict === 'wrong' ? 'wrong credentials' : 'stale nonce';
    this.#answer(gated, this.#challenge(request, flow, verdict === 'stale', why));
  }

  #requested(flow: Flow): { readonly source: string; readonly nowMs: number } {
    return { source: peerOf(flow).address, nowMs: this.#core.nowMs };
  }

  #tryLater(gated: GatedRequest, why: string): void {
    this.#refuse(gated, 503, why, { headers: [['Retry-After', TRY_LATER_S]] });
  }

  #challenge(request: SipRequest, flow: Flow, stale: boolean, why: string): StatelessAnswer {
    const userAgent = request.header('user-agent');
    const { transport } = peerOf(flow);
    const client = { userAgent, isBrowser: isWebSocket(transport) };
    const challenges = this.#authenticator.challenges(this.#requested(flow), stale, client);
    const headers = challenges.map((value) => ['WWW-Authenticate', value] as const);
    return { status: 401, headers, needed: 1, why };
  }

  #answer(gated: GatedRequest, { status, headers, why }: StatelessAnswer): void {
    this.#refuse(gated, status, why, { headers });
  }

  #refuse(
    gated: GatedRequest,
    status: number,
    why: string,
    parts: Parameters<UserAgentCore['respond']>[3],
  ): void {
    this.#core.refuse(gated.transaction, gated.request, gated.flow, status, why, parts);
  }
}

/** Token of the request. Tokens are ignored over UDP, where others could read them (RFC 8898 §2.1.1 requires TLS). */
function bearerOf(request: SipRequest, flow: Flow): string | undefined {
  if (peerOf(flow).transport === 'udp') return undefined;
  for (const value of request.headers('authorization')) {
    const token = BEARER_TOKEN.exec(value.trim())?.[1];
    if (token !== undefined) return token;
  }
  return undefined;
}

/** Reason phrase if the login does not allow the method, otherwise undefined. */
function barredBy(login: TemporaryLogin, method: string): string | undefined {
  if (login.over !== undefined) return login.over;
  if (method === 'REGISTER') return login.mayRegister ? undefined : 'Incoming Calls Not Granted';
  return login.mayCall ? undefined : 'Outgoing Calls Not Granted';
}

/**
 * Returns whether the digest-uri agrees with the Request-URI (RFC 7616 §3.4.6). Parameters may differ, and SIPp signs
 * only the host.
 */
function meansSameUri(digestUri: string, requestUri: string): boolean {
  if (digestUri === requestUri) return true;
  const [signed, requested] = [parseUri(digestUri), parseUri(requestUri)];
  if (signed?.kind === 'tel' && requested?.kind === 'tel')
    return signed.number === requested.number;
  if (signed?.kind !== 'sip' || requested?.kind !== 'sip') return false;
  const sameUser = signed.user === '' || unescapeUser(signed.user) === unescapeUser(requested.user);
  return sameUser && signed.host.toLowerCase() === requested.host.toLowerCase();
}

/** Epoch of the wall clock in nonces: five bytes last from 2026 until 2060. */
const EPOCH_MS = 1_767_225_600_000;

const sharedBy = (key: Uint8Array, { options, nowMs }: UserAgentCore): SharedNonces => ({
  key,
  offsetMs: options.wallOffsetMs - EPOCH_MS,
  sinceMs: nowMs,
});
