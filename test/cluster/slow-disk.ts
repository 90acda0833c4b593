/** A PostgreSQL with an adjustable disk delay: `slow-sync.c` intercepts its syncs. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClusterOptions } from '../postgres.ts';

const SOURCE = fileURLToPath(new URL('./slow-sync.c', import.meta.url));

export class SlowDisk {
  readonly #folder = mkdtempSync(join(tmpdir(), 'carillon-slow-'));
  readonly #mark = join(this.#folder, 'slow');
  /** Options for a PostgreSQL server whose commits sync slowly while requested. */
  readonly postgres: ClusterOptions;

  constructor() {
    // PostgreSQL runs as another user.
    chmodSync(this.#folder, 0o755);
    const library = join(this.#folder, 'slow-sync.so');
    const built = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl']);
    if (built.status !== 0) throw new Error(`slow-sync.c: ${String(built.stderr)}`);
    this.postgres = {
      settings: { fsync: 'on', wal_sync_method: 'fdatasync' },
      environment: { LD_PRELOAD: library, SLOW_SYNC_FILE: this.#mark },
    };
  }

  set isSlow(isSlow: boolean) {
    if (isSlow) writeFileSync(this.#mark, '');
    else rmSync(this.#mark, { force: true });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
