import type { Access, Principal } from '../../../domain/account/account.ts';
import type { SignedIn } from '../../../domain/user/user.ts';

/** The authenticated client of a request, and the account that it concerns. */
export interface Admission {
  readonly principal: Principal | undefined;
  readonly access: Access | undefined;
  /** Present if the client is the operator, or may see the operator's data without a token. */
  readonly operator?: true;
  /** The user who is signed in at the console. */
  readonly user?: SignedIn;
}

export const NOBODY: Admission = { principal: undefined, access: undefined };
export const OPERATOR: Admission = { ...NOBODY, operator: true };
