import type { Failure } from './failure.ts';

/** One operation to run: which, with what, and when it was asked for (microseconds UTC). */
export interface Unit {
  readonly repository: string;
  readonly operation: string;
  readonly given: readonly unknown[];
  readonly nowUs: number;
}

export type Outcome =
  /** `lowBalance`: a balance fell below its threshold. */
  | { readonly ok: true; readonly value: unknown; readonly lowBalance?: boolean }
  | { readonly ok: false; readonly failure: Failure };
