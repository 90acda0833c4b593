/** Stored JSON of agents, campaigns and contacts. */
import { DAY_MS, daysOf, MINUTE_MS, SECOND_MS, secondsOf } from '../../../base/duration.ts';
import type {
  AbandonmentGuard,
  Agent,
  Campaign,
  CustomHeaders,
  DialHours,
  DialWindow,
} from '../../../domain/campaign/types.ts';
import { aFlag, aNumber, aPair, aText, listOf, maybe, oneOf, struct } from '../shape.ts';
import { StoredList, StoredObject, unchanged } from '../stored-kind.ts';
import { type Column, converted, stored } from '../table.ts';
import { targetShape } from './stored-callback.ts';

export const HEADERS = new StoredList<CustomHeaders>({
  name: 'SIP headers',
  version: 1,
  shape: listOf(aPair()),
});

export const MACHINE_DETECTION = new StoredObject<NonNullable<Agent['machineDetection']>>({
  name: 'machine detection of an agent',
  version: 2,
  shape: struct<NonNullable<Agent['machineDetection']>>({
    mode: oneOf('detect', 'hangup'),
    callback: maybe(targetShape),
    totalMs: aNumber(),
    maximumSpeechMs: aNumber(),
    initialSilenceMs: aNumber(),
    maximumWords: aNumber(),
    initialGreetingMs: aNumber(),
    adaptive: maybe(aFlag()),
  }),
  upgrades: [unchanged, unchanged],
});

export const DIAL_WINDOW = new StoredObject<DialWindow>({
  name: 'dial window of a campaign',
  version: 1,
  shape: struct<DialWindow>({
    hours: listOf(
      struct<DialHours>({ weekday: aNumber(), startMinute: aNumber(), endMinute: aNumber() }),
    ),
    holidays: listOf(aText()),
  }),
  upgrades: [unchanged],
});

export const ABANDONMENT = new StoredObject<AbandonmentGuard>({
  name: 'abandonment limit of a campaign',
  version: 1,
  shape: struct<AbandonmentGuard>({ maxBasisPoints: aNumber() }),
  upgrades: [unchanged],
});

type Recording = NonNullable<Agent['record']>;
type StoredRecording = Omit<Recording, 'maxMs'> & { readonly maxSeconds: number };

export const CALL_RECORDING = new StoredObject<StoredRecording>({
  name: 'recording of an agent',
  version: 1,
  shape: struct<StoredRecording>({
    maxSeconds: aNumber(),
    format: oneOf('mp3', 'wav'),
    channels: oneOf('mono', 'stereo'),
    callback: maybe(targetShape),
  }),
  upgrades: [unchanged],
});

export const recordingColumn = (name: string): Column<Recording> =>
  converted(
    stored(name, CALL_RECORDING),
    ({ maxMs, ...rest }: Recording) => ({ ...rest, maxSeconds: secondsOf(maxMs) }),
    ({ maxSeconds, ...rest }) => ({ ...rest, maxMs: maxSeconds * SECOND_MS }),
  );

type Retry = Campaign['retry'];
type StoredRetry = Omit<Retry, 'delaysMs' | 'windowMs'> & {
  readonly delaysMinutes: readonly number[];
  readonly windowDays: number;
};

export const RETRY = new StoredObject<StoredRetry>({
  name: 'retries of a campaign',
  version: 1,
  shape: struct<StoredRetry>({
    attempts: aNumber(),
    delaysMinutes: listOf(aNumber()),
    windowDays: aNumber(),
    on: listOf(oneOf('busy', 'no_answer', 'failed', 'machine')),
  }),
  upgrades: [unchanged],
});

export const retryColumn = (name: string): Column<Retry> =>
  converted(
    stored(name, RETRY),
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

export const POOL = new StoredObject<StoredPool>({
  name: 'pool of a campaign',
  version: 1,
  shape: struct<StoredPool>({
    rotation: oneOf('round_robin', 'least_used', 'random'),
    maxCalls: maybe(aNumber()),
    maxCallsPerDay: maybe(aNumber()),
    cooldownS: aNumber(),
  }),
  upgrades: [unchanged],
});

export const poolColumn = (name: string): Column<Pool> =>
  converted(
    stored(name, POOL),
    ({ cooldownMs, ...rest }: Pool) => ({ ...rest, cooldownS: secondsOf(cooldownMs) }),
    ({ cooldownS, ...rest }) => ({ ...rest, cooldownMs: cooldownS * SECOND_MS }),
  );
