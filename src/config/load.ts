import { readFileSync } from 'node:fs';
import { ServiceError } from '../base/errors.ts';
import {
  isSetting,
  listSettings,
  SETTINGS,
  type Setting,
  type SettingPlace,
  type Settings,
} from './schema.ts';

/** Variables that are ours without being settings; CARILLON_URL is where the operator's command finds the service. */
const OTHER_VARIABLES = new Set(['CARILLON_CONFIG', 'CARILLON_URL']);

type Environment = Readonly<Record<string, string | undefined>>;
type Tree = { [key: string]: unknown };

/**
 * The effective settings: schema defaults, then `config/default.json`, then the file of CARILLON_CONFIG, then the
 * environment. Throws ServiceError CONFIG_INVALID with one line that names the key, the value's source and what was expected.
 */
export function loadSettings(environment: Environment, defaultFile: string): Settings {
  const merged = defaultsOf(SETTINGS);
  overlay(merged, readTree(defaultFile), SETTINGS, defaultFile, []);
  const file = environment['CARILLON_CONFIG'];
  if (file !== undefined && file !== '') overlay(merged, readTree(file), SETTINGS, file, []);
  const places = listSettings();
  for (const place of places) {
    const value = environment[place.environment];
    if (value !== undefined) set(merged, place.path, fromEnvironment(place, value));
  }
  refuseUnknownVariables(environment, places);
  const settings = merged as unknown as Settings;
  if (settings.rtp.portMin >= settings.rtp.portMax)
    invalid('rtp.portMin must be below rtp.portMax');
  if ((settings.http.tlsCertFile === '') !== (settings.http.tlsKeyFile === '')) {
    invalid('http.tlsCertFile and http.tlsKeyFile belong together');
  }
  return deepFreeze(settings);
}

function invalid(line: string): never {
  throw new ServiceError('CONFIG_INVALID', `settings: ${line}`);
}

function defaultsOf(node: object): Tree {
  const out: Tree = {};
  for (const [key, child] of Object.entries(node) as [string, object][]) {
    out[key] = isSetting(child) ? child.default : defaultsOf(child);
  }
  return out;
}

function readTree(file: string): Tree {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    invalid(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    invalid(`${file} must hold one JSON object`);
  return parsed as Tree;
}

function overlay(
  into: Tree,
  from: Tree,
  schema: object,
  file: string,
  path: readonly string[],
): void {
  for (const [key, value] of Object.entries(from)) {
    const at = [...path, key];
    const name = at.join('.');
    const child = Object.hasOwn(schema, key) ? (schema as Record<string, object>)[key] : undefined;
    if (child === undefined) invalid(`unknown key ${name} in ${file}`);
    if (isSetting(child)) {
      into[key] = checked(child, value, `${name} in ${file}`);
    } else {
      if (typeof value !== 'object' || value === null)
        invalid(`${name} in ${file} must be an object`);
      overlay(into[key] as Tree, value as Tree, child, file, at);
    }
  }
}

function fromEnvironment(place: SettingPlace, raw: string): unknown {
  const { setting } = place;
  if (setting.kind === 'integer')
    return checked(setting, raw.trim() === '' ? Number.NaN : Number(raw), place.environment);
  if (setting.kind === 'list') {
    return raw
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }
  if (setting.kind === 'switch') {
    const word = raw.toLowerCase();
    if (['on', 'true', 'yes', '1'].includes(word)) return true;
    if (['off', 'false', 'no', '0'].includes(word)) return false;
    invalid(`${place.environment} must be on or off, not ${JSON.stringify(raw)}`);
  }
  return checked(setting, raw, place.environment);
}

function checked(setting: Setting, value: unknown, name: string): unknown {
  const shown =
    setting.kind === 'text' && setting.secret ? 'what was given' : JSON.stringify(value);
  switch (setting.kind) {
    case 'integer':
      if (
        !Number.isInteger(value) ||
        (value as number) < setting.min ||
        (value as number) > setting.max
      ) {
        invalid(
          `${name} must be a whole number from ${setting.min} to ${setting.max}, not ${shown}`,
        );
      }
      return value;
    case 'switch':
      if (typeof value !== 'boolean') invalid(`${name} must be true or false, not ${shown}`);
      return value;
    case 'list':
      if (!Array.isArray(value) || value.some((item) => typeof item !== 'string'))
        invalid(`${name} must be a list of strings`);
      return value;
    case 'text':
      if (typeof value !== 'string') invalid(`${name} must be a string, not ${shown}`);
      if (setting.oneOf !== undefined && !setting.oneOf.includes(value)) {
        invalid(`${name} must be one of ${setting.oneOf.join(', ')}, not ${shown}`);
      }
      return value;
  }
}

function set(tree: Tree, path: readonly string[], value: unknown): void {
  let node = tree;
  for (const key of path.slice(0, -1)) node = node[key] as Tree;
  node[path.at(-1) ?? ''] = value;
}

function refuseUnknownVariables(environment: Environment, places: readonly SettingPlace[]): void {
  const known = new Set([...OTHER_VARIABLES, ...places.map((place) => place.environment)]);
  for (const name of Object.keys(environment)) {
    if (name.startsWith('CARILLON_') && !known.has(name))
      invalid(`unknown environment variable ${name}`);
  }
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  }
  return Object.freeze(value);
}
