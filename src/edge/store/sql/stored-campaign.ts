/** JSON of agents and campaigns: a later version reads what an earlier one wrote, so names and units stay. */
import { DAY_MS, daysOf, MINUTE_MS, SECOND_MS, secondsOf } from '../../../base/duration.ts';
import type { Agent, Campaign } from '../../../domain/campaign/types.ts';
import { type Column, converted, json } from '../table.ts';

type Recording = NonNullable<Agent['record']>;
type StoredRecording = Omit<Recording, 'maxMs'> & { readonly maxSeconds: number };

export const recordingColumn = (name: string): Column<Recording> =>
  converted(
    json<StoredRecording>(name),
    ({ maxMs, ...rest }: Recording) => ({ ...rest, maxSeconds: secondsOf(maxMs) }),
    ({ maxSeconds, ...rest }) => ({ ...rest, maxMs: maxSeconds * SECOND_MS }),
  );

type Retry = Campaign['retry'];
type StoredRetry = Omit<Retry, 'delaysMs' | 'windowMs'> & {
  readonly delaysMinutes: readonly number[];
  readonly windowDays: number;
};

export const retryColumn = (name: string): Column<Retry> =>
  converted(
    json<StoredRetry>(name),
    ({ delaysMs, windowMs, ...rest }: Retry) => ({
      ...rest,
      delaysMinutes: delaysMs.map((ms) => ms / MINUTE_MS),
      windowDays: daysOf(windowMs),
    }),
    ({ delaysMinutes, windowDays, ...rest }) => ({
      ...rest,
      delaysMs: delaysMinutes.map((minutes) => minutes * MINUTE_MS),
      windowMs: windowDays * DAY_MS,
    }),
  );

type Pool = Campaign['pool'];
type StoredPool = Omit<Pool, 'cooldownMs'> & { readonly cooldownS: number };

export const poolColumn = (name: string): Column<Pool> =>
  converted(
    json<StoredPool>(name),
    ({ cooldownMs, ...rest }: Pool) => ({ ...rest, cooldownS: secondsOf(cooldownMs) }),
    ({ cooldownS, ...rest }) => ({ ...rest, cooldownMs: cooldownS * SECOND_MS }),
  );
