import { ServiceError } from '../base/errors.ts';
import { maskSecrets } from '../base/mask.ts';
import { combinationProblems } from './combinations.ts';
import {
  isSetting,
  type ListSetting,
  listSettings,
  SETTINGS,
  type Setting,
  type SettingPlace,
  type Settings,
  type TextSetting,
} from './schema.ts';
import { parseSource, readSource, type Source, type Tree } from './source.ts';

/** Variables that are not settings: sources of settings, and options of the command line. */
const OTHER_VARIABLES = new Set([
  'CARILLON_CONFIG',
  'CARILLON_CONFIG_BODY',
  'CARILLON_URL',
  'CARILLON_AUTH_ID',
  'CARILLON_AUTH_TOKEN',
  'CARILLON_MCP_TOKEN',
]);

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Examined {
  /** Effective settings. Usable only if `problems` is empty. */
  readonly settings: Settings;
  /** One line per problem: key or variable, position, expected and given value. */
  readonly problems: readonly string[];
  /** Origin of each value that is not a default, by dotted path: `settings.yaml:3`, `CARILLON_SIP_PORT`. */
  readonly origins: ReadonlyMap<string, string>;
}

/** Throws ServiceError CONFIG_INVALID with the first problem, if any, and with the number of further problems. */
export function refuseProblems(problems: readonly string[]): void {
  const [first, ...more] = problems;
  if (first === undefined) return;
  const others = more.length === 0 ? '' : ` (and ${more.length} more: --check-config shows them)`;
  throw new ServiceError('CONFIG_INVALID', `settings: ${first}${others}`);
}

/**
 * Returns the effective settings and all problems: schema defaults, then `config/default.json`, then the file of
 * CARILLON_CONFIG (JSON or YAML) or the text of CARILLON_CONFIG_BODY, then the environment. Later sources override
 * earlier ones.
 */
export function examineSettings(environment: Environment, defaultFile: string): Examined {
  const examination = new Examination();
  examination.addSource(readSource(defaultFile), false);
  const { CARILLON_CONFIG: file, CARILLON_CONFIG_BODY: body } = environment;
  if (file) examination.addSource(readSource(file), true);
  if (body) examination.addSource(parseSource(body, 'CARILLON_CONFIG_BODY'), true);
  if (file && body)
    examination.refuse('CARILLON_CONFIG and CARILLON_CONFIG_BODY exclude each other');
  examination.addEnvironment(environment);
  return examination.result();
}

class Examination {
  readonly #merged = defaultsOf(SETTINGS);
  readonly #problems: string[] = [];
  readonly #origins = new Map<string, string>();

  refuse(line: string): void {
    this.#problems.push(line);
  }

  addSource(source: Source | string, isOperators: boolean): void {
    if (typeof source === 'string') this.refuse(source);
    else this.#overlay(this.#merged, source.tree, SETTINGS, { source, isOperators, path: [] });
  }

  addEnvironment(environment: Environment): void {
    const places = listSettings();
    for (const place of places) {
      const raw = environment[place.environment];
      if (raw === undefined) continue;
      const value = fromEnvironment(place, raw);
      const fault = value === undefined ? 'must be on or off' : faultOf(place.setting, value);
      if (fault !== undefined) {
        const shown = shownValue(place.setting, typeof value === 'number' ? value : raw);
        this.refuse(`${place.environment} ${fault}${shown}`);
        continue;
      }
      set(this.#merged, place.path, value);
      this.#origins.set(place.path.join('.'), place.environment);
    }
    const known = new Set([...OTHER_VARIABLES, ...places.map((place) => place.environment)]);
    for (const name of Object.keys(environment)) {
      if (name.startsWith('CARILLON_') && !known.has(name))
        this.refuse(`unknown environment variable ${name}`);
    }
  }

  result(): Examined {
    const settings = this.#merged as unknown as Settings;
    // Invalid values have been replaced by defaults, so combination problems would be misleading.
    if (this.#problems.length === 0) this.#problems.push(...combinationProblems(settings));
    return { settings: deepFreeze(settings), problems: this.#problems, origins: this.#origins };
  }

  #overlay(
    into: Tree,
    from: Tree,
    schema: object,
    context: {
      readonly source: Source;
      readonly isOperators: boolean;
      readonly path: readonly string[];
    },
  ): void {
    const { source, isOperators } = context;
    for (const [key, value] of Object.entries(from)) {
      const path = [...context.path, key];
      const name = path.join('.');
      const place = source.place(path);
      const child = Object.hasOwn(schema, key)
        ? (schema as Record<string, object>)[key]
        : undefined;
      if (child === undefined) {
        this.refuse(
          `unknown key ${name} in ${place}; known here: ${Object.keys(schema).join(', ')}`,
        );
      } else if (isSetting(child)) {
        const fault = faultOf(child, value);
        if (fault !== undefined) {
          this.refuse(`${name} in ${place} ${fault}${shownValue(child, value)}`);
          continue;
        }
        into[key] = value;
        if (isOperators) this.#origins.set(name, place);
      } else if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        this.refuse(`${name} in ${place} must be an object with ${Object.keys(child).join(', ')}`);
      } else {
        this.#overlay(into[key] as Tree, value as Tree, child, { ...context, path });
      }
    }
  }
}

function defaultsOf(node: object): Tree {
  const out: Tree = {};
  for (const [key, child] of Object.entries(node) as [string, object][]) {
    out[key] = isSetting(child) ? child.default : defaultsOf(child);
  }
  return out;
}

/** Parses the text of an environment variable. Returns undefined for a switch that is not on or off. */
function fromEnvironment({ setting }: SettingPlace, raw: string): unknown {
  if (setting.kind === 'integer') return raw.trim() === '' ? Number.NaN : Number(raw);
  if (setting.kind === 'list') {
    return raw
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }
  if (setting.kind === 'switch') {
    const word = raw.toLowerCase();
    if (['on', 'true', 'yes', '1'].includes(word)) return true;
    return ['off', 'false', 'no', '0'].includes(word) ? false : undefined;
  }
  return raw;
}

const shownValue = (setting: Setting, value: unknown): string => {
  if (setting.kind === 'list' || setting.kind === 'rows') return '';
  return setting.secret ? ', not what was given' : `, not ${maskSecrets(JSON.stringify(value))}`;
};

/** Returns the expectation that a value violates, or undefined if it is valid. */
function faultOf(setting: Setting, value: unknown): string | undefined {
  switch (setting.kind) {
    case 'integer': {
      const fits =
        Number.isInteger(value) &&
        (value as number) >= setting.min &&
        (value as number) <= setting.max;
      return fits ? undefined : `must be a whole number from ${setting.min} to ${setting.max}`;
    }
    case 'switch':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'list':
      return listFault(setting, value);
    case 'rows':
      return typeof value === 'string' || Array.isArray(value)
        ? undefined
        : 'must be the path of a file, or a list';
    case 'text':
      if (typeof value !== 'string') return 'must be a string';
      if (setting.oneOf !== undefined)
        return setting.oneOf.includes(value)
          ? undefined
          : `must be one of ${setting.oneOf.join(', ')}`;
      return textFault(setting, value);
  }
}

const CONTROL = /\p{Cc}/u;
const CONTROL_IN_LINES = /[^\P{Cc}\n\t]/u;

function textFault({ default: initial, form }: TextSetting, value: string): string | undefined {
  if (value === '') return initial === '' ? undefined : 'must not be empty';
  if (value.trim() === '') return 'must not be blank';
  const control = form?.lines === true ? CONTROL_IN_LINES : CONTROL;
  if (control.test(value)) return 'must not have control characters';
  return form === undefined || form.fits(value) ? undefined : `must be ${form.expected}`;
}

function listFault({ form, secret }: ListSetting, value: unknown): string | undefined {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  if (!isList) return 'must be a list of strings';
  const items: readonly string[] = value;
  const shown = (item: string): string => (secret ? '' : `: ${maskSecrets(JSON.stringify(item))}`);
  if (items.some((item) => item.trim() === '')) return 'has an empty entry';
  const wrong = items.find((item) => CONTROL.test(item) || form?.fits(item.trim()) === false);
  if (wrong !== undefined)
    return form === undefined
      ? 'has an entry with control characters'
      : `needs ${form.expected}${shown(wrong)}`;
  const seen = new Set<string>();
  const again = items.find((item) => {
    const name = (form?.sameAs?.(item) ?? item).trim().toLowerCase();
    return seen.size === seen.add(name).size;
  });
  return again === undefined ? undefined : `has an entry twice${shown(again)}`;
}

function set(tree: Tree, path: readonly string[], value: unknown): void {
  let node = tree;
  for (const key of path.slice(0, -1)) node = node[key] as Tree;
  node[path.at(-1) ?? ''] = value;
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  }
  return Object.freeze(value);
}
