import type { UserAgentCore } from '../dialog/core.ts';
import { Questions } from '../dialog/questions.ts';
import { parseAuth } from '../header/auth.ts';
import type { SipRequest } from '../message.ts';
import type { StatelessAnswer } from '../transaction/stateless.ts';
import type { TransactionId } from '../transaction/types.ts';
import { type Flow, peerOf } from '../transport/flow.ts';
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

/** A request at the gate. */
export interface GatedRequest {
  readonly request: SipRequest;
  readonly transaction: TransactionId;
  readonly flow: Flow;
}

const MS_PER_SECOND = 1000;
const TRY_LATER_S = '10';
/** What failures with tokens are counted under; no user has the name. */
const BEARER = 'Bearer';
const BEARER_TOKEN = /^bearer +([\w.~+/=-]{1,4096})$/i;

/**
 * Admits requests with a right password of this realm and answers all others (RFC 3261 §22.2): 401 with challenges, 400
 * for credentials of another request, 403 or 503 after too many failures. A request without a nonce of ours is answered
 * statelessly. An unknown user and a wrong password get the same answer.
 */
export class Gate {
  readonly #core: UserAgentCore;
  readonly #authenticator: DigestAuthenticator;
  readonly #realm: string;
  readonly #lockOut: LockOut;
  readonly #finding: Questions<SecretAnswer>;
  readonly #counting: Questions<CountAnswer>;
  /** One request is looked at by the front desk, at the door and with its password. */
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
   * What to answer before anything is kept about the request: a challenge when it has no nonce that was issued to its
   * source, a refusal while its source is locked out. Undefined: the password has to be checked.
   */
  atTheDoor(request: SipRequest, flow: Flow): StatelessAnswer | undefined {
    if (bearerOf(request, flow) !== undefined) return this.#lockedOut(flow, BEARER);
    const credentials = this.#credentials(request);
    if (credentials === undefined) return this.#challenge(request, flow, false, 'no credentials');
    if (!this.#authenticator.hasNonceOf(this.#asked(flow), credentials)) {
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

  /** `passed` is called, perhaps in a later turn; never when the request was answered here. */
  admit(gated: GatedRequest, passed: (admitted: Admitted) => void): void {
    const { request, flow } = gated;
    const refusal = this.atTheDoor(request, flow);
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
    if (id === undefined) this.#tryLater(gated, 'too many requests wait');
    else this.#core.emit({ kind: 'findSecret', id, username });
  }

  /** `isFirst` is called when no node took these credentials before; at once where there are no others. */
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
    if (id === undefined) this.#tryLater(gated, 'too many requests wait');
    else this.#core.emit({ kind: 'countNonce', id, nonce, count: countOf(credentials) });
  }

  /** A token, of which the directory makes a login (RFC 8898). */
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
      const told = ['WWW-Authenticate', 'Bearer error="invalid_token"'] as const;
      this.#answer(gated, { ...challenge, headers: [told, ...challenge.headers] });
    });
    if (id === undefined) this.#tryLater(gated, 'too many requests wait');
    else this.#core.emit({ kind: 'findSecret', id, username: '', token });
  }

  /** Who it is is proven; whether it may is said here. */
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
    this.#core.acquaintances.met(flow, this.#core.nowMs);
    passed({ username: login?.username ?? username, login, group: secrets.group });
  }

  /** Whether the bytes of an Authorization header carry a nonce of that source: cheap, and no password is looked at. */
  hasNonce(authorization: string, flow: Flow): boolean {
    const credentials = this.#read(authorization);
    return (
      credentials !== undefined && this.#authenticator.hasNonceOf(this.#asked(flow), credentials)
    );
  }

  /** The group of a user; undefined: there is no such user, or it is in none. */
  groupOf(username: string, answered: (group: string | undefined) => void): void {
    const id = this.#finding.ask((secrets) =>
      answered(typeof secrets === 'object' ? secrets.group : undefined),
    );
    if (id === undefined) answered(undefined);
    else this.#core.emit({ kind: 'findSecret', id, username });
  }

  /** Whether there is such a user, without asking anybody for a password. */
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

  /** Undefined where they are not of this realm. */
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
      { ...this.#asked(flow), method, sameUri },
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

  #asked(flow: Flow): { readonly source: string; readonly nowMs: number } {
    return { source: peerOf(flow).address, nowMs: this.#core.nowMs };
  }

  #tryLater(gated: GatedRequest, why: string): void {
    this.#refuse(gated, 503, why, { headers: [['Retry-After', TRY_LATER_S]] });
  }

  #challenge(request: SipRequest, flow: Flow, stale: boolean, why: string): StatelessAnswer {
    const userAgent = request.header('user-agent');
    const { transport } = peerOf(flow);
    const isBrowser = transport === 'ws' || transport === 'wss';
    const client = { userAgent, isBrowser };
    const challenges = this.#authenticator.challenges(this.#asked(flow), stale, client);
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

/** A token is a secret that anybody could use who reads it: over datagrams it is none (RFC 8898 §2.1.1 wants TLS). */
function bearerOf(request: SipRequest, flow: Flow): string | undefined {
  if (peerOf(flow).transport === 'udp') return undefined;
  for (const value of request.headers('authorization')) {
    const token = BEARER_TOKEN.exec(value.trim())?.[1];
    if (token !== undefined) return token;
  }
  return undefined;
}

/** What a login may not, as a reason phrase. */
function barredBy(login: TemporaryLogin, method: string): string | undefined {
  if (login.over !== undefined) return login.over;
  if (method === 'REGISTER') return login.mayRegister ? undefined : 'Incoming Calls Not Granted';
  return login.mayCall ? undefined : 'Outgoing Calls Not Granted';
}

/**
 * Proxies and phones may differ in parameters, and SIPp signs the host alone; what a client did sign has to agree with
 * the Request-URI (RFC 7616 §3.4.6).
 */
function meansSameUri(digestUri: string, requestUri: string): boolean {
  if (digestUri === requestUri) return true;
  const [signed, asked] = [parseUri(digestUri), parseUri(requestUri)];
  if (signed?.kind === 'tel' && asked?.kind === 'tel') return signed.number === asked.number;
  if (signed?.kind !== 'sip' || asked?.kind !== 'sip') return false;
  const sameUser = signed.user === '' || unescapeUser(signed.user) === unescapeUser(asked.user);
  return sameUser && signed.host.toLowerCase() === asked.host.toLowerCase();
}

/** The wall clock since 2026 fits into the five bytes of a nonce until 2060. */
const EPOCH_MS = 1_767_225_600_000;

const sharedBy = (key: Uint8Array, { options, nowMs }: UserAgentCore): SharedNonces => ({
  key,
  offsetMs: options.wallOffsetMs - EPOCH_MS,
  sinceMs: nowMs,
});
