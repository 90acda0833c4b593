/** Reads prices and carriers of the settings: from files, or from lists in the settings file. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../base/result.ts';
import type { Settings } from '../config/schema.ts';
import { readSource } from '../config/source.ts';
import { parseRates } from '../domain/ledger/ledger.ts';
import type { Rate } from '../domain/ledger/types.ts';
import type { NewCarrier } from '../domain/provisioning/provisioning.ts';
import { parseCarriersFile } from '../edge/rest/server.ts';

export interface OperatorLists {
  readonly rates: readonly Rate[];
  readonly carriers: readonly NewCarrier[];
}

/** Reads both lists. `root` is the project folder, whose `config/` has the defaults. Each problem is one line. */
export function readOperatorLists(
  settings: Pick<Settings, 'rates' | 'carriers'>,
  root: string,
): { readonly lists: OperatorLists; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const read = <T>(
    name: 'rates' | 'carriers',
    parse: (document: unknown) => Result<readonly T[], string>,
  ): readonly T[] => {
    const given = settings[name];
    const file = given === '' ? join(root, 'config', `${name}.json`) : given;
    const source = typeof file === 'string' ? readSource(file) : { tree: { [name]: file } };
    if (typeof source === 'string') {
      problems.push(`${name}: ${source}`);
      return [];
    }
    const parsed = parse(source.tree);
    if (parsed.ok) return parsed.value;
    problems.push(`${typeof file === 'string' ? file : 'the settings file'}: ${parsed.error}`);
    return [];
  };
  const lists = { rates: read('rates', parseRates), carriers: read('carriers', parseCarriersFile) };
  return { lists, problems };
}

/** Returns the configured files that cannot be read, one line each. */
export function unreadableFiles(settings: Settings): readonly string[] {
  const { http, sip, streams, calls } = settings;
  const music = calls.holdMusic;
  const files: Readonly<Record<string, string>> = {
    'http.tlsCertFile': http.tlsCertFile,
    'http.tlsKeyFile': http.tlsKeyFile,
    'sip.tlsCertFile': sip.tlsCertFile,
    'sip.tlsKeyFile': sip.tlsKeyFile,
    'sip.tlsCaFile': sip.tlsCaFile,
    'streams.caFile': streams.caFile,
    'calls.holdMusic': music === 'default' || music === 'silence' ? '' : music,
  };
  return Object.entries(files).flatMap(([name, file]) => {
    if (file === '') return [];
    try {
      accessSync(file, constants.R_OK);
      return [];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [`${name} names a file that cannot be read: ${why}`];
    }
  });
}
