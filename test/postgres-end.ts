/** Names the folder of the PostgreSQL server that test files may start, and stops the server after the last file. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder = '';

export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), 'carillon-pg-'));
  process.env['CARILLON_TEST_POSTGRES'] = folder;
}

export async function teardown(): Promise<void> {
  if (existsSync(join(folder, 'started'))) {
    const { Cluster } = await import('./postgres.ts');
    new Cluster(folder).stop();
  }
  rmSync(folder, { recursive: true, force: true });
}
