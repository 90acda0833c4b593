import type { Access, Principal } from '../../../domain/account/account.ts';
import type { SignedIn } from '../../../domain/user/user.ts';

/** Who asks, and about which account. */
export interface Admission {
  readonly principal: Principal | undefined;
  readonly access: Access | undefined;
  /** Asked by the operator, or where everybody may see what the operator sees. */
  readonly operator?: true;
  /** Who is signed in at the console and asks. */
  readonly user?: SignedIn;
}

export const NOBODY: Admission = { principal: undefined, access: undefined };
export const OPERATOR: Admission = { ...NOBODY, operator: true };
