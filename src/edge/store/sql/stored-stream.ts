import { SECOND_MS, secondsOf } from '../../../base/duration.ts';
import type { StreamCdr } from '../../../domain/cdr/types.ts';

/** The JSON of a finished stream in a call's record. A later version reads what an earlier one wrote: its names stay. */
export type StoredStream = Omit<StreamCdr, 'billedMs'> & { readonly billedSeconds: number };

export const storedStream = ({ billedMs, ...stream }: StreamCdr): StoredStream => ({
  ...stream,
  billedSeconds: secondsOf(billedMs),
});

export const finishedStream = ({ billedSeconds, ...stream }: StoredStream): StreamCdr => ({
  ...stream,
  billedMs: billedSeconds * SECOND_MS,
});
