import type { NodeRef } from '../../domain/cluster/types.ts';
import type { Failure } from './failure.ts';
import type { UnreadableRow } from './unreadable.ts';

/**
 * An operation to run: its repository, name and arguments, the time of the request (microseconds UTC) and the node that
 * requested it.
 */
export interface Unit {
  readonly repository: string;
  readonly operation: string;
  readonly given: readonly unknown[];
  readonly nowUs: number;
  /** Node that requested the unit. Undefined for tools. */
  readonly node?: NodeRef;
}

/** Result of a unit. `unreadable`: rows that could not be read. */
export type Outcome = { readonly unreadable?: readonly UnreadableRow[] } & (
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Whether a balance fell below its threshold. */
      readonly lowBalance?: boolean;
    }
  | { readonly ok: false; readonly failure: Failure }
);
