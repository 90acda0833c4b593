/** Cost of one whole call in the store: both legs from open record to timeline, in an empty database and in one with old records. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRandom } from '../src/base/system-random.ts';
import { Engine } from '../src/edge/store/engine.ts';
import { addOldCalls } from './calls/old-calls.ts';
import { isQuick, mostTimesFloor, type Row } from './row.ts';
import { ACCOUNT, CALL_US, createAccount, timeOf, WholeCalls } from './store/whole-call.ts';

/** `BENCH_STORE_RECORDS`: of earlier calls, with an entry each. */
const RECORDS = Number(process.env['BENCH_STORE_RECORDS'] ?? (isQuick ? 100_000 : 1_000_000));
const WARM = 6000;
const CALLS = 4000;
/** Calls between two copies of the write-ahead log, as a service at 100 calls a second makes them. */
const COPIED_AFTER = 500;
const GROWTH = 1.1;

interface Cost {
  readonly usPerCall: number;
  /** Written to the write-ahead log, each 4 KiB. */
  readonly pagesPerCall: number;
}

/** CPU of the thread that writes, without the copying of the log, which is another's work. */
function measure(engine: Engine, calls: number, from: number): Cost {
  const whole = new WholeCalls(engine);
  let us = 0;
  let pages = 0;
  for (let done = 0; done < calls; done += COPIED_AFTER) {
    const begun = process.cpuUsage();
    for (let index = 0; index < COPIED_AFTER; index += 1) whole.add(from + done + index);
    const { user, system } = process.cpuUsage(begun);
    us += user + system;
    pages += engine.checkpoint();
  }
  return { usPerCall: us / calls, pagesPerCall: pages / calls };
}

function open(folder: string): Engine {
  return new Engine({
    file: join(folder, 'carillon.db'),
    role: 'writer',
    synchronous: 'normal',
    checkpoints: 'elsewhere',
    key: new Uint8Array(32),
    random: systemRandom,
  });
}

export function run(): Row[] {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-store-'));
  try {
    let engine = open(folder);
    createAccount(engine);
    measure(engine, WARM, 0);
    const alone = measure(engine, CALLS, WARM);
    engine.close();
    const old = { count: RECORDS, accountId: ACCOUNT, fromUs: timeOf(WARM + CALLS + 1000) };
    addOldCalls(join(folder, 'carillon.db'), { ...old, apartUs: CALL_US, alone: true });
    engine = open(folder);
    const from = WARM + CALLS + RECORDS + 2000;
    measure(engine, WARM, from);
    const among = measure(engine, CALLS, from + WARM);
    engine.close();
    const withRecords = `with ${RECORDS.toLocaleString('en')} stored records`;
    return [
      {
        name: `store: writes of a whole call ${withRecords}`,
        value: Math.round(among.usPerCall),
        unit: 'µs CPU',
        floor: Math.round(alone.usPerCall),
        ratio: among.usPerCall / alone.usPerCall,
        note: 'floor: in an empty store; two legs, nine units of work; ends of five calls in one transaction',
      },
      {
        name: `store: pages written for a whole call ${withRecords}`,
        value: among.pagesPerCall,
        unit: 'pages',
        floor: alone.pagesPerCall,
        ratio: among.pagesPerCall / alone.pagesPerCall,
        goal: mostTimesFloor(GROWTH),
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
