import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Version of Carillon, from package.json. */
export const { version: VERSION } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
) as { readonly version: string };
