import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentId, asCallUuid, asCampaignId } from '../../src/base/ids.ts';
import type { Campaign } from '../../src/domain/campaign/types.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { aPlan, NO_CONTACTS, OWNER } from '../domain/campaign/records.ts';
import { anAccount, START_US } from '../edge/store/records.ts';
import type { Opened } from './store-contract.ts';

const ID = asCampaignId('c1');
const aCampaign: Campaign = {
  ...aPlan({ agentId: 'a1' as AgentId }),
  ...OWNER,
  id: ID,
  status: 'draft',
  pauseReason: undefined,
  counters: NO_CONTACTS,
  consecutiveFailures: 0,
  queuedUs: undefined,
  startedUs: undefined,
  completedUs: undefined,
  lastDialUs: undefined,
  createdUs: START_US,
  updatedUs: START_US,
};
const start = (contactId: number, callUuid: string) => ({
  callUuid: asCallUuid(callUuid),
  campaignId: ID,
  contactId,
  attemptsBefore: 0,
  from: '12025550100',
  placedUs: START_US,
  poolNumber: undefined,
  maxCallsOfDay: 5,
  dayStartUs: 0,
});
const NO_LIMITS = { maxCalls: undefined, maxCallsPerDay: undefined } as const;
const end = (callUuid: string) => ({
  callUuid: asCallUuid(callUuid),
  day: '2026-01-01',
  status: 'busy' as const,
  answeredUs: undefined,
  endedUs: START_US + 1,
  hangupCause: 'USER_BUSY',
  hangupCauseCode: 3010,
  machine: undefined,
  contact: {
    status: 'retry_pending' as const,
    reason: undefined,
    dueUs: START_US + 1000,
    counts: true,
  },
  failure: 'resets' as const,
});

export function campaignContract(name: string, open: () => Promise<Opened>): void {
  describe(`campaigns in ${name}`, () => {
    let opened: Opened;
    let store: Store;
    const zones = ['', 'Asia/Tokyo', ''];
    const due = (nowUs: number, timezone = '') =>
      store.campaigns.due({ campaignId: ID, timezone, nowUs, dayStartUs: 0, limit: 10 });

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      await store.accounts.create(anAccount(), 'token');
      await store.campaigns.insert(aCampaign);
      const list = await store.campaigns.beginList(ID);
      const contacts = zones.map((timezone, index) => ({
        rowNumber: index + 1,
        to: `1212555010${index}`,
        from: undefined,
        answerUrl: index === 0 ? 'https://user:secret@example.com/' : undefined,
        hangupUrl: undefined,
        headers: [['row', String(index + 1)]] as const,
        timezone,
      }));
      await store.campaigns.addRows(list, contacts, []);
      await store.campaigns.finishList(ID, list, ['draft']);
      await store.campaigns.change(ID, ['ready'], { status: 'running' });
    });

    afterEach(() => opened.dispose());

    it('counts only the contacts of the new list', async () => {
      await store.campaigns.change(ID, ['running'], { status: 'ready' });
      const { items } = await store.campaigns.contacts(ID, {}, { limit: 1, offset: 0 });
      await store.campaigns.eraseContacts(items[0]?.to ?? '', 5);
      expect((await store.campaigns.get(ID))?.counters).toMatchObject({ pending: 2, failed: 1 });
      const list = await store.campaigns.beginList(ID);
      const finished = await store.campaigns.finishList(ID, list, ['ready']);
      const counters = Object.values(finished?.campaign.counters ?? { none: 1 });
      expect(counters.every((count) => count === 0)).toBe(true);
    });

    it('returns contacts in list order, after the retries that are due', async () => {
      expect((await due(START_US)).map(({ contact }) => contact.rowNumber)).toEqual([1, 3]);
      expect(await store.campaigns.begin(start(1, 'u1'))).toBeDefined();
      await store.campaigns.finish(end('u1'), []);
      expect(await store.campaigns.begin(start(1, 'u2'))).toBeUndefined();
      expect(await store.campaigns.begin({ ...start(1, 'u2'), attemptsBefore: 1 })).toBeUndefined();
      expect((await due(START_US + 999)).map(({ contact }) => contact.rowNumber)).toEqual([3]);
      const [retry, fresh] = await due(START_US + 1000);
      expect([retry?.contact.rowNumber, fresh?.contact.rowNumber]).toEqual([1, 3]);
      expect(retry).toMatchObject({
        contact: {
          attempts: 1,
          status: 'retry_pending',
          answerUrl: 'https://user:secret@example.com/',
        },
        callsOfDay: 1,
      });
    });

    it('lists timezones with waiting contacts and their due times', async () => {
      expect(await store.campaigns.dueZones(ID)).toEqual([
        { timezone: '', dueUs: 0 },
        { timezone: 'Asia/Tokyo', dueUs: 0 },
      ]);
      await store.campaigns.begin(start(2, 'u1'));
      await store.campaigns.finish(end('u1'), []);
      expect(await store.campaigns.dueZones(ID)).toEqual([
        { timezone: '', dueUs: 0 },
        { timezone: 'Asia/Tokyo', dueUs: START_US + 1000 },
      ]);
    });

    it('begins and ends an attempt once and updates the counters with each step', async () => {
      expect(await store.campaigns.begin(start(1, 'u1'))).toBeDefined();
      expect(await store.campaigns.begin(start(1, 'u2'))).toBeUndefined();
      expect(await store.campaigns.get(ID)).toMatchObject({
        counters: { ...NO_CONTACTS, pending: 2, dialling: 1 },
      });
      expect(await store.campaigns.openAttempts()).toMatchObject([{ callUuid: 'u1' }]);
      expect(await store.campaigns.finish(end('u1'), [])).toMatchObject({
        counters: { ...NO_CONTACTS, pending: 2, retry_pending: 1 },
      });
      expect(await store.campaigns.finish(end('u1'), [])).toBeUndefined();
      expect(await store.campaigns.openAttempts()).toEqual([]);
      expect(await store.campaigns.attempts(ID, { limit: 10, offset: 0 })).toMatchObject({
        total: 1,
        items: [{ status: 'busy', attemptNumber: 1, hangupCause: 'USER_BUSY' }],
      });
      expect(await store.campaigns.results(ID, 0, 10)).toMatchObject([
        { contact: { rowNumber: 1 }, attempt: { callUuid: 'u1' } },
        { contact: { rowNumber: 2 }, attempt: undefined },
        { contact: { rowNumber: 3 }, attempt: undefined },
      ]);
    });

    it('begins no attempt for a contact that has changed since it was read', async () => {
      await store.campaigns.begin(start(1, 'u1'));
      await store.campaigns.finish(end('u1'), []);
      const again = { ...start(1, 'u2'), attemptsBefore: 1, placedUs: START_US + 1000 };
      for (const changed of [
        { attemptsBefore: 0 },
        { placedUs: START_US + 999 },
        { maxCallsOfDay: 1 },
      ]) {
        expect(await store.campaigns.begin({ ...again, ...changed })).toBeUndefined();
      }
      await store.campaigns.addDoNotCall(OWNER.accountId, ['12125550100'], START_US, 9);
      expect(await store.campaigns.begin(again)).toBeUndefined();
      await store.campaigns.removeDoNotCall(OWNER.accountId, '12125550100');
      expect(await store.campaigns.begin(again)).toBeDefined();
    });

    it('decides nothing about a contact that is being called', async () => {
      await store.campaigns.begin(start(1, 'u1'));
      const decision = { status: 'expired', reason: 'campaign_expired', dueUs: undefined } as const;
      const decisions = [1, 2].map((contactId) => ({ contactId, ...decision }));
      expect(await store.campaigns.decide(ID, decisions, [])).toMatchObject({
        counters: { ...NO_CONTACTS, dialling: 1, expired: 1, pending: 1 },
      });
    });

    it('begins no attempt of a campaign that is not running', async () => {
      await store.campaigns.change(ID, ['running'], { status: 'paused' });
      expect(await store.campaigns.begin(start(1, 'u1'))).toBeUndefined();
    });

    it('reverts an attempt that rang no phone: it counts for no limit', async () => {
      const unused = { totalCalls: 0, day: '', callsOfDay: 0, lastUsedUs: undefined };
      const number = start(1, 'u1').from;
      await store.campaigns.addNumbers(ID, [{ id: 'n1', number, label: '', ...unused }], 10);
      const poolNumber = { id: 'n1', day: '2026-01-01', ...NO_LIMITS };
      await store.campaigns.begin({ ...start(1, 'u1'), poolNumber });
      const contact = {
        status: 'pending' as const,
        reason: undefined,
        dueUs: undefined,
        counts: false,
      };
      await store.campaigns.finish({ ...end('u1'), contact }, []);
      expect((await due(START_US))[0]).toMatchObject({
        contact: { rowNumber: 1, attempts: 0, firstDialUs: undefined },
        callsOfDay: 0,
      });
      expect(await store.campaigns.numbers(ID)).toMatchObject([{ totalCalls: 0, callsOfDay: 0 }]);
    });

    it('marks numbers on the do-not-call list of the account or the operator', async () => {
      await store.campaigns.addDoNotCall(OWNER.accountId, ['12125550100'], START_US, 9);
      expect(
        await store.campaigns.addDoNotCall('operator', ['12125550102', '12125550102'], 1, 9),
      ).toEqual({ ok: true, value: 1 });
      expect((await due(START_US)).map(({ doNotCall }) => doNotCall)).toEqual([true, true]);
      await store.campaigns.removeDoNotCall('operator', '12125550102');
      expect((await due(START_US)).map(({ doNotCall }) => doNotCall)).toEqual([true, false]);
      expect(
        await store.campaigns.doNotCall(OWNER.accountId, '555', { limit: 5, offset: 0 }),
      ).toEqual({
        items: [{ number: '12125550100', addedUs: START_US }],
        total: 1,
      });
    });

    it('adds do-not-call numbers up to the maximum of the list, all or none', async () => {
      const add = (...numbers: string[]) => store.campaigns.addDoNotCall('operator', numbers, 1, 2);
      await store.campaigns.addDoNotCall(OWNER.accountId, ['7', '8'], 1, 2);
      expect(await add('1', '2')).toEqual({ ok: true, value: 2 });
      expect(await add('2', '1')).toEqual({ ok: true, value: 0 });
      expect(await add('2', '3')).toEqual({ ok: false, error: 'tooMany' });
      const listed = await store.campaigns.doNotCall('operator', '', { limit: 5, offset: 0 });
      expect(listed.items.map(({ number }) => number)).toEqual(['1', '2']);
    });

    it('deletes do-not-call numbers by age only', async () => {
      await store.campaigns.addDoNotCall('operator', ['1', '2'], 10, 9);
      await store.campaigns.addDoNotCall('operator', ['2', '3'], 20, 9);
      expect(await store.campaigns.purgeDoNotCall(20, 1)).toBe(1);
      expect(await store.campaigns.purgeDoNotCall(20, 5)).toBe(1);
      expect(
        await store.campaigns.doNotCall('operator', undefined, { limit: 5, offset: 0 }),
      ).toEqual({
        items: [{ number: '3', addedUs: 20 }],
        total: 1,
      });
    });

    it('erases a finished campaign with all its data', async () => {
      const unused = { totalCalls: 0, day: '', callsOfDay: 0, lastUsedUs: undefined };
      await store.campaigns.addNumbers(ID, [{ id: 'n1', number: '1', label: '', ...unused }], 10);
      await store.campaigns.begin(start(1, 'u1'));
      await store.campaigns.finish(end('u1'), []);
      expect(await store.campaigns.erase(ID, 10)).toBe(false);
      expect(await store.campaigns.overBefore(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
      await store.campaigns.change(ID, ['running'], { status: 'completed' });
      expect(await store.campaigns.overBefore(START_US, 10)).toEqual([]);
      expect(await store.campaigns.overBefore(Number.MAX_SAFE_INTEGER, 10)).toEqual([ID]);
      while (await store.campaigns.erase(ID, 10));
      expect(await store.campaigns.get(ID)).toBeUndefined();
      expect(await store.campaigns.attempt(asCallUuid('u1'))).toBeUndefined();
      expect(await store.campaigns.numbers(ID)).toEqual([]);
      const [list = 0] = await store.campaigns.strayLists();
      while (await store.campaigns.clearList(list, 2));
      expect(await store.campaigns.strayLists()).toEqual([]);
      expect(await store.verify()).toEqual([]);
    });

    it('counts the use of a number per day', async () => {
      const number = { id: 'n1', number: '1', label: '', totalCalls: 0, day: '', callsOfDay: 0 };
      await store.campaigns.addNumbers(ID, [{ ...number, lastUsedUs: undefined }], 10);
      const use = (contactId: number, day: string) =>
        store.campaigns.begin({
          ...start(contactId, `u${contactId}`),
          poolNumber: { id: 'n1', day, ...NO_LIMITS },
        });
      await use(1, '2026-01-01');
      await use(2, '2026-01-01');
      expect(await store.campaigns.numbers(ID)).toMatchObject([{ totalCalls: 2, callsOfDay: 2 }]);
      await use(3, '2026-01-02');
      expect(await store.campaigns.numbers(ID)).toMatchObject([
        { totalCalls: 3, callsOfDay: 1, day: '2026-01-02', lastUsedUs: START_US },
      ]);
    });

    it('refuses an attempt whose pool number is at its limit or was removed from the pool', async () => {
      const number = { id: 'n1', number: '1', label: '', totalCalls: 0, day: '', callsOfDay: 0 };
      await store.campaigns.addNumbers(ID, [{ ...number, lastUsedUs: undefined }], 10);
      const use = async (contactId: number, limits: Partial<typeof NO_LIMITS> | object) => {
        const poolNumber = { id: 'n1', day: '2026-01-01', ...NO_LIMITS, ...limits };
        const begun = await store.campaigns.begin({
          ...start(contactId, `u${contactId}`),
          poolNumber,
        });
        return begun !== undefined;
      };
      expect(await use(1, { maxCalls: 1, maxCallsPerDay: 1 })).toBe(true);
      expect(await use(2, { maxCalls: 1 })).toBe(false);
      expect(await use(2, { maxCallsPerDay: 1 })).toBe(false);
      expect(await use(2, { maxCallsPerDay: 1, day: '2026-01-02' })).toBe(true);
      await store.campaigns.removeNumber(ID, 'n1');
      expect(await use(3, {})).toBe(false);
      expect((await store.campaigns.get(ID))?.counters).toMatchObject({ pending: 1, dialling: 2 });
    });

    it('returns the use of a refused call to the day of the call, not to a later day', async () => {
      const number = { id: 'n1', label: '', totalCalls: 0, day: '', callsOfDay: 0 };
      const { from } = start(1, 'u1');
      await store.campaigns.addNumbers(
        ID,
        [{ ...number, number: from, lastUsedUs: undefined }],
        10,
      );
      const use = (contactId: number, day: string) =>
        store.campaigns.begin({
          ...start(contactId, `u${contactId}`),
          poolNumber: { id: 'n1', day, ...NO_LIMITS },
        });
      await use(1, '2026-01-01');
      await use(2, '2026-01-02');
      const contact = { status: 'pending', reason: undefined, dueUs: undefined } as const;
      const refused = { ...end('u1'), contact: { ...contact, counts: false } };
      await store.campaigns.finish(refused, []);
      expect(await store.campaigns.numbers(ID)).toMatchObject([
        { totalCalls: 1, callsOfDay: 1, day: '2026-01-02' },
      ]);
    });
  });
}
