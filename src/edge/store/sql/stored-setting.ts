/** Stored JSON of settings that the service keeps in the store. Other settings are plain texts or secrets. */
import type { Alarm } from '../../../domain/alarm/types.ts';
import { anInteger, anything, aText, listOf, struct } from '../shape.ts';
import { StoredList, StoredObject, unchanged } from '../stored-kind.ts';

interface CalledCountries {
  readonly sinceUs: number;
  readonly countries: readonly string[];
}

/** Each policy is checked by `MediaPolicies`, which ignores what it cannot use. */
export const MEDIA_POLICIES = new StoredList<readonly unknown[]>({
  name: 'media policies',
  version: 1,
  shape: listOf(anything()),
});

export const CALLED_COUNTRIES = new StoredObject<CalledCountries>({
  name: 'called countries of an account',
  version: 1,
  shape: struct<CalledCountries>({ sinceUs: anInteger(), countries: listOf(aText()) }),
  upgrades: [unchanged],
});

export const RAISED_ALARMS = new StoredList<readonly Alarm[]>({
  name: 'raised alarms of a node',
  version: 1,
  shape: listOf(
    struct<Alarm>({ kind: aText(), subject: aText(), detail: aText(), sinceUs: anInteger() }),
  ),
});

interface FirstPlan {
  readonly authId: string;
  readonly authToken: string;
  readonly password: string;
}

/** Planned credentials of the first account, sealed. */
export const FIRST_PLAN = new StoredObject<FirstPlan>({
  name: 'plan of the first start',
  version: 1,
  shape: struct<FirstPlan>({ authId: aText(), authToken: aText(), password: aText() }),
  upgrades: [unchanged],
});

interface FirstThings extends FirstPlan {
  readonly username: string;
  readonly dial: string;
  readonly appId: number;
}

/** Resources that the first start created, sealed. */
export const FIRST_THINGS = new StoredObject<FirstThings>({
  name: 'resources of the first start',
  version: 1,
  shape: struct<FirstThings>({
    username: aText(),
    password: aText(),
    dial: aText(),
    authId: aText(),
    authToken: aText(),
    appId: anInteger(),
  }),
  upgrades: [unchanged],
});

/** First characters of a key, and the kind of JSON below it. A longer start precedes its prefix. */
const KINDS = [
  ['first-start-plan', FIRST_PLAN],
  ['first-start', FIRST_THINGS],
  ['media.policies', MEDIA_POLICIES],
  ['alarm.countries.', CALLED_COUNTRIES],
  ['alarm.raised.', RAISED_ALARMS],
] as const;

interface JsonKind {
  read(text: string): unknown;
  write(value: never): string;
}

/** Returns the kind of JSON below a key; undefined for other texts. */
export const settingKind = (key: string): JsonKind | undefined =>
  KINDS.find(([start]) => key.startsWith(start))?.[1];
