import type { Random } from '../../../base/ids.ts';
import { parseAuth } from '../header/auth.ts';
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import { answerChallenge, type DigestChallenge, strongestChallenge } from './answer-challenge.ts';

/** Credentials for a peer. */
export interface DigestAccount {
  readonly username: string;
  readonly password: string;
  /** The only realm that gets credentials. Undefined: the realm of the first challenge. */
  readonly realm?: string | undefined;
}

interface Known {
  readonly challenge: DigestChallenge;
  readonly header: 'Authorization' | 'Proxy-Authorization';
  nonceCount: number;
}

/** Maximum number of addresses of one peer. */
const MAX_HOSTS = 32;

/**
 * Client side of digest authentication for one account. It keeps the last challenge of each kind. A digest lets its receiver
 * guess the password offline, so only the hosts of the configured destination get one, for one realm only. A called party
 * that challenges a later request of the dialog gets none.
 */
export class ClientAuth {
  readonly #account: DigestAccount;
  readonly #random: Random;
  readonly #known = new Map<number, Known>();
  readonly #hosts = new Set<string>();
  #realm: string | undefined;
  #ofInvite: HeaderInit = [];

  constructor(account: DigestAccount, random: Random) {
    this.#account = account;
    this.#random = random;
    this.#realm = account.realm;
  }

  /** Allows credentials for a host of the configured destination. */
  trust(host: string): void {
    if (this.#hosts.size < MAX_HOSTS) this.#hosts.add(host);
  }

  /**
   * Handles a 401 or 407 of a host. Returns false if a retry is useless or would give a digest to a foreign peer: unsupported
   * challenge, wrong password, other realm, or other host.
   */
  challenged(response: SipResponse, host: string, answeredBefore: boolean): boolean {
    const name = response.status === 407 ? 'Proxy-Authenticate' : 'WWW-Authenticate';
    if (!this.#hosts.has(host)) return false;
    const realm = this.#realm;
    const challenges = response
      .headers(name)
      .map(parseAuth)
      .filter((challenge) => challenge !== undefined)
      .filter(({ params }) => realm === undefined || params.get('realm') === realm);
    const challenge = strongestChallenge(challenges);
    if (challenge === undefined) return false;
    const before = this.#known.get(response.status);
    if (answeredBefore && before?.challenge.realm === challenge.realm && !challenge.stale)
      return false;
    this.#realm = challenge.realm;
    this.#known.set(response.status, {
      challenge,
      header: response.status === 407 ? 'Proxy-Authorization' : 'Authorization',
      nonceCount: 0,
    });
    return true;
  }

  /** Credentials for a request to a host, sent without a new challenge once one is known (RFC 3261 §22.3). */
  headers(request: SipRequest, host: string): HeaderInit {
    const credentials = this.#hosts.has(host) ? this.#credentials(request) : [];
    if (request.method === 'INVITE') this.#ofInvite = credentials;
    return credentials;
  }

  /** Credentials of the last INVITE, which its ACK repeats (RFC 3261 §22.1). Empty for hosts that get none. */
  ofInvite(host: string): HeaderInit {
    return this.#hosts.has(host) ? this.#ofInvite : [];
  }

  #credentials(request: SipRequest): HeaderInit {
    return [...this.#known.values()].map((known) => {
      known.nonceCount += 1;
      const { method, requestUri: uri } = request;
      return [
        known.header,
        answerChallenge(
          known.challenge,
          this.#account,
          { method, uri },
          known.nonceCount,
          this.#random,
        ),
      ] as const;
    });
  }
}
