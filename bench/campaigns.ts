/** Campaigns on disk: list import, selection of due contacts among a million, cost of the dialer per call, and reuse of slots. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wallUs } from '../src/base/clock.ts';
import type { AccountId, CampaignId } from '../src/base/ids.ts';
import { silentLogger } from '../src/base/logger.ts';
import { err, ok } from '../src/base/result.ts';
import { systemRandom } from '../src/base/system-random.ts';
import { Accounts } from '../src/domain/account/account.ts';
import { type CallPlacing, CampaignService, Dialer } from '../src/domain/campaign/campaign.ts';
import type { CampaignOwner, NewContact } from '../src/domain/campaign/types.ts';
import { systemClock } from '../src/edge/clock/system-clock.ts';
import { openStore, type Store } from '../src/edge/store/store.ts';
import { uploads } from './campaigns/upload.ts';
import { isQuick, type Row } from './row.ts';

const SMALL_LIST = isQuick ? 10_000 : 100_000;
const LARGE_LIST = isQuick ? 50_000 : 1_000_000;
const CHEAP_CALLS = isQuick ? 2000 : 20_000;
const LOOKS = 500;
const ROWS_AT_ONCE = 1000;
const SLOTS = 100;
const SLOT_SECONDS = isQuick ? 5 : 20;
const CALL_MS = 1000;
const MEGABYTE = 1_048_576;
const CALLER = '12025550100';

interface Bench {
  readonly store: Store;
  readonly campaigns: CampaignService;
  readonly calls: BenchCalls;
  readonly owner: CampaignOwner;
}

/** Simulated calls that end after a random time. Only the campaign limits them. */
class BenchCalls implements CallPlacing {
  /** Duration of a call. */
  lengthMs: () => number = () => 0;
  begun = 0;
  running = 0;
  /** Time in which slots were used, milliseconds. */
  usedMs = 0;
  /** Times from a free slot to its next call, ms. */
  readonly idleMs: number[] = [];
  readonly #freeSinceMs: number[] = [];
  #countedMs = 0;

  async place(_call: unknown, begin: () => Promise<boolean>) {
    if (!(await begin())) return err({ kind: 'stale' } as const);
    this.#count();
    this.begun += 1;
    this.running += 1;
    const freeSince = this.#freeSinceMs.shift();
    if (freeSince !== undefined) this.idleMs.push(performance.now() - freeSince);
    const lengthMs = this.lengthMs();
    const ended = new Promise<void>((resolve) => {
      if (lengthMs === 0) setImmediate(resolve);
      else setTimeout(resolve, lengthMs);
    }).then(() => this.#end());
    return ok({ ended });
  }

  onFree(): void {}

  async mayPresent(): Promise<boolean> {
    return true;
  }

  async obstacle(): Promise<undefined> {}

  async endOf(): Promise<undefined> {}

  #end() {
    this.#count();
    this.running -= 1;
    this.#freeSinceMs.push(performance.now());
    const endedUs = wallUs(systemClock);
    const cause = { hangupCause: 'NORMAL_CLEARING', hangupCauseCode: 4000 };
    return { answeredUs: endedUs, endedUs, ...cause, machine: undefined, refused: undefined };
  }

  #count(): void {
    const nowMs = performance.now();
    this.usedMs += this.running * (nowMs - this.#countedMs);
    this.#countedMs = nowMs;
  }
}

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  const store = await openStore({
    dataDir: folder,
    synchronous: 'normal',
    logger: silentLogger,
    clock: systemClock,
    random: systemRandom,
  });
  try {
    const bench = await prepare(store);
    return [
      ...(await uploads()),
      ...(await lists(bench)),
      ...(await costOfCalls(bench)),
      ...(await slots(bench)),
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function prepare(store: Store): Promise<Bench> {
  const common = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const accounts = new Accounts({
    store: store.accounts,
    partners: store.partners,
    idempotency: store.idempotency,
    ...common,
    defaults: {
      country: 'US',
      currency: 'USD',
      concurrentCallsLimit: 1000,
      cpsLimit: 1000,
    },
  });
  const created = await accounts.create({ name: 'bench' });
  if (!created.ok) throw new Error('no account');
  const accountId: AccountId = created.value.account.authId;
  const calls = new BenchCalls();
  const webhooks = { compose: () => undefined, deliver: () => undefined };
  const needs = { store: store.campaigns, calls, webhooks, ...common };
  const dialer = new Dialer({
    ...needs,
    onRevoked: () => undefined,
    settings: {
      maxRunning: 10,
      maxCallsPerDay: 5,
      activeMs: 60_000,
      stalledMs: 60_000,
      stalledPauseMs: 600_000,
      failures: 10,
    },
  });
  const campaigns = new CampaignService({ ...needs, accounts, dialer, timezoneOf: () => '' });
  return { store, campaigns, calls, owner: { accountId, subAccount: undefined } };
}

async function aCampaign({ campaigns, owner }: Bench, maxConcurrent: number): Promise<CampaignId> {
  const agent = await campaigns.createAgent(owner, {
    name: 'bench',
    answer: { url: 'http://127.0.0.1/', method: 'POST' },
    hangup: undefined,
    fallback: undefined,
    ring: undefined,
    sipHeaders: [],
    machineDetection: undefined,
    record: undefined,
    timeLimitMs: 3_600_000,
    ringTimeoutMs: undefined,
  });
  if (!agent.ok) throw new Error('no agent');
  const created = await campaigns.create(owner, {
    name: 'bench',
    agentId: agent.value.id,
    maxConcurrent,
    cps: 1,
    timezone: 'Europe/Berlin',
    contactTimezone: 'campaign',
    window: undefined,
    scheduledUs: undefined,
    expiresUs: undefined,
    retry: { attempts: 0, delaysMs: [], windowMs: 604_800_000, on: [] },
    callerIdStrategy: 'fixed',
    fixedCallerId: CALLER,
    pool: { rotation: 'random', maxCalls: undefined, maxCallsPerDay: undefined, cooldownMs: 0 },
    abandonment: undefined,
    notifyUrl: undefined,
  });
  if (!created.ok) throw new Error(JSON.stringify(created.error));
  return created.value.campaign.id;
}

let nextNumber = 12_125_550_000;
const rows = (first: number, count: number): NewContact[] =>
  Array.from({ length: count }, (_, index) => ({
    rowNumber: first + index + 1,
    to: String(nextNumber++),
    from: undefined,
    answerUrl: undefined,
    hangupUrl: undefined,
    headers: [['name', 'Ada']],
  }));

/** Seconds. */
async function upload({ campaigns, owner }: Bench, id: CampaignId, count: number): Promise<number> {
  const begun = await campaigns.beginUpload(owner, id);
  if (!begun.ok) throw new Error('no upload');
  const startMs = performance.now();
  for (let first = 0; first < count; first += ROWS_AT_ONCE) {
    await campaigns.addRows(begun.value, rows(first, Math.min(ROWS_AT_ONCE, count - first)));
  }
  const finished = await campaigns.finishUpload(begun.value);
  if (!finished.ok || finished.value.validContacts !== count) throw new Error('not uploaded');
  return (performance.now() - startMs) / 1000;
}

async function lists(bench: Bench): Promise<Row[]> {
  const small = await upload(bench, await aCampaign(bench, 1), SMALL_LIST);
  const id = await aCampaign(bench, 1);
  const before = process.memoryUsage().rss;
  const large = await upload(bench, id, LARGE_LIST);
  const grown = (process.memoryUsage().rss - before) / MEGABYTE;
  const looks = await millisecondsOf(() => {
    const nowUs = wallUs(systemClock);
    const query = { campaignId: id, timezone: '', nowUs, dayStartUs: 0, limit: 1 };
    return bench.store.campaigns.due(query);
  });
  const zones = await millisecondsOf(() => bench.store.campaigns.dueZones(id));
  const many = LARGE_LIST.toLocaleString('en');
  return [
    {
      name: `campaigns: ${SMALL_LIST.toLocaleString('en')} checked rows into a list`,
      value: round(small),
      unit: 's',
      note: 'numbers read, duplicates found; goal with CSV ≤ 3 s',
    },
    {
      name: `campaigns: ${many} checked rows into a list`,
      value: round(large),
      unit: 's',
      note: `memory +${Math.round(grown)} MB; goal ≤ 150 MB`,
    },
    {
      name: `campaigns: next due contact of ${many}`,
      value: round(at(looks, 0.5)),
      unit: 'ms',
      note: `p99 ${round(at(looks, 0.99))} ms; goal ≤ 1 ms`,
    },
    {
      name: `campaigns: timezones and next moment of ${many}`,
      value: round(at(zones, 0.5)),
      unit: 'ms',
      note: `p99 ${round(at(zones, 0.99))} ms`,
    },
  ];
}

async function costOfCalls(bench: Bench): Promise<Row[]> {
  const { campaigns, calls, owner } = bench;
  const id = await aCampaign(bench, SLOTS);
  await upload(bench, id, CHEAP_CALLS);
  calls.lengthMs = () => 0;
  calls.begun = 0;
  const before = process.cpuUsage();
  const startMs = performance.now();
  await campaigns.start(owner, id);
  await over(bench, id);
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startMs) / 1000;
  const perCall = (user + system) / 1000 / calls.begun;
  return [
    {
      name: 'campaigns: dialer, CPU of a call',
      value: round(perCall),
      unit: 'ms',
      note: `two units of work on disk included, ${Math.round(calls.begun / seconds)} calls/s; goal ≤ 0.3 ms`,
    },
  ];
}

async function slots(bench: Bench): Promise<Row[]> {
  const { campaigns, calls, owner } = bench;
  const id = await aCampaign(bench, SLOTS);
  await upload(bench, id, (SLOTS * SLOT_SECONDS * 1000 * 2) / CALL_MS);
  calls.lengthMs = () => CALL_MS * (0.5 + Math.random());
  await campaigns.start(owner, id);
  await systemClock.sleep(2 * CALL_MS);
  calls.idleMs.length = 0;
  const usedMs = calls.usedMs;
  const startMs = performance.now();
  await systemClock.sleep(SLOT_SECONDS * 1000);
  const share = (calls.usedMs - usedMs) / (SLOTS * (performance.now() - startMs));
  const idle = [...calls.idleMs];
  await campaigns.cancel(owner, id);
  return [
    {
      name: 'campaigns: a free slot until its next call',
      value: round(at(idle, 0.5)),
      unit: 'ms',
      note: `p99 ${round(at(idle, 0.99))} ms, ${SLOTS} slots, ${idle.length} calls; goal ≤ 50 ms`,
    },
    {
      name: 'campaigns: use of max_concurrent',
      value: round(share * 100),
      unit: '%',
      note: `calls of about ${CALL_MS / 1000} s; goal ≥ 98 %`,
    },
  ];
}

async function over({ store }: Bench, id: CampaignId): Promise<void> {
  while ((await store.campaigns.get(id))?.status !== 'completed') await systemClock.sleep(5);
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    const startMs = performance.now();
    await work();
    taken.push(performance.now() - startMs);
  }
  return taken;
}

const at = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

const round = (value: number): number => Math.round(value * 1000) / 1000;
