import type { UserAgentCore } from '../dialog/core.ts';
import { Questions } from '../dialog/questions.ts';
import { parseAuth } from '../header/auth.ts';
import type { SipRequest } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import type { Flow } from '../transport/flow.ts';
import { parseUri, unescapeUser } from '../uri.ts';
import type { SecretAnswer } from '../user-agent-types.ts';
import { DigestAuthenticator, type DigestVerdict, type Ha1ByAlgorithm } from './authenticator.ts';
import { type DigestCredentials, readDigestCredentials } from './credentials.ts';
import { DEFAULT_FAILURE_LIMITS, FailureLimit } from './failure-limit.ts';
import { NonceMint } from './nonce.ts';

/** A request at the gate. */
export interface GatedRequest {
  readonly request: SipRequest;
  readonly transaction: TransactionId;
  readonly flow: Flow;
}

const MS_PER_SECOND = 1000;
const TRY_LATER_S = '10';
/** Failures of one address may be so many times those of one user behind it. */
const USERS_BEHIND_ONE_ADDRESS = 5;

/**
 * Lets in whoever proves a password of this realm; answers everybody else (RFC 3261 §22.2): 401 with challenges, 400
 * for credentials of another request, 403 for whom has failed too often. An unknown user and a wrong password look
 * the same from outside.
 */
export class Gate {
  readonly #core: UserAgentCore;
  readonly #authenticator: DigestAuthenticator;
  readonly #realm: string;
  readonly #failuresOfUser: FailureLimit;
  readonly #failuresOfAddress: FailureLimit;
  readonly #finding: Questions<SecretAnswer>;

  constructor(core: UserAgentCore, realm: string) {
    const { random, nonces, challengeOrder = 'compatible' } = core.options;
    const { failures = DEFAULT_FAILURE_LIMITS } = core.options;
    this.#core = core;
    this.#realm = realm;
    this.#authenticator = new DigestAuthenticator(
      realm,
      new NonceMint(random, nonces),
      challengeOrder,
    );
    this.#failuresOfUser = new FailureLimit(failures);
    this.#failuresOfAddress = new FailureLimit({
      ...failures,
      maxFailures: failures.maxFailures * USERS_BEHIND_ONE_ADDRESS,
    });
    this.#finding = new Questions(core.limits.maxWaiting);
  }

  secretFound(id: number, secrets: SecretAnswer): void {
    this.#finding.answer(id, secrets);
  }

  /** `passed` is called, perhaps in a later turn, with the username; never when the request was answered here. */
  admit(gated: GatedRequest, passed: (username: string) => void): void {
    const { request } = gated;
    const credentials = this.#credentials(request);
    if (credentials === undefined) {
      this.#challenge(gated, false, 'no credentials');
      return;
    }
    const blockedMs = this.#blockedForMs(gated, credentials.username);
    if (blockedMs !== undefined) {
      const headers = [['Retry-After', String(Math.ceil(blockedMs / MS_PER_SECOND))]] as const;
      this.#refuse(gated, 403, 'too many failed attempts', { headers });
      return;
    }
    const { username } = credentials;
    const id = this.#finding.ask((secrets) => {
      if (secrets === 'unavailable') {
        this.#tryLater(gated, 'user directory failed');
        return;
      }
      const verdict = this.#verify(credentials, request, secrets);
      if (verdict === 'ok') passed(username);
      else this.#failed(gated, verdict, username);
    });
    if (id === undefined) this.#tryLater(gated, 'too many requests wait');
    else this.#core.emit({ kind: 'findSecret', id, username });
  }

  /** Whether there is such a user, without asking anybody for a password. */
  knows(username: string, answered: (known: boolean) => void): void {
    const id = this.#finding.ask((secrets) => answered(typeof secrets === 'object'));
    if (id === undefined) answered(false);
    else this.#core.emit({ kind: 'findSecret', id, username });
  }

  /** One bad phone does not lock out its office, one guesser with many names does not get far. */
  #blockedForMs({ flow }: GatedRequest, username: string): number | undefined {
    const { nowMs } = this.#core;
    return (
      this.#failuresOfUser.blockedForMs(`${flow.remoteAddress} ${username}`, nowMs) ??
      this.#failuresOfAddress.blockedForMs(flow.remoteAddress, nowMs)
    );
  }

  #credentials(request: SipRequest): DigestCredentials | undefined {
    for (const value of request.headers('authorization')) {
      const fields = parseAuth(value);
      if (fields === undefined || fields.scheme.toLowerCase() !== 'digest') continue;
      const credentials = readDigestCredentials(fields.params);
      if (credentials?.realm === this.#realm) return credentials;
    }
    return undefined;
  }

  #verify(
    credentials: DigestCredentials,
    request: SipRequest,
    secrets: Ha1ByAlgorithm | undefined,
  ): DigestVerdict {
    const { nowMs } = this.#core;
    const same = meansSameUri(credentials.uri, request.requestUri);
    return this.#authenticator.verify(credentials, request.method, same, secrets, nowMs);
  }

  #failed(gated: GatedRequest, verdict: Exclude<DigestVerdict, 'ok'>, username: string): void {
    if (verdict === 'stale') {
      this.#challenge(gated, true, 'stale nonce');
      return;
    }
    const { remoteAddress } = gated.flow;
    this.#failuresOfUser.note(`${remoteAddress} ${username}`, this.#core.nowMs);
    this.#failuresOfAddress.note(remoteAddress, this.#core.nowMs);
    if (verdict === 'wrong') this.#challenge(gated, false, 'wrong credentials');
    else this.#refuse(gated, 400, 'credentials for another URI', { reason: 'Digest URI Mismatch' });
  }

  #tryLater(gated: GatedRequest, why: string): void {
    this.#refuse(gated, 503, why, { headers: [['Retry-After', TRY_LATER_S]] });
  }

  #challenge(gated: GatedRequest, stale: boolean, why: string): void {
    const userAgent = gated.request.header('user-agent');
    const challenges = this.#authenticator.challenges(this.#core.nowMs, stale, userAgent);
    const headers = challenges.map((value) => ['WWW-Authenticate', value] as const);
    this.#refuse(gated, 401, why, { headers });
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
