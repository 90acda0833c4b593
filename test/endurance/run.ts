/**
 * `npm run endurance -- [--hours 24 | --minutes 15 | --calls 100000] [--rate 0.3] [--out FOLDER]`: calls with bots, keypad menus,
 * recordings, a campaign and REST requests against one node, at `--rate` calls per second. Writes report.md with plots of
 * memory, descriptors, timers, disk per call and setup time. Exits with 1 if a value does not stay flat, or if books are wrong.
 * `--calls` makes short calls, and compares resident memory at the end with its value around 10,000 calls.
 */
import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Carrier } from '../e2e/carrier.ts';
import { Customer } from '../e2e/customer.ts';
import { callFor, makeUser, type SipUser } from '../e2e/phone.ts';
import { type Json, newPlace, removePlace, Service } from '../e2e/service.ts';
import { growthReport, judge, residentGrowth, type Sample, type Series } from './judgement.ts';
import { linePlot } from './plot.ts';

const { values } = parseArgs({
  options: {
    hours: { type: 'string' },
    minutes: { type: 'string', default: '15' },
    calls: { type: 'string' },
    rate: { type: 'string', default: '0.3' },
    out: { type: 'string', default: 'build/endurance' },
  },
});
const rate = Number(values.rate);
const callLimit = Number(values.calls ?? Number.POSITIVE_INFINITY);
const totalMs =
  values.calls !== undefined
    ? (callLimit / rate) * 1000
    : values.hours === undefined
      ? Number(values.minutes) * 60_000
      : Number(values.hours) * 3_600_000;
if (!(totalMs >= 60_000 && totalMs <= 7 * 24 * 3_600_000) || !(rate > 0 && rate <= 100)) {
  console.error(
    'usage: npm run endurance -- [--hours 24 | --minutes 15 | --calls 100000] [--rate 0.3] [--out FOLDER]',
  );
  process.exit(2);
}
const isCounted = values.calls !== undefined;
const SAMPLES = 150;
const SAMPLE_MS = Math.max(5000, totalMs / SAMPLES);
const CALL_SECONDS = isCounted ? ([0.1, 0.2, 0.4] as const) : ([2, 4, 8] as const);
/** Calls that run at the same time. The loop waits while the machine is too slow for the rate. */
const RUNNING_MAX = 50;
/** Calls per read of the list of records. A run that counts calls has more of them in a second than users read lists. */
const CALLS_PER_READ = isCounted ? 20 : 1;
const CONTACTS_AT_ONCE = 20;
const CAMPAIGN_FROM = '14155550100';
const MIB = 2 ** 20;

const out = resolve(values.out);
mkdirSync(out, { recursive: true });
rmSync(join(out, 'samples.jsonl'), { force: true });
const place = await newPlace({
  CARILLON_ENDPOINTS_CALLS_PER_MINUTE: '100000',
  // Ports of ended calls rest for seconds, so short calls need more ports than the slice of a test.
  ...(isCounted && { CARILLON_RTP_PORT_MIN: '20000', CARILLON_RTP_PORT_MAX: '27999' }),
});
const service = await Service.start(place);
const customer = await Customer.listen();
const carrier = await Carrier.listen(() => ({ kind: 'answered', talkMs: 1500 }));

const faults: string[] = [];
const setups: number[] = [];
let finished = 0;
let sequence = 0;

/** Users with each kind of document; the demo user talks to the echo bot. */
async function users(): Promise<readonly SipUser[]> {
  const documents = [
    '<Response><Record maxLength="3" playBeep="false"/><Wait length="20"/></Response>',
    '<Response><GetDigits timeout="2" retries="1"/><Wait length="20"/></Response>',
    '<Response><DTMF>12</DTMF><Wait length="20"/></Response>',
  ];
  const made: SipUser[] = [service.demo];
  for (const [at, document] of documents.entries())
    made.push(
      await makeUser(service, `endurance${at}`, {
        answer_url: customer.xml(`/answer${at}`, document),
        hangup_url: customer.xml('/hangup', '<Response/>'),
      }),
    );
  return made;
}

async function checked(request: Promise<{ status: number; text: string; body: Json }>) {
  const { status, text, body } = await request;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
}

/** Prepares the account: credit, limits, and a carrier for the campaign. Returns the function that adds contacts. */
async function campaign(): Promise<() => Promise<void>> {
  const { demo } = service;
  const account = `/accounts/${demo.authId}`;
  await checked(service.admin('PATCH', account, { concurrent_calls_limit: 100, cps_limit: 50 }));
  const credit = { amount: 1_000_000, currency: 'USD', description: 'endurance' };
  await checked(service.admin('POST', `${account}/credit`, credit));
  await checked(service.admin('POST', `${account}/caller-ids`, { number: `+${CAMPAIGN_FROM}` }));
  const trunk = { name: 'endurance', host: '127.0.0.1', port: carrier.port, transport: 'udp' };
  await checked(service.admin('POST', '/carriers', { ...trunk, prefixes: [''], probe: false }));
  const agent = await checked(
    service.api('POST', 'campaign/agents', {
      name: 'Endurance',
      answer_url: customer.xml('/campaign', '<Response><Wait length="3"/></Response>'),
    }),
  );
  return async () => {
    const made = await checked(
      service.api('POST', 'campaigns', {
        name: `Endurance ${sequence}`,
        agent_id: agent['id'],
        max_concurrent: 2,
        timezone: 'UTC',
        caller_id_strategy: 'fixed',
        fixed_caller_id: CAMPAIGN_FROM,
      }),
    );
    const rows = Array.from({ length: CONTACTS_AT_ONCE }, () => {
      sequence += 1;
      return `+1415556${String(sequence % 10_000).padStart(4, '0')}`;
    });
    const form = new FormData();
    form.append('file', new Blob([['to', ...rows].join('\n')], { type: 'text/csv' }), 'list.csv');
    const base = `${service.baseUrl}/api/v1/account/${demo.authId}/campaigns/${String(made['id'])}`;
    const headers = { 'x-auth-id': demo.authId, 'x-auth-token': demo.authToken };
    await fetch(`${base}/upload`, { method: 'POST', headers, body: form });
    await checked(service.api('POST', `campaigns/${String(made['id'])}/start`));
  };
}

async function call(user: SipUser, seconds: number): Promise<void> {
  const { setupMs, end } = await callFor(service, user, seconds);
  finished += 1;
  if (setupMs !== undefined) setups.push(setupMs);
  else faults.push(`a call ended with ${end.how} ${end.status ?? ''}`);
}

const size = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const about = statSync(join(folder, name), { throwIfNoEntry: false });
    return sum + (about?.isFile() === true ? about.size : 0);
  }, 0);

async function sample(atMs: number): Promise<Sample> {
  const { text } = await service.get('/metrics');
  const metric = (name: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? Number.NaN,
    );
  const sorted = setups.splice(0).sort((a, b) => a - b);
  return {
    atMs,
    residentMiB: metric('process_resident_memory_bytes') / MIB,
    heapMiB: metric('nodejs_heap_size_used_bytes') / MIB,
    descriptors: metric('process_open_fds'),
    timers: metric('nodejs_active_resources{type="Timeout"}'),
    diskMiB: size(place.dataDir) / MIB,
    calls: finished,
    setupMs: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
  };
}

/** Writes each sample immediately, so that an interrupted run keeps them. */
async function takeSample(atMs: number): Promise<void> {
  const one = await sample(atMs);
  samples.push(one);
  appendFileSync(join(out, 'samples.jsonl'), `${JSON.stringify(one)}\n`);
}

function report(series: readonly Series[], verified: boolean): string {
  const hours = (totalMs / 3_600_000).toFixed(2);
  const rows = series.map(({ title, unit, early, late, limit, isFlat }) => {
    const cells = [early, late, limit].map((value) => value.toFixed(1));
    return `| ${title}, ${unit} | ${cells.join(' | ')} | ${isFlat ? 'flat' : '**grows**'} |`;
  });
  const plots = series.map(({ title }, at) => `![${title}](${at}.svg)`);
  return [
    '# Endurance',
    '',
    `${hours} hours, ${finished} calls of phones and ${carrier.calls.length} of campaigns, ${rate} calls per second, ${cpus().length} cores (load ${loadavg()[0]?.toFixed(1)}), Node ${process.version}.`,
    `Books: ${verified ? 'correct' : '**wrong**'}. Failed calls: ${faults.length}.`,
    '',
    '| value | third fifth | last fifth | limit | |',
    '|-|-:|-:|-:|-|',
    ...rows,
    '',
    ...(isCounted ? growthReport(residentGrowth(samples)) : []),
    ...plots,
    '',
  ].join('\n');
}

const all = await users();
const addContacts = await campaign();
const startMs = performance.now();
const samples: Sample[] = [];
const running = new Set<Promise<void>>();
let nextSampleMs = SAMPLE_MS;
let nextCampaignMs = 0;
const isOver = (turn: number): boolean =>
  isCounted ? turn >= callLimit : performance.now() - startMs >= totalMs;
let isUp = true;
void service.program.exited.then((status) => {
  isUp = false;
  faults.unshift(`the service ended with ${status}: ${service.program.output.slice(-3000)}`);
});
for (let turn = 0; !isOver(turn) && isUp; turn += 1) {
  const user = all[turn % all.length];
  const seconds = CALL_SECONDS[turn % CALL_SECONDS.length] ?? 2;
  if (user !== undefined) {
    const one = call(user, seconds).catch((error: unknown) => void faults.push(String(error)));
    running.add(one);
    void one.finally(() => running.delete(one));
  }
  const atMs = performance.now() - startMs;
  if (atMs >= nextCampaignMs) {
    nextCampaignMs += Math.max(60_000, (CONTACTS_AT_ONCE / rate) * 4000);
    await addContacts().catch((error: unknown) => void faults.push(`campaign: ${String(error)}`));
  }
  if (atMs >= nextSampleMs) {
    nextSampleMs += SAMPLE_MS;
    await takeSample(atMs).catch((error: unknown) => void faults.push(`sample: ${String(error)}`));
  }
  if (turn % CALLS_PER_READ === 0)
    await service.api('GET', 'cdr?per_page=20').catch(() => undefined);
  if (running.size >= RUNNING_MAX) await Promise.race(running);
  const dueMs = startMs + ((turn + 1) / rate) * 1000;
  await pause(Math.max(0, dueMs - performance.now()));
}
await Promise.all(running);
const died = faults.find((fault) => fault.startsWith('the service ended'));
if (died !== undefined) {
  console.error(died);
  process.exit(1);
}
await takeSample(performance.now() - startMs);
const verified = (await service.admin('POST', '/verify')).status === 200;
await service.stop();
await customer.close();
carrier.close();
removePlace(place);

const series = judge(samples);
for (const [at, { title, unit, points }] of series.entries())
  writeFileSync(join(out, `${at}.svg`), linePlot(title, unit, points));
const text = report(series, verified);
writeFileSync(join(out, 'report.md'), text);
console.log(text);
for (const fault of faults.slice(0, 10)) console.log(`fault: ${fault}`);
const share = faults.length / Math.max(1, finished);
const isFlat = isCounted ? residentGrowth(samples).isFlat : series.every((one) => one.isFlat);
process.exit(verified && share < 0.01 && isFlat ? 0 : 1);
