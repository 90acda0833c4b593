/** The effective settings for people: secrets masked, and where each value that is not the default comes from. */
import { Document } from 'yaml';
import { MASK, maskSecrets } from '../base/mask.ts';
import type { Examined } from './load.ts';
import { listSettings, type Setting } from './schema.ts';

/** YAML that could be a settings file again, but for what is masked. */
export function settingsAsYaml(examined: Examined): string {
  const document = new Document({});
  for (const { path, shown, origin } of rowsOf(examined)) {
    const node = document.createNode(shown);
    if (origin !== undefined) node.comment = ` ${origin}`;
    document.setIn(path, node);
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** The same for programs: `{ settings, origins }`. */
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
  // Carriers have passwords.
  if (setting.kind === 'rows' && Array.isArray(value)) return `(${value.length} in the file)`;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(String(item)));
  return typeof value === 'string' ? maskSecrets(value) : value;
}
