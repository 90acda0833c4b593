/** Formats the effective settings with masked secrets and the origin of each value that is not a default. */
import { Document } from 'yaml';
import { MASK, maskSecrets } from '../base/mask.ts';
import type { Examined } from './load.ts';
import { listSettings, type Setting, type Settings } from './schema.ts';

/** Formats the settings as YAML that is a valid settings file, except for masked values. */
export function settingsAsYaml(examined: Examined): string {
  const document = new Document({});
  for (const { path, shown, origin } of rowsOf(examined)) {
    const node = document.createNode(shown);
    if (origin !== undefined) node.comment = ` ${origin}`;
    document.setIn(path, node);
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** Formats the settings as JSON: `{ settings, origins }`. */
export function settingsAsJson(examined: Examined): string {
  const document = new Document({});
  for (const { path, shown } of rowsOf(examined)) document.setIn(path, document.createNode(shown));
  const origins = Object.fromEntries(examined.origins);
  return JSON.stringify({ settings: document.toJS(), origins }, undefined, 2);
}

/** A setting of the running service, as the console shows it. */
export interface ShownSetting {
  /** Path with dots, for example `sip.publicHost`. */
  readonly name: string;
  readonly description: string;
  /** Value in force, with secrets masked. */
  readonly value: string;
  readonly defaultValue: string;
  readonly source: 'default' | 'file' | 'environment';
  /** Line of the settings file, or the variable. Empty for defaults. */
  readonly place: string;
  readonly isSecret: boolean;
  /** Whether a reload applies a change. Other changes need a restart. */
  readonly isLive: boolean;
  /** Value of file and environment, if it differs from the value in force. */
  readonly nextValue: string | undefined;
}

/** Lists the settings in force, and those that have changed in file or environment since. */
export function listShown(
  running: Settings,
  { settings: next, origins }: Examined,
): readonly ShownSetting[] {
  return listSettings().map(({ path, setting }) => {
    const name = path.join('.');
    const place = origins.get(name) ?? '';
    const [now, later] = [valueAt(running, path), valueAt(next, path)];
    const isChanged = JSON.stringify(now) !== JSON.stringify(later);
    return {
      name,
      description: setting.about,
      value: textOf(shownOf(setting, now)),
      defaultValue: textOf(shownOf(setting, setting.default)),
      source: place === '' ? 'default' : place.startsWith('CARILLON_') ? 'environment' : 'file',
      place,
      isSecret: setting.secret === true,
      isLive: setting.live === true,
      nextValue: isChanged ? textOf(shownOf(setting, later)) : undefined,
    };
  });
}

const textOf = (shown: unknown): string =>
  Array.isArray(shown) ? shown.join(', ') : String(shown);

function valueAt(settings: Settings, path: readonly string[]): unknown {
  let value: unknown = settings;
  for (const key of path) value = (value as Record<string, unknown>)[key];
  return value;
}

function rowsOf({ settings, origins }: Examined) {
  return listSettings().map(({ path, setting }) => {
    const value = valueAt(settings, path);
    return { path, shown: shownOf(setting, value), origin: origins.get(path.join('.')) };
  });
}

function shownOf(setting: Setting, value: unknown): unknown {
  if (setting.secret && Array.isArray(value)) return value.map(() => MASK);
  if (setting.secret) return value === '' ? '' : MASK;
  // Carriers contain passwords: show only the number of rows.
  if (setting.kind === 'rows' && Array.isArray(value)) return `(${value.length} in the file)`;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(String(item)));
  return typeof value === 'string' ? maskSecrets(value) : value;
}
