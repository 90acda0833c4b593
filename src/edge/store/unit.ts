import type { NodeRef } from '../../domain/cluster/types.ts';
import type { Failure } from './failure.ts';
import type { UnreadableRow } from './unreadable.ts';

/** One operation to run: which, with what, and when (microseconds UTC) and by which node it was asked for. */
export interface Unit {
  readonly repository: string;
  readonly operation: string;
  readonly given: readonly unknown[];
  readonly nowUs: number;
  /** Absent: by none, as by a tool. */
  readonly node?: NodeRef;
}

/** `unreadable`: rows that could not be read. */
export type Outcome = { readonly unreadable?: readonly UnreadableRow[] } & (
  | {
      readonly ok: true;
      readonly value: unknown;
      /** A balance fell below its threshold. */
      readonly lowBalance?: boolean;
    }
  | { readonly ok: false; readonly failure: Failure }
);
