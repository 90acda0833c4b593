/** SQL statements, transactions and their pages, and messages between threads of one call. Counted in a separate run, because counting costs time. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Row } from '../row.ts';
import type { ThreadCounts } from './count-hook.ts';
import { type LogPages, LogWatch } from './log-pages.ts';
import { Rig, type RigOptions } from './rig.ts';

const RATE = 50;
const SECONDS = 6;
/** The hook tells every 200 ms. */
const REPORTED_MS = 500;
const SHOWN = 12;

interface Counts {
  messages: number;
  readonly statements: Map<string, number>;
}

function read(folder: string): Counts {
  const counts: Counts = { messages: 0, statements: new Map() };
  for (const file of readdirSync(folder)) {
    const reported = JSON.parse(readFileSync(join(folder, file), 'utf8')) as ThreadCounts;
    counts.messages += reported.messages;
    for (const [sql, count] of Object.entries(reported.statements))
      counts.statements.set(sql, (counts.statements.get(sql) ?? 0) + count);
  }
  return counts;
}

export async function countRows(title: string, options: RigOptions): Promise<readonly Row[]> {
  const reported = mkdtempSync(join(options.folder, 'counts-'));
  const hook = fileURLToPath(new URL('./count-hook.ts', import.meta.url));
  const nodeOptions = ['--import', hook];
  const rig = await Rig.start({ ...options, nodeOptions, env: { BENCH_COUNTS: reported } });
  try {
    await pause(REPORTED_MS);
    const before = read(reported);
    const log = new LogWatch(rig.service.file);
    const { calls } = await rig.step(RATE, SECONDS);
    const pages = log.stop();
    await pause(REPORTED_MS);
    return [...rowsOf(title, before, read(reported), calls), ...logRows(title, pages, calls)];
  } finally {
    await rig.stop();
  }
}

function rowsOf(title: string, before: Counts, after: Counts, calls: number): readonly Row[] {
  const each = [...after.statements]
    .map(([sql, count]) => ({
      sql: sql.replaceAll(/\s+/g, ' ').trim(),
      count: (count - (before.statements.get(sql) ?? 0)) / calls,
    }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  const most = each
    .slice(0, SHOWN)
    .map(({ sql, count }) => `${count.toFixed(2)} × ${sql.slice(0, 70)}`);
  return [
    {
      name: `${title}: SQL statements`,
      value: each.reduce((sum, { count }) => sum + count, 0),
      unit: 'a call',
      note: `at ${RATE}/s; the most frequent:\n      ${most.join('\n      ')}`,
    },
    {
      name: `${title}: messages between threads`,
      value: (after.messages - before.messages) / calls,
      unit: 'a call',
    },
  ];
}

function logRows(
  title: string,
  { commits, pages, byName }: LogPages,
  calls: number,
): readonly Row[] {
  const most = byName
    .slice(0, SHOWN)
    .map(([name, count]) => `${(count / calls).toFixed(2)} × ${name}`);
  return [
    { name: `${title}: transactions`, value: commits / calls, unit: 'a call' },
    {
      name: `${title}: pages written to the store's log`,
      value: pages / calls,
      unit: 'a call',
      note: `by table or index:\n      ${most.join('\n      ')}`,
    },
  ];
}
