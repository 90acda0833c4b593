/** Kills a campaign repeatedly and verifies its stored state. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { asAgentId, asCampaignId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { err } from '../../src/base/result.ts';
import { type CallPlacing, Dialer } from '../../src/domain/campaign/campaign.ts';
import { endOf } from '../../src/domain/campaign/placing.ts';
import type { Campaign } from '../../src/domain/campaign/types.ts';
import { recoverOpenCalls } from '../../src/domain/cdr/cdr.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { anAgent, aPlan, NO_CONTACTS, OWNER } from '../domain/campaign/records.ts';
import { seededRandom } from '../edge/store/open.ts';
import { openOnce } from './crash.ts';

const CHILD = fileURLToPath(new URL('./campaign-child.ts', import.meta.url));
const ID = asCampaignId('crashing');
const AGENT = asAgentId('agent');
const ROWS_AT_ONCE = 1000;

export const CAMPAIGN_DIALER = {
  maxRunning: 10,
  maxCallsPerDay: 1,
  activeMs: 60_000,
  stalledMs: 60_000,
  stalledPauseMs: 600_000,
  failures: 1_000_000,
};

/** Creates a running campaign in the folder, and the account that pays for its calls. */
export async function prepareCampaign(folder: string, contacts: number): Promise<void> {
  const { store } = await openOnce(folder);
  const { campaigns } = store;
  await campaigns.insertAgent({ ...anAgent(), ...OWNER, id: AGENT, createdUs: 0, updatedUs: 0 });
  const plan = aPlan({ agentId: AGENT, maxConcurrent: 8 });
  const retry = { ...plan.retry, attempts: 0 };
  const campaign: Campaign = {
    ...plan,
    ...OWNER,
    retry,
    id: ID,
    status: 'draft',
    pauseReason: undefined,
    counters: NO_CONTACTS,
    consecutiveFailures: 0,
    queuedUs: undefined,
    startedUs: undefined,
    completedUs: undefined,
    lastDialUs: undefined,
    createdUs: 0,
    updatedUs: 0,
  };
  await campaigns.insert(campaign);
  const list = await campaigns.beginList(ID);
  for (let first = 0; first < contacts; first += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, contacts - first) }, (_, index) => ({
      rowNumber: first + index + 1,
      to: String(12_120_000_000 + first + index),
      headers: [],
      from: undefined,
      answerUrl: undefined,
      hangupUrl: undefined,
      timezone: '',
    }));
    await campaigns.addRows(list, rows, []);
  }
  await campaigns.finishList(ID, list, ['draft']);
  await campaigns.change(ID, ['ready'], { status: 'running' });
  await store.close();
}

/**
 * Kills a child after `lines` lines. Returns them in order: `dialled <number>`, and `ended <number>` once the record is
 * stored.
 */
export async function dialUntilKilled(folder: string, lines: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [CHILD, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    said += text;
    if (said.split('\n').length > lines + 1) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  const whole = said.slice(0, said.lastIndexOf('\n')).split('\n');
  return whole.filter((line) => /^(dialled|ended) /.test(line));
}

/** Starts again from the stored state and returns all faults. `lines` holds the output of all processes so far. */
export async function findCampaignFaults(
  folder: string,
  lines: readonly string[],
): Promise<readonly string[]> {
  const { store, clock } = await openOnce(folder);
  await recoverOpenCalls(store.calls, silentLogger);
  const dialer = new Dialer({
    store: store.campaigns,
    calls: nowhere(store),
    webhooks: { compose: () => undefined, deliver: () => undefined },
    clock,
    random: seededRandom(),
    logger: silentLogger,
    onRevoked: () => undefined,
    settings: CAMPAIGN_DIALER,
  });
  await dialer.resumeAll();
  dialer.stop();
  const faults = [...(await statusFaults(store, new Set(lines))), ...dialledAgain(lines)];
  await store.close();
  return faults;
}

/** Returns faults of repeated calls. Only a call that a kill interrupted may be placed again. */
function dialledAgain(lines: readonly string[]): string[] {
  const ended = new Set<string>();
  const faults: string[] = [];
  for (const line of lines) {
    const [what = '', number = ''] = line.split(' ');
    if (what === 'ended') ended.add(number);
    else if (ended.has(number)) faults.push(`${number} was dialled again after its call had ended`);
  }
  return faults;
}

/** Call placement that places no calls, for a process that only reads the stored state. */
const nowhere = (store: Store): CallPlacing => ({
  place: async () => err({ kind: 'unavailable' }),
  onFree: () => undefined,
  mayPresent: async () => true,
  obstacle: async () => undefined,
  async endOf(callUuid) {
    const found = await store.cdrs.get(callUuid);
    return found && endOf(found.cdr);
  },
});

async function statusFaults(store: Store, lines: ReadonlySet<string>): Promise<string[]> {
  const faults: string[] = [];
  const campaign = await store.campaigns.get(ID);
  if (campaign === undefined) return ['the campaign is gone'];
  const open = await store.campaigns.openAttempts();
  if (open.length > 0) faults.push(`${open.length} attempts are still open`);
  const sums = new Map<string, number>();
  for (let after = 0; ; ) {
    const results = await store.campaigns.results(ID, after, ROWS_AT_ONCE);
    for (const { contact, attempt } of results) {
      sums.set(contact.status, (sums.get(contact.status) ?? 0) + 1);
      const isOver = contact.status !== 'pending';
      if (lines.has(`ended ${contact.to}`) && !isOver) faults.push(`${contact.to} has not ended`);
      if (!isOver && contact.attempts > 0) faults.push(`${contact.to} lost an attempt to the kill`);
      if (isOver && attempt === undefined)
        faults.push(`${contact.to} has ended without an attempt`);
      if (attempt?.endedUs === undefined && attempt !== undefined)
        faults.push(`${contact.to} dials`);
    }
    if (results.length < ROWS_AT_ONCE) break;
    after = results.at(-1)?.contact.rowNumber ?? after;
  }
  for (const [status, count] of Object.entries(campaign.counters)) {
    const sum = sums.get(status) ?? 0;
    if (sum !== count) faults.push(`${status}: counted ${count}, there are ${sum}`);
  }
  return faults;
}
