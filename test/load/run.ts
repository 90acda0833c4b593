/**
 * `npm run load -- [--seconds 30] [--callers 6] [--askers 2]` reads and writes over REST while calls run through the built-in
 * demo, all on loopback. Prints response times and the event loop delay of the service. Exits with 1 if a request failed, or
 * if balances, ledger entries and records are inconsistent.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { callFor } from '../e2e/phone.ts';
import { eventually, type Json, newPlace, removePlace, Service } from '../e2e/service.ts';
import { numberOption } from '../number-option.ts';
import { credit, provision, read, Timings } from './traffic.ts';

const SECONDS_MAX = 600;
const CALLERS_MAX = 50;
const ASKERS_MAX = 16;
const CALL_SECONDS = [1, 2, 3, 4] as const;
/** Delay between the starts of callers, ms. */
const STAGGER_MS = 150;
const SETTLE_LIMIT_MS = 20_000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    callers: { type: 'string', default: '6' },
    askers: { type: 'string', default: '2' },
  },
});
const seconds = numberOption('seconds', values.seconds, { least: 1, most: SECONDS_MAX });
const callers = numberOption('callers', values.callers, { least: 1, most: CALLERS_MAX });
const askers = numberOption('askers', values.askers, { least: 1, most: ASKERS_MAX });

// Uses the default overload limit.
const place = await newPlace({ CARILLON_OVERLOAD_LOOP_DELAY_MS: '100' });
const faults: string[] = [];
try {
  const service = await Service.start(place);
  try {
    faults.push(...(await load(service)));
  } finally {
    const status = await service.stop();
    if (status !== 0) faults.push(`the service stopped with ${status}: ${service.program.stderr}`);
  }
} finally {
  removePlace(place);
}
for (const fault of faults.slice(0, 20)) console.error(`FAULT ${fault}`);
console.log(faults.length === 0 ? 'every balance is right' : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function load(service: Service): Promise<readonly string[]> {
  const timings = new Timings();
  const over = AbortSignal.timeout(seconds * 1000);
  const startMicros = micros((await service.balance())['balance']);
  await service.get('/metrics'); // A scrape starts a new measurement of the event loop delay.
  const each = <T>(count: number, work: (name: string) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => work(`asker${i}`)));
  const calling = Promise.all(
    Array.from({ length: callers }, (_, i) => keepCalling(service, i, over)),
  );
  const [credited] = await Promise.all([
    each(askers, (name) => credit(service, timings, name, over)),
    each(askers, () => read(service, timings, over)),
    each(askers, (name) => provision(service, timings, name, over)),
  ]);
  const metrics = (await service.get('/metrics')).text;
  const calls = (await calling).flat();
  console.log(
    `\n${calls.length} calls by ${callers} callers in ${seconds} s, ${askers} askers of each kind\n`,
  );
  console.log(
    `  ${'request'.padEnd(32)}${'count'.padStart(7)}${'p50 ms'.padStart(9)}${'p99 ms'.padStart(9)}`,
  );
  for (const line of timings.lines()) console.log(line);
  console.log(
    `  main loop late by: p50 ${late(metrics, 'p50')}, p99 ${late(metrics, 'p99')}, worst ${late(metrics, 'max')} ms\n`,
  );
  const sum = credited.reduce((total, amount) => total + amount, 0);
  return [...timings.faults, ...(await faultsOfBooks(service, calls, startMicros + sum))];
}

/** Places calls sequentially until `over` aborts. Returns the SIP Call-IDs of answered calls. */
async function keepCalling(service: Service, n: number, over: AbortSignal): Promise<string[]> {
  const answered: string[] = [];
  await pause(n * STAGGER_MS);
  for (let turn = n; !over.aborted; turn += 1) {
    const length = CALL_SECONDS[turn % CALL_SECONDS.length] ?? CALL_SECONDS[0];
    const report = await callFor(service, service.demo, length);
    if (report.setupMs !== undefined) answered.push(report.sipCallId);
  }
  return answered;
}

/** Verifies that balance, entries, records and reservations are consistent. */
async function faultsOfBooks(
  service: Service,
  calls: readonly string[],
  paidMicros: number,
): Promise<readonly string[]> {
  const found: string[] = [];
  const expect = (what: string, is: unknown, should: unknown): void => {
    if (is !== should) found.push(`${what} is ${String(is)}, should be ${String(should)}`);
  };
  await eventually(
    'the end of all calls',
    async () => ((await service.balance())['reserved_funds'] === 0 ? true : undefined),
    SETTLE_LIMIT_MS,
  );
  const cdrs = (await service.api('GET', 'cdr?per_page=1')).body;
  const { totalCalls, answeredCalls, total_cost: cost } = cdrs['summary'] as Json;
  expect('calls recorded', totalCalls, calls.length);
  expect('answered calls recorded', answeredCalls, calls.length);
  for (const sipCallId of calls) {
    const query = `cdr?sip_call_id=${encodeURIComponent(sipCallId)}`;
    const { pagination } = (await service.api('GET', query)).body;
    expect(`records of ${sipCallId}`, (pagination as Json)['total'], 1);
  }
  const balance = micros((await service.balance())['balance']);
  const { summary } = (await service.api('GET', 'transactions?per_page=1')).body;
  expect('balance', balance, paidMicros - micros(cost));
  expect('sum of the entries', micros((summary as Json)['net_amount']), balance);
  const verified = await service.admin('POST', '/verify', {});
  expect('verify', verified.body['ok'], true);
  if (calls.length === 0) found.push('no call was answered');
  return found;
}

function micros(amount: unknown): number {
  return Math.round(Number(amount) * 1_000_000);
}

function late(metrics: string, which: 'p50' | 'p99' | 'max'): string {
  const line = new RegExp(`^nodejs_eventloop_lag_${which}_seconds (\\S+)`, 'm').exec(metrics);
  return (Number(line?.[1]) * 1000).toFixed(1);
}
