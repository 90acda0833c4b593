/**
 * Schema of all settings: type, default, unit and description; most are in `settings/` by subject. `config/default.json`
 * holds the same defaults (a test compares them). A file named by CARILLON_CONFIG overrides them, and the environment
 * overrides both: `sip.publicHost` is CARILLON_SIP_PUBLIC_HOST.
 */
import { calling } from './settings/calling.ts';
import { BASE_URL } from './settings/forms.ts';
import {
  choice,
  type IntegerSetting,
  isSetting,
  type ListSetting,
  live,
  type RowsSetting,
  rows,
  type Setting,
  type SwitchSetting,
  secret,
  shaped,
  type TextSetting,
  text,
  toggle,
} from './settings/kinds.ts';
import { network } from './settings/network.ts';
import { keeping } from './settings/retention.ts';

export {
  isSetting,
  type ListSetting,
  type Setting,
  type TextSetting,
} from './settings/kinds.ts';

export const SETTINGS = {
  dataDir: text(
    'data',
    'folder for the database, keys, recordings and outbox; relative to the working directory',
  ),
  publicUrl: shaped(
    BASE_URL,
    text('', 'base URL of links in callbacks and mail; empty: http(s)://<http host>:<port>'),
  ),
  adminToken: secret(
    'bearer token of /admin/v1; empty: generated at the first start and stored in the data folder',
  ),
  demo: toggle(
    true,
    'built-in answer URL and echo bot, and a first account, application and endpoint',
  ),
  logLevel: live(
    choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'lowest severity that is logged'),
  ),
  logFormat: choice(
    ['auto', 'json', 'pretty'],
    'auto',
    'JSON lines or readable lines; auto: readable on a terminal, otherwise JSON',
  ),
  rates: rows(
    'prices: path of a JSON or YAML file like rates.json, or the list itself; empty: rates.json',
  ),
  carriers: rows(
    'SIP gateways: path of a JSON or YAML file like carriers.json, or the list itself; empty: carriers.json',
  ),
  platformName: text('Carillon', 'HangupSource of calls that the platform ends'),
  ...network,
  ...calling,
  ...keeping,
} as const;

type ValueOf<S> = S extends TextSetting
  ? S extends { readonly default: infer D extends string; readonly oneOf: readonly string[] }
    ? string extends D
      ? string
      : D
    : string
  : S extends IntegerSetting
    ? number
    : S extends SwitchSetting
      ? boolean
      : S extends ListSetting
        ? readonly string[]
        : S extends RowsSetting
          ? string | readonly unknown[]
          : { readonly [K in keyof S]: ValueOf<S[K]> };

export type Settings = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };

export interface SettingPlace {
  readonly path: readonly string[];
  readonly setting: Setting;
  readonly environment: string;
}

/** Returns every setting with path and environment variable, in schema order. */
export function listSettings(): SettingPlace[] {
  const places: SettingPlace[] = [];
  const walk = (node: object, path: readonly string[]): void => {
    for (const [key, child] of Object.entries(node) as [string, object][]) {
      const at = [...path, key];
      if (isSetting(child))
        places.push({ path: at, setting: child, environment: environmentName(at) });
      else walk(child, at);
    }
  };
  walk(SETTINGS, []);
  return places;
}

/** Converts a path to a variable name: `sip.publicHost` → CARILLON_SIP_PUBLIC_HOST. */
function environmentName(path: readonly string[]): string {
  const words = path.map((part) => part.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
  return `CARILLON_${words.join('_').toUpperCase()}`;
}
