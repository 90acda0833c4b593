import { secretsEqual } from '../../../base/hash.ts';
import { quote } from '../header/text.ts';
import type { DigestCredentials } from './credentials.ts';
import { DIGEST_ALGORITHMS, type DigestAlgorithm, digestResponse } from './digest.ts';
import type { NonceMint } from './nonce.ts';

/** Hex HA1 of one user for each offered algorithm. */
export type Ha1ByAlgorithm = Readonly<Record<DigestAlgorithm, string>>;

/**
 * `wrongUri`: credentials for another request (RFC 7616 §3.4.6 requires 400). `stale`: the nonce is expired or was not
 * issued to that source.
 */
export type DigestVerdict = 'ok' | 'stale' | 'wrong' | 'wrongUri';

/** Source and time (monotonic) of a request. */
export interface Asked {
  /** Source address of the request. */
  readonly source: string;
  readonly nowMs: number;
}

/** Result of a nonce count check on all nodes: unused, already used, or not verifiable at this time. */
export type CountAnswer = 'first' | 'used' | 'unavailable';

/**
 * Nonce lifetime in milliseconds while nodes cannot share their used counts. It covers a challenge, its answer and
 * retransmissions.
 */
export const UNCOUNTED_LIFETIME_MS = 10_000;

/**
 * Nonce count of the credentials. Without a count a replay looks like a second request, so such a nonce is valid once.
 */
export const countOf = ({ protection }: Pick<DigestCredentials, 'protection'>): number =>
  Number.parseInt(protection?.nonceCount ?? '1', 16);

/**
 * Secret that no password produces. It replaces the secret of an unknown user, so that both checks take the same time.
 */
const NOBODY: Ha1ByAlgorithm = { 'SHA-512-256': '', 'SHA-256': '', MD5: '' };

/**
 * Order of challenges for clients that support several (RFC 8760 §2.4). `compatible` starts with MD5, because SIPp and
 * many phones read only the first challenge. `strongest` suits installations whose phones support stronger algorithms.
 */
export type ChallengeOrder = 'compatible' | 'strongest';

const ORDERS: Readonly<Record<ChallengeOrder, readonly DigestAlgorithm[]>> = {
  compatible: ['MD5', 'SHA-256', 'SHA-512-256'],
  strongest: DIGEST_ALGORITHMS,
};

/** User agents that fail the whole response if any of several challenges is not MD5. */
const KNOWS_MD5_ALONE = /^baresip v?[0-2]\./i;

/** Properties of the client that affect the challenges. */
export interface Client {
  readonly userAgent?: string | undefined;
  /**
   * True for a web page. SIP.js reads only the last challenge and supports only MD5; the page chooses its user agent
   * name.
   */
  readonly isBrowser?: boolean;
}

const knowsMd5Alone = ({ userAgent = '', isBrowser = false }: Client): boolean =>
  isBrowser || KNOWS_MD5_ALONE.test(userAgent);

/** Server side of digest authentication for one realm (RFC 7616, RFC 8760, RFC 3261 §22). */
export class DigestAuthenticator {
  readonly #realm: string;
  readonly #nonces: NonceMint;
  readonly #order: readonly DigestAlgorithm[];

  constructor(realm: string, nonces: NonceMint, order: ChallengeOrder) {
    this.#realm = realm;
    this.#nonces = nonces;
    this.#order = ORDERS[order];
  }

  /**
   * Values of the challenge header fields for a request from `source`. `stale` makes the client retry without prompting
   * for the password.
   */
  challenges(requested: Asked, stale: boolean, client: Client = {}): readonly string[] {
    const nonce = this.#nonces.mint(requested.source, requested.nowMs);
    const offered = knowsMd5Alone(client) ? (['MD5'] as const) : this.#order;
    return offered.map(
      (algorithm) =>
        `Digest realm=${quote(this.#realm)}, nonce="${nonce}", algorithm=${algorithm}, qop="auth"${stale ? ', stale=true' : ''}`,
    );
  }

  /** Returns whether the nonce was issued to that source and is still valid. Otherwise the password is not checked. */
  hasNonceOf({ source, nowMs }: Asked, { nonce }: Pick<DigestCredentials, 'nonce'>): boolean {
    return this.#nonces.examine(nonce, source, nowMs) === 'valid';
  }

  /**
   * Verifies credentials. `secrets` is undefined if the user does not exist. `sameUri` is true if the digest-uri
   * matches the Request-URI.
   */
  verify(
    credentials: DigestCredentials,
    requested: Asked & { readonly method: string; readonly sameUri: boolean },
    secrets: Ha1ByAlgorithm | undefined,
  ): DigestVerdict {
    if (!this.hasNonceOf(requested, credentials)) return 'stale';
    const ha1 = (secrets ?? NOBODY)[credentials.algorithm];
    const expected = digestResponse({ ...credentials, ha1, method: requested.method });
    const matches = secretsEqual(expected, credentials.response.toLowerCase());
    if (!matches || secrets === undefined) return 'wrong';
    if (!requested.sameUri) return 'wrongUri';
    return this.#nonces.use(credentials.nonce, countOf(credentials), requested.nowMs)
      ? 'ok'
      : 'stale';
  }

  /**
   * Final verdict after the check on the other nodes. If the check fails, only young nonces are accepted; older ones
   * count as stale. This limits the time in which captured credentials can be replayed.
   */
  verdictElsewhere(
    use: CountAnswer,
    { nonce }: Pick<DigestCredentials, 'nonce'>,
    nowMs: number,
  ): Extract<DigestVerdict, 'ok' | 'stale'> {
    if (use !== 'unavailable') return use === 'first' ? 'ok' : 'stale';
    return this.#nonces.ageMs(nonce, nowMs) <= UNCOUNTED_LIFETIME_MS ? 'ok' : 'stale';
  }
}
