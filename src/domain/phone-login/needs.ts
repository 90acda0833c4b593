import type { AccountId } from '../../base/ids.ts';
import type { PhoneLogin } from './types.ts';

export interface StoredPhoneLogin extends PhoneLogin {
  /** True if the token was revoked. */
  readonly revoked: boolean;
}

export interface PhoneLoginStore {
  get(id: string): Promise<StoredPhoneLogin | undefined>;
  /**
   * Adds a login in one transaction; an existing login stays unchanged. `limit` is the maximum of unexpired logins of
   * the account.
   */
  add(
    login: PhoneLogin,
    limit: number,
    nowUs: number,
  ): Promise<'added' | 'tokenRevoked' | 'tooMany'>;
  /** Refuses the token until `untilUs`, even if it was never presented. Returns the logins that end. */
  revoke(accountId: AccountId, jti: string, untilUs: number): Promise<readonly PhoneLogin[]>;
  /** Returns the unexpired logins of one account. */
  live(accountId: AccountId, nowUs: number): Promise<readonly PhoneLogin[]>;
  /** Deletes the logins that expired before `beforeUs`. */
  purge(beforeUs: number): Promise<void>;
}
