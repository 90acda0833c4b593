import type { Me } from './api.ts';

export interface PageProps {
  /** Selected account. */
  readonly account: string;
  readonly me: Me;
  readonly isStaff: boolean;
  /** Parts of the path after the name of the page. */
  readonly rest: readonly string[];
}
