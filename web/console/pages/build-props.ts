import type { Me } from '../api.ts';

/** Properties of every part of the page "Build". */
export interface BuildProps {
  readonly account: string;
  readonly me: Me;
}
