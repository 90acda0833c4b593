import { secretsEqual } from '../../../base/hash.ts';
import { quote } from '../header/text.ts';
import type { DigestCredentials } from './credentials.ts';
import { DIGEST_ALGORITHMS, type DigestAlgorithm, digestResponse } from './digest.ts';
import type { NonceMint } from './nonce.ts';

/** Hex HA1 of one user for each algorithm that is offered. */
export type Ha1ByAlgorithm = Readonly<Record<DigestAlgorithm, string>>;

/** `wrongUri`: signed for another request (RFC 7616 §3.4.6 wants 400); `stale`: the nonce is not, or no longer, one of that source. */
export type DigestVerdict = 'ok' | 'stale' | 'wrong' | 'wrongUri';

/** Who asks, and when (monotonic). */
export interface Asked {
  /** The address that the request came from. */
  readonly source: string;
  readonly nowMs: number;
}

/** Of a nonce count: nobody has used it on any node · somebody has · that cannot be asked now. */
export type CountAnswer = 'first' | 'used' | 'unavailable';

/** A nonce serves so long while the nodes cannot tell each other what they have used: a challenge, its answer, and repeats. */
export const UNCOUNTED_LIFETIME_MS = 10_000;

/** Without a nonce count a replay cannot be told from a second request: such a nonce serves once. */
export const countOf = ({ protection }: Pick<DigestCredentials, 'protection'>): number =>
  Number.parseInt(protection?.nonceCount ?? '1', 16);

/** A secret that no password has: checked instead of an unknown user's, so that both take the same time. */
const NOBODY: Ha1ByAlgorithm = { 'SHA-512-256': '', 'SHA-256': '', MD5: '' };

/**
 * Which challenge stands on top, for a client that knows several to take (RFC 8760 §2.4). `compatible` begins with MD5:
 * SIPp and many phones read the first one only, and give up when it names another algorithm. `strongest` serves
 * installations whose phones are known to do better.
 */
export type ChallengeOrder = 'compatible' | 'strongest';

const ORDERS: Readonly<Record<ChallengeOrder, readonly DigestAlgorithm[]>> = {
  compatible: ['MD5', 'SHA-256', 'SHA-512-256'],
  strongest: DIGEST_ALGORITHMS,
};

/**
 * User agents that give up when any of several challenges is not MD5, wherever it stands: the SIP library of these
 * versions fails the whole response.
 */
const KNOWS_MD5_ALONE = /^baresip v?[0-2]\./i;

/** What a client tells of itself. */
export interface Client {
  readonly userAgent?: string | undefined;
  /** A web page. SIP.js looks at the last challenge alone and knows MD5 alone; its name is the page's choice. */
  readonly isBrowser?: boolean;
}

const knowsMd5Alone = ({ userAgent = '', isBrowser = false }: Client): boolean =>
  isBrowser || KNOWS_MD5_ALONE.test(userAgent);

/** The server side of digest authentication for one realm (RFC 7616, RFC 8760, RFC 3261 §22). */
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
   * Values for as many challenge header fields, for whoever asks from `source`. `stale` tells the client to try again
   * without asking its user for the password.
   */
  challenges(asked: Asked, stale: boolean, client: Client = {}): readonly string[] {
    const nonce = this.#nonces.mint(asked.source, asked.nowMs);
    const offered = knowsMd5Alone(client) ? (['MD5'] as const) : this.#order;
    return offered.map(
      (algorithm) =>
        `Digest realm=${quote(this.#realm)}, nonce="${nonce}", algorithm=${algorithm}, qop="auth"${stale ? ', stale=true' : ''}`,
    );
  }

  /** Whether the nonce was issued to that source and may still be used: without it a password is not even looked at. */
  hasNonceOf({ source, nowMs }: Asked, { nonce }: Pick<DigestCredentials, 'nonce'>): boolean {
    return this.#nonces.examine(nonce, source, nowMs) === 'valid';
  }

  /** `secrets` undefined: there is no such user. `sameUri`: whether the digest-uri means the Request-URI. */
  verify(
    credentials: DigestCredentials,
    asked: Asked & { readonly method: string; readonly sameUri: boolean },
    secrets: Ha1ByAlgorithm | undefined,
  ): DigestVerdict {
    if (!this.hasNonceOf(asked, credentials)) return 'stale';
    const ha1 = (secrets ?? NOBODY)[credentials.algorithm];
    const expected = digestResponse({ ...credentials, ha1, method: asked.method });
    const matches = secretsEqual(expected, credentials.response.toLowerCase());
    if (!matches || secrets === undefined) return 'wrong';
    if (!asked.sameUri) return 'wrongUri';
    return this.#nonces.use(credentials.nonce, countOf(credentials), asked.nowMs) ? 'ok' : 'stale';
  }

  /**
   * The same verdict once it is known whether another node took that count. While nobody can say, young nonces are good, and
   * who has an older one gets a new one: what was overheard can be replayed so long at most.
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
