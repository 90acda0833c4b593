/** Prices and carriers of the settings: files, or lists in the settings file itself. */
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
