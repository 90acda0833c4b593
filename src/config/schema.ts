/**
 * Every setting: its type, default, unit and meaning; most stand by subject in `settings/`. `config/default.json` holds the same defaults
 * (a test compares them), a file named by CARILLON_CONFIG overrides them, the environment overrides both:
 * `sip.publicHost` is CARILLON_SIP_PUBLIC_HOST.
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
    'folder of the database, keys, recordings and outbox; relative to the working directory',
  ),
  publicUrl: shaped(
    BASE_URL,
    text('', 'base of links in callbacks and mails; empty: http(s)://<http host>:<port>'),
  ),
  adminToken: secret(
    'bearer token of /admin/v1; empty: made at the first start and kept in the data folder',
  ),
  demo: toggle(
    true,
    'built-in answer URL and echo bot, and the first account, application and endpoint',
  ),
  logLevel: live(
    choice(
      ['debug', 'info', 'warn', 'error', 'silent'],
      'info',
      'least severe level that is written',
    ),
  ),
  logFormat: choice(
    ['auto', 'json', 'pretty'],
    'auto',
    'lines of JSON, or lines for people; auto: for people on a terminal',
  ),
  rates: rows('prices: a JSON or YAML file like rates.json, or the list itself; empty: rates.json'),
  carriers: rows(
    'SIP gateways: a JSON or YAML file like carriers.json, or the list itself; empty: carriers.json',
  ),
  platformName: text('Carillon', 'HangupSource of calls that the platform ended'),
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

/** Every setting with its path and environment name, in the order of the schema. */
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

/** `sip.publicHost` → CARILLON_SIP_PUBLIC_HOST. */
function environmentName(path: readonly string[]): string {
  const words = path.map((part) => part.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
  return `CARILLON_${words.join('_').toUpperCase()}`;
}
