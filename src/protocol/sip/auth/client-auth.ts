import type { Random } from '../../../base/ids.ts';
import { parseAuth } from '../header/auth.ts';
import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import { answerChallenge, type DigestChallenge, strongestChallenge } from './answer-challenge.ts';

interface Known {
  readonly challenge: DigestChallenge;
  readonly header: 'Authorization' | 'Proxy-Authorization';
  nonceCount: number;
}

/** Client side of digest authentication for one account. It keeps the last challenge of each kind. */
export class ClientAuth {
  readonly #account: { readonly username: string; readonly password: string };
  readonly #random: Random;
  readonly #known = new Map<number, Known>();

  constructor(account: { readonly username: string; readonly password: string }, random: Random) {
    this.#account = account;
    this.#random = random;
  }

  /** Handles a 401 or 407. Returns false if a retry is useless: unsupported challenge or wrong password. */
  challenged(response: SipResponse, answeredBefore: boolean): boolean {
    const name = response.status === 407 ? 'Proxy-Authenticate' : 'WWW-Authenticate';
    const challenges = response
      .headers(name)
      .map(parseAuth)
      .filter((challenge) => challenge !== undefined);
    const challenge = strongestChallenge(challenges);
    if (challenge === undefined) return false;
    const before = this.#known.get(response.status);
    if (answeredBefore && before?.challenge.realm === challenge.realm && !challenge.stale)
      return false;
    this.#known.set(response.status, {
      challenge,
      header: response.status === 407 ? 'Proxy-Authorization' : 'Authorization',
      nonceCount: 0,
    });
    return true;
  }

  /** Credentials for a request, sent without a new challenge once one is known (RFC 3261 §22.3). */
  headers(request: SipRequest): HeaderInit {
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
