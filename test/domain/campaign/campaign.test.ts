import { beforeEach, describe, expect, it } from 'vitest';
import { wallUs } from '../../../src/base/clock.ts';
import { asAccountId, type CampaignId } from '../../../src/base/ids.ts';
import { CampaignService } from '../../../src/domain/campaign/campaign.ts';
import type { Campaign, CampaignPlan } from '../../../src/domain/campaign/types.ts';
import type { Store } from '../../../src/edge/store/store.ts';
import { openInMemory } from '../../edge/store/open.ts';
import { anAccount } from '../../edge/store/records.ts';
import { anAgent, aPlan, contactRows, OWNER } from './records.ts';

const FOREIGN = '12025550199';

async function open() {
  const { store, clock, random } = await openInMemory();
  await store.accounts.create(anAccount(), 'token');
  const move =
    (from: Parameters<Store['campaigns']['change']>[1], status: Campaign['status']) =>
    ({ id }: Campaign) =>
      store.campaigns.change(id, from, { status });
  const campaigns = new CampaignService({
    store: store.campaigns,
    accounts: { get: (id) => store.accounts.get(id) },
    calls: { mayPresent: async (_account, number) => number !== FOREIGN },
    webhooks: { compose: () => undefined, deliver: () => undefined },
    dialer: {
      start: move(['ready'], 'running'),
      pause: move(['running'], 'paused'),
      resume: move(['paused'], 'running'),
      obstacle: async () => undefined,
      changed: async () => undefined,
      agentChanged: async () => undefined,
      health: () => 'not_started',
      running: async () => [],
    },
    timezoneOf: (number) => (number.startsWith('49') ? 'Europe/Berlin' : ''),
    clock,
    random,
  });
  const agent = await campaigns.createAgent(OWNER, anAgent());
  if (!agent.ok) throw new Error('no agent');
  const create = async (over: Partial<CampaignPlan> = {}) => {
    const created = await campaigns.create(OWNER, aPlan({ agentId: agent.value.id, ...over }));
    if (!created.ok) throw new Error(JSON.stringify(created.error));
    return created.value.campaign;
  };
  const upload = async (id: CampaignId, rows = contactRows(3)) => {
    const begun = await campaigns.beginUpload(OWNER, id);
    if (!begun.ok) return begun;
    await campaigns.addRows(begun.value, rows);
    return campaigns.finishUpload(begun.value);
  };
  return { store, campaigns, agent: agent.value, create, upload, clock };
}

describe('campaigns', () => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => {
    opened = await open();
  });

  it('start as drafts and become ready with the first contact', async () => {
    const { campaigns, create, upload } = opened;
    const { id, status } = await create();
    expect(status).toBe('draft');
    expect(await upload(id, [])).toMatchObject({ value: { totalRows: 0 } });
    expect(await campaigns.get(OWNER, id)).toMatchObject({
      value: { campaign: { status: 'draft' } },
    });
    expect(await upload(id)).toMatchObject({ value: { validContacts: 3, invalidRows: 0 } });
    expect(await campaigns.get(OWNER, id)).toMatchObject({
      value: { campaign: { status: 'ready', counters: { pending: 3 } } },
    });
  });

  it('report each bad row with its number and reason', async () => {
    const { campaigns, create, upload } = opened;
    const { id } = await create();
    const [first, second] = contactRows(2);
    if (first === undefined || second === undefined) throw new Error('no rows');
    const rows = [
      first,
      { ...second, to: 'nobody' },
      { ...first, rowNumber: 3, to: '+1 (212) 555-0100' },
      { rowNumber: 4, reason: 'has 3 cells instead of 2' },
    ] as (typeof first)[];
    expect(await upload(id, rows)).toMatchObject({
      value: { validContacts: 1, invalidRows: 3, totalRows: 4 },
    });
    expect(await campaigns.badRows(OWNER, id, 2, 10)).toEqual({
      ok: true,
      value: [
        { rowNumber: 3, reason: '12125550100 is already in row 1' },
        { rowNumber: 4, reason: 'has 3 cells instead of 2' },
      ],
    });
  });

  it('replace the list while ready and delete the old one completely', async () => {
    const { campaigns, create, upload, store } = opened;
    const { id } = await create();
    await upload(id, contactRows(3));
    await upload(id, contactRows(2));
    const contacts = await campaigns.contacts(OWNER, id, {}, { limit: 10, offset: 0 });
    expect(contacts).toMatchObject({ value: { total: 2 } });
    expect(await store.campaigns.strayLists()).toEqual([]);
  });

  it('have at most four uploads of an account at a time, also if they begin together', async () => {
    const { campaigns } = opened;
    const { id } = await opened.create();
    const begin = () => campaigns.beginUpload(OWNER, id);
    const begun = await Promise.all([begin(), begin(), begin(), begin(), begin()]);
    expect(begun.map(({ ok }) => ok)).toEqual([true, true, true, true, false]);
    const refused = { kind: 'tooMany', what: 'concurrent uploads of an account', limit: 4 };
    expect(await begin()).toEqual({ ok: false, error: refused });
    const [first] = begun;
    if (first?.ok) await campaigns.abandonUpload(first.value);
    expect(await begin()).toMatchObject({ ok: true });
  });

  it('do not show an unfinished upload', async () => {
    const { campaigns, create } = opened;
    const { id } = await create();
    const begun = await campaigns.beginUpload(OWNER, id);
    if (!begun.ok) throw new Error('refused');
    await campaigns.addRows(begun.value, contactRows(5));
    expect(await campaigns.contacts(OWNER, id, {}, { limit: 10, offset: 0 })).toMatchObject({
      value: { total: 0 },
    });
    await campaigns.abandonUpload(begun.value);
    expect(await campaigns.addRows(begun.value, contactRows(1))).toMatchObject({ ok: false });
  });

  it("store the timezone of a number if the window uses the contact's timezone", async () => {
    const { campaigns, create, upload } = opened;
    const { id } = await create({ contactTimezone: 'number' });
    await upload(id, contactRows(1, { to: '4930123456' }));
    expect(
      await campaigns.contacts(OWNER, id, { search: '4930' }, { limit: 1, offset: 0 }),
    ).toEqual({
      ok: true,
      value: {
        items: [expect.objectContaining({ to: '4930123456', timezone: 'Europe/Berlin' })],
        total: 1,
      },
    });
  });

  it.each([
    ['max_concurrent', { maxConcurrent: 11 }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['fixed_caller_id', { fixedCallerId: FOREIGN }],
    ['fixed_caller_id', { fixedCallerId: undefined }],
    ['name', { name: '' }],
  ] as const)('refuse a plan with an invalid %s', async (field, over) => {
    const { campaigns, agent } = opened;
    const plan = aPlan({ agentId: agent.id, ...over });
    expect(await campaigns.create(OWNER, plan)).toMatchObject({
      error: { kind: 'invalid', field },
    });
  });

  it('must expire in the future and after their start', async () => {
    const { campaigns, agent, clock } = opened;
    const nowUs = wallUs(clock);
    const create = (over: Partial<CampaignPlan>) =>
      campaigns.create(OWNER, aPlan({ agentId: agent.id, ...over }));
    const invalid = { error: { kind: 'invalid', field: 'expires_at' } };
    expect(await create({ expiresUs: nowUs })).toMatchObject(invalid);
    const times = { scheduledUs: nowUs + 2000, expiresUs: nowUs + 2000 };
    expect(await create(times)).toMatchObject(invalid);
    const made = await create({ expiresUs: nowUs + 1_000_000 });
    if (!made.ok) throw new Error('not made');
    const { id } = made.value.campaign;
    expect(await campaigns.schedule(OWNER, id, nowUs + 2_000_000)).toMatchObject({
      error: { kind: 'invalid', field: 'scheduled_at' },
    });
    await clock.advance(2000);
    // An unchanged time may lie in the past.
    expect((await campaigns.update(OWNER, id, { name: 'Late' })).ok).toBe(true);
    expect(await campaigns.update(OWNER, id, { expiresUs: nowUs })).toMatchObject(invalid);
  });

  it('refuse a scheduled start in the past', async () => {
    const { campaigns, agent, clock } = opened;
    const nowUs = wallUs(clock);
    const create = (scheduledUs: number) =>
      campaigns.create(OWNER, aPlan({ agentId: agent.id, scheduledUs }));
    const invalid = { error: { kind: 'invalid', field: 'scheduled_at' } };
    expect(await create(nowUs)).toMatchObject(invalid);
    expect(await create(nowUs - 86_400_000_000)).toMatchObject(invalid);
    const made = await create(nowUs + 1_000_000);
    if (!made.ok) throw new Error('not made');
    const { id } = made.value.campaign;
    expect(await campaigns.update(OWNER, id, { scheduledUs: nowUs - 1 })).toMatchObject(invalid);
    expect(await campaigns.schedule(OWNER, id, nowUs - 1)).toMatchObject(invalid);
    await clock.advance(2000);
    // An unchanged time may lie in the past.
    expect((await campaigns.update(OWNER, id, { name: 'Late' })).ok).toBe(true);
  });

  it('change status only as permitted', async () => {
    const { campaigns, create, upload } = opened;
    const commands = ['start', 'pause', 'resume', 'cancel', 'archive'] as const;
    const allowed = {
      draft: ['archive'],
      ready: ['start', 'archive'],
      running: ['pause', 'cancel'],
      paused: ['resume', 'cancel'],
      cancelled: ['archive'],
      archived: [],
    };
    const way = {
      draft: [],
      ready: [],
      running: ['start'],
      paused: ['start', 'pause'],
      cancelled: ['start', 'cancel'],
      archived: ['archive'],
    } as const;
    for (const [status, possible] of Object.entries(allowed)) {
      for (const command of commands) {
        const { id } = await create();
        if (status !== 'draft') await upload(id);
        for (const step of way[status as keyof typeof way]) await campaigns[step](OWNER, id);
        const outcome = await campaigns[command](OWNER, id);
        const expected = (possible as readonly string[]).includes(command);
        expect([status, command, outcome.ok]).toEqual([status, command, expected]);
        if (!outcome.ok) expect(outcome.error).toMatchObject({ kind: 'wrongState', status });
      }
    }
  });

  it('accept contacts and changes only as drafts or when ready', async () => {
    const { campaigns, create, upload } = opened;
    const { id } = await create();
    await upload(id);
    await campaigns.start(OWNER, id);
    expect(await upload(id)).toMatchObject({ error: { kind: 'wrongState', status: 'running' } });
    expect(await campaigns.update(OWNER, id, { name: 'Other' })).toMatchObject({
      error: { kind: 'wrongState' },
    });
  });

  it('are unknown to other owners', async () => {
    const { campaigns, create, agent } = opened;
    const { id } = await create();
    const outsider = { accountId: asAccountId('MA_BBBBBBBBBBBBBBBBB'), subAccount: undefined };
    const sub = { ...OWNER, subAccount: asAccountId('SA_AAAAAAAAAAAAAAAAA') };
    for (const other of [outsider, sub]) {
      expect(await campaigns.get(other, id)).toMatchObject({ error: { kind: 'unknownCampaign' } });
      expect(await campaigns.agent(other, agent.id)).toMatchObject({ ok: false });
    }
  });

  it('protect their agent from deletion while unfinished', async () => {
    const { campaigns, create, agent } = opened;
    const { id } = await create();
    expect(await campaigns.removeAgent(OWNER, agent.id)).toMatchObject({
      error: { kind: 'agentInUse' },
    });
    await campaigns.archive(OWNER, id);
    expect(await campaigns.removeAgent(OWNER, agent.id)).toEqual({ ok: true, value: undefined });
  });

  it('count only new numbers towards the limit of a pool, also in concurrent requests', async () => {
    const { campaigns, create } = opened;
    const { id } = await create({ callerIdStrategy: 'pool', fixedCallerId: undefined });
    const from = (first: number) =>
      Array.from({ length: 600 }, (_, n) => ({
        number: `1202${5_550_000 + first + n}`,
        label: '',
      }));
    const add = (first: number) => campaigns.addNumbers(OWNER, id, from(first));
    const both = await Promise.all([add(0), add(1000)]);
    expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await campaigns.numbers(OWNER, id)).toMatchObject({ value: { length: 600 } });
    expect((await add(0)).ok || (await add(1000)).ok).toBe(true);
  });

  it('are cloned with their pool and without contacts', async () => {
    const { campaigns, create, upload } = opened;
    const { id } = await create({ callerIdStrategy: 'pool', fixedCallerId: undefined });
    await upload(id);
    await campaigns.addNumbers(OWNER, id, [{ number: '+12025550111', label: 'a' }]);
    const cloned = await campaigns.clone(OWNER, id, 'Copy');
    if (!cloned.ok) throw new Error('refused');
    expect(cloned.value.campaign).toMatchObject({ name: 'Copy', status: 'draft' });
    expect(await campaigns.numbers(OWNER, cloned.value.campaign.id)).toMatchObject({
      value: [{ number: '12025550111', label: 'a', totalCalls: 0 }],
    });
  });
});
