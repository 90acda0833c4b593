import { hashHex } from '../../base/hash.ts';
import { type Random, token } from '../../base/ids.ts';
import type { StoredAccessToken } from './needs.ts';
import type { Account } from './types.ts';

/** A new account with its auth token, which is shown only once. */
export interface CreatedAccount {
  readonly account: Account;
  readonly authToken: string;
}

/** A new access token, which is shown only once. */
export interface CreatedAccess {
  readonly accessToken: string;
  readonly expiresInMs: number;
}

/** Draws an access token. `stored` is the record of it. `nowUs`: current time, microseconds UTC. */
export function drawAccess(
  random: Random,
  nowUs: number,
  expiresInMs: number,
): { readonly created: CreatedAccess; readonly stored: StoredAccessToken } {
  const accessToken = token(random);
  const stored = { hash: hashHex('sha256', accessToken), expiresUs: nowUs + expiresInMs * 1000 };
  return { created: { accessToken, expiresInMs }, stored };
}
