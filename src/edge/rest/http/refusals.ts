import { hashHex } from '../../../base/hash.ts';
import { RecentMap } from '../../../base/recent-map.ts';
import type { Credentials } from './credentials.ts';
import { RequestRate } from './request-rate.ts';

const MAX_PROVEN = 1000;

/**
 * Refused credentials by address and key (the account they name, or the operator's token), so that who guesses slows
 * down himself alone, not his neighbours behind the same address. Right credentials of an account are never held back: its
 * tokens are random and compared at once. The operator may have chosen his token: beyond the rate only one that was right before is looked at.
 */
export class Refusals {
  readonly #rate: RequestRate;
  readonly #proven = new RecentMap<true>(MAX_PROVEN);

  constructor(perSecond: number) {
    this.#rate = new RequestRate(perSecond);
  }

  /** Milliseconds until a further refusal of that key is told as such; 0: now. */
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
