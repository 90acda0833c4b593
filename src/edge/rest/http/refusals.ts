import { hashHex } from '../../../base/hash.ts';
import { RecentMap } from '../../../base/recent-map.ts';
import type { Credentials } from './credentials.ts';
import { RequestRate } from './request-rate.ts';

const MAX_PROVEN = 1000;

/**
 * Counts refused credentials by address and key (the named account, or the operator's token), so that guessing does not slow
 * other clients at the same address. Valid account credentials are never delayed, because account tokens are random. The
 * operator's token may be weak: beyond the rate, only a token that was valid before is checked.
 */
export class Refusals {
  readonly #rate: RequestRate;
  readonly #proven = new RecentMap<true>(MAX_PROVEN);

  constructor(perSecond: number) {
    this.#rate = new RequestRate(perSecond);
  }

  /** Returns how long wrong credentials of the key get 429 instead of 401, milliseconds. 0: below the rate. */
  quietMs(address: string, credentials: Credentials | undefined, nowMs: number): number {
    return this.#rate.waitMs(keyOf(address, credentials), nowMs);
  }

  /** Returns whether these operator credentials were valid before. */
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
