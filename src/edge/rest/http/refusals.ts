import { hashHex } from '../../../base/hash.ts';
import { RecentMap } from '../../../base/recent-map.ts';
import type { Credentials } from './credentials.ts';
import { RequestRate } from './request-rate.ts';

const MAX_PROVEN = 1000;

/**
 * Counts refused credentials by address and key (the account they name, or the operator's token), so that guesses slow
 * down no other client behind the same address. Right credentials of an account are never held back: its tokens
 * are random. The operator may have chosen a weak token: beyond the rate only a token that was right before is checked.
 */
export class Refusals {
  readonly #rate: RequestRate;
  readonly #proven = new RecentMap<true>(MAX_PROVEN);

  constructor(perSecond: number) {
    this.#rate = new RequestRate(perSecond);
  }

  /** Milliseconds for which wrong credentials of that key get 429 instead of 401; 0: the rate is not reached. */
  quietMs(address: string, credentials: Credentials | undefined, nowMs: number): number {
    return this.#rate.waitMs(keyOf(address, credentials), nowMs);
  }

  /** Operator's credentials that were right before. */
  isProven(credentials: Credentials): boolean {
    return this.#proven.get(digestOf(credentials)) === true;
  }

  proved(credentials: Credentials): void {
    this.#proven.set(digestOf(credentials), true);
  }

  refused(address: string, credentials: Credentials | undefined, nowMs: number): void {
    this.#rate.take(keyOf(address, credentials), nowMs);
  }
}

function keyOf(address: string, credentials: Credentials | undefined): string {
  if (credentials === undefined) return `${address} none`;
  return credentials.kind === 'bearer' ? `${address} bearer` : `${address} ${credentials.authId}`;
}

const digestOf = (credentials: Credentials): string =>
  hashHex('sha256', credentials.kind === 'bearer' ? credentials.token : credentials.authToken);
