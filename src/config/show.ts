/** Formats the effective settings with masked secrets and the origin of each value that is not a default. */
import { Document } from 'yaml';
import { MASK, maskSecrets } from '../base/mask.ts';
import type { Examined } from './load.ts';
import { listSettings, type Setting } from './schema.ts';

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

function rowsOf({ settings, origins }: Examined) {
  return listSettings().map(({ path, setting }) => {
    let value: unknown = settings;
    for (const key of path) value = (value as Record<string, unknown>)[key];
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
