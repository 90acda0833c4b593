import type { AccountId } from '../../base/ids.ts';
import type { PhoneLogin } from './types.ts';

export interface StoredPhoneLogin extends PhoneLogin {
  /** Its token was revoked. */
  readonly revoked: boolean;
}

export interface PhoneLoginStore {
  get(id: string): Promise<StoredPhoneLogin | undefined>;
  /** In one unit of work; a login that is there already stays. `limit`: logins of the account that have not expired. */
  add(
    login: PhoneLogin,
    limit: number,
    nowUs: number,
  ): Promise<'added' | 'tokenRevoked' | 'tooMany'>;
  /** Also a token that was never shown is refused from now on, until `untilUs`. Answers the logins that end. */
  revoke(accountId: AccountId, jti: string, untilUs: number): Promise<readonly PhoneLogin[]>;
  /** Those that have not expired, of one account. */
  live(accountId: AccountId, nowUs: number): Promise<readonly PhoneLogin[]>;
  /** Drops what expired before. */
  purge(beforeUs: number): Promise<void>;
}
