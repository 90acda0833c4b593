/** Writes config/README.md from the schema of the settings; a test fails when they differ. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsPage } from '../src/config/page.ts';

writeFileSync(join(import.meta.dirname, '..', 'config', 'README.md'), settingsPage());
