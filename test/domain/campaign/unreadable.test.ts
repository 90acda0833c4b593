/** Contacts, agents and attempts that cannot be read hold up no campaign. */
import { afterEach, expect, it, vi } from 'vitest';
import { wallUs } from '../../../src/base/clock.ts';
import { HEADERS, MACHINE_DETECTION } from '../../../src/edge/store/sql/stored-campaign.ts';
import { eventually } from '../../eventually.ts';
import { anAgent, contactRows, OWNER } from './records.ts';
import { openStage } from './stage.ts';

const MARK = 'damaged';
afterEach(() => vi.restoreAllMocks());

/** Makes stored values with the mark unreadable, as damaged JSON is. */
function damage(kind: { read(text: string): unknown }): void {
  const read = kind.read.bind(kind);
  vi.spyOn(kind, 'read').mockImplementation((text) => {
    if (text.includes(MARK)) throw new Error('this is not JSON');
    return read(text);
  });
}

const contacts = (count: number, damaged: number) =>
  contactRows(count).map((row, index) =>
    index === damaged ? { ...row, headers: [['X-Kind', MARK]] as const } : row,
  );

it('marks a contact as failed, reports it, calls the others and completes', async () => {
  const stage = await openStage();
  const campaign = await stage.ready({ maxConcurrent: 1 }, contacts(3, 1));
  damage(HEADERS);
  await stage.start(campaign);
  await stage.clock.advance(10_000);
  expect(stage.calls.dialled).toHaveLength(2);
  expect(await stage.state(campaign)).toBe('completed');
  expect((await stage.get(campaign)).counters).toMatchObject({ answered: 2, failed: 1 });
  const rows = await eventually('the report', async () => {
    const { items } = await stage.store.unreadableRows.page({ limit: 10, offset: 0 });
    return items.length > 0 ? items : undefined;
  });
  expect(rows).toMatchObject([{ table: 'campaign_contact', reason: 'this is not JSON' }]);
  vi.restoreAllMocks();
  const { items } = await stage.store.campaigns.contacts(campaign.id, {}, { limit: 10, offset: 0 });
  expect(items[1]).toMatchObject({ status: 'failed', reason: 'unreadable' });
});

it('completes a campaign whose contacts are all damaged', async () => {
  const stage = await openStage();
  const campaign = await stage.ready({}, contacts(1, 0));
  damage(HEADERS);
  await stage.start(campaign);
  await stage.clock.advance(1000);
  expect(await stage.state(campaign)).toBe('completed');
  expect(stage.calls.dialled).toEqual([]);
});

it('closes the open attempt of a damaged contact at the next start', async () => {
  const stage = await openStage();
  const campaign = await stage.ready({}, contacts(1, 0));
  stage.calls.scripts.set('*', [{ cause: 'answered', afterMs: 1e9 }]);
  await stage.start(campaign);
  await stage.clock.advance(0);
  expect(await stage.store.campaigns.openAttempts()).toHaveLength(1);
  stage.dialer.stop();
  damage(HEADERS);
  vi.spyOn(stage.calls, 'endOf').mockResolvedValue({
    answeredUs: undefined,
    endedUs: wallUs(stage.clock),
    hangupCause: 'USER_BUSY',
    hangupCauseCode: 3010,
    machine: undefined,
    refused: undefined,
  });
  const next = stage.newDialer();
  await next.resumeAll();
  await stage.clock.advance(1000);
  expect(await stage.store.campaigns.openAttempts()).toEqual([]);
  expect((await stage.get(campaign)).counters).toMatchObject({ failed: 1, dialling: 0 });
  expect(await stage.state(campaign)).toBe('completed');
  next.stop();
});

it('calls the contacts of other campaigns while an agent cannot be read', async () => {
  const stage = await openStage();
  const machineDetection = {
    mode: 'detect',
    callback: { url: `https://${MARK}.example/`, method: 'POST' },
    totalMs: 1,
    maximumSpeechMs: 1,
    initialSilenceMs: 1,
    maximumWords: 1,
    initialGreetingMs: 1,
  } as const;
  const agent = await stage.campaigns.createAgent(OWNER, { ...anAgent(), machineDetection });
  if (!agent.ok) throw new Error('no agent');
  const blocked = await stage.ready({ agentId: agent.value.id, maxConcurrent: 1 }, 1);
  const other = await stage.ready({}, 2);
  damage(MACHINE_DETECTION);
  await stage.start(blocked);
  await stage.start(other);
  await stage.clock.advance(5000);
  expect(await stage.state(other)).toBe('completed');
  expect(await stage.state(blocked)).toBe('running');
  await stage.clock.advance(31 * 60_000);
  expect(await stage.state(blocked)).toBe('paused:stalled');
});
