/** Cost of call heartbeats in PostgreSQL: one statement for many calls, with a synced disk. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asCallUuid } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { openStore } from '../../src/edge/store/store.ts';
import { Cluster } from '../../test/postgres.ts';
import { cpuOf } from '../calls/accounting.ts';
import { clock } from '../ledger/work.ts';
import type { Row } from '../row.ts';
import { rounded } from './figures.ts';

const CALLS = 5000;
const ROUNDS = 10;
/** Size of an open record. */
const RECORD_BYTES = 1500;

export async function heartbeats(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-beats-'));
  const cluster = new Cluster(folder, { fsync: 'on', full_page_writes: 'on' });
  cluster.create();
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  try {
    const url = cluster.database('beats');
    const store = await openStore({
      dataDir,
      synchronous: 'normal',
      logger: silentLogger,
      clock,
      random: systemRandom,
      postgres: { url, writers: 1, spoolBytes: 1_000_000 },
    });
    const db = cluster.connect('beats');
    db.run(
      `INSERT INTO open_call (call_uuid, account_id, heartbeat_us, record, node_id, epoch)
        SELECT 'call ' || n, 'account', 0, repeat('x', ${RECORD_BYTES}), 'n1', 1 FROM generate_series(1, ${CALLS}) AS n`,
    );
    db.close();
    const file = join(folder, 'data', 'postmaster.pid');
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
    const before = cpuOf(pid).ms;
    for (let round = 1; round <= ROUNDS; round += 1)
      await store.calls.heartbeat(
        Array.from({ length: CALLS }, (_, at) => ({
          callUuid: asCallUuid(`call ${at + 1}`),
          atUs: round,
        })),
      );
    const spentMs = cpuOf(pid).ms - before;
    await store.close();
    return [
      {
        name: 'PostgreSQL: CPU of a heartbeat',
        value: rounded((1000 * spentMs) / (CALLS * ROUNDS)),
        unit: 'µs/call',
        note: `${CALLS} open calls of ${RECORD_BYTES} bytes, ${ROUNDS} times`,
      },
    ];
  } finally {
    cluster.stop();
    rmSync(folder, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  }
}
