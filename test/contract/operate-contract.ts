/** What the operator's pages read of all nodes: alarms with their acknowledgements. */
import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import type { AlarmRecord } from '../../src/domain/alarm/types.ts';
import type { Delivery } from '../../src/domain/callback/types.ts';
import { ofDigits } from '../../src/domain/privacy/person-number.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { anAccount } from '../edge/store/records.ts';

const PAGE = { limit: 10, offset: 0 };

const anAlarm = (over: Partial<AlarmRecord> = {}): AlarmRecord => ({
  nodeId: 'a',
  kind: 'disk',
  subject: '/data',
  detail: '1 GiB free',
  sinceUs: 1000,
  clearedUs: undefined,
  acknowledgedUs: undefined,
  acknowledgedBy: undefined,
  ...over,
});

const ACCOUNT = anAccount().authId;

const aDelivery = (
  over: Partial<Delivery> = {},
  attempt: Partial<Delivery['attempt']> = {},
): Delivery => ({
  id: 'a',
  accountId: ACCOUNT,
  isDelivered: attempt.status !== undefined || !('status' in attempt),
  atUs: 1,
  callUuid: undefined,
  replayOf: undefined,
  requestBody: 'CallStatus=ringing',
  responseBody: '<Response/>',
  request: {
    url: 'https://user:s3cret@bot.example/hook',
    parameters: [['CallStatus', 'ringing']],
    json: undefined,
    signs: undefined,
    headers: { accept: 'text/xml' },
  },
  ...over,
  attempt: {
    event: 'StartApp',
    method: 'POST',
    url: 'https://bot.example/hook',
    status: 200,
    error: undefined,
    durationMs: 1.5,
    signedString: 'https://bot.example/hook.1',
    ...attempt,
  },
});

export function operateContract(opened: () => { readonly store: Store }): void {
  describe('alarms', () => {
    const active = async () => (await opened().store.alarms.active()).map(({ subject }) => subject);

    it('are active until their end, and keep the first acknowledgement', async () => {
      const { store } = opened();
      await store.nodes.begin('a', false);
      await store.alarms.put([anAlarm()]);
      await store.alarms.put([anAlarm({ acknowledgedUs: 5, acknowledgedBy: 'ada' })]);
      await store.alarms.put([anAlarm({ acknowledgedUs: 6, acknowledgedBy: 'bob' })]);
      const acknowledged = { acknowledgedUs: 5, acknowledgedBy: 'ada' };
      expect(await store.alarms.active()).toEqual([anAlarm(acknowledged)]);
      await store.alarms.put([anAlarm({ clearedUs: 9, detail: '2 GiB free' })]);
      expect(await store.alarms.active()).toEqual([]);
      expect(await store.alarms.ended({}, PAGE)).toEqual({
        items: [anAlarm({ ...acknowledged, clearedUs: 9, detail: '2 GiB free' })],
        total: 1,
      });
    });

    it('of dead nodes are not active', async () => {
      const { store } = opened();
      await store.nodes.begin('a', false);
      await store.nodes.begin('b', false);
      await store.alarms.put([anAlarm(), anAlarm({ nodeId: 'b', subject: '/b' })]);
      expect(await active()).toEqual(['/data', '/b']);
      await store.nodes.leave({ id: 'b', epoch: 1 });
      expect(await active()).toEqual(['/data']);
    });

    it('that have ended are filtered, paginated and deleted by age and number', async () => {
      const { store } = opened();
      const ended = [1, 2, 3, 4].map((at) =>
        anAlarm({ sinceUs: at, clearedUs: at + 10, subject: `s${at}` }),
      );
      await store.alarms.put([...ended, anAlarm({ kind: 'spool', sinceUs: 9, clearedUs: 10 })]);
      const subjects = async (filter: object, slice = PAGE) =>
        (await store.alarms.ended(filter, slice)).items.map(({ subject }) => subject);
      expect(await subjects({ kind: 'disk' })).toEqual(['s4', 's3', 's2', 's1']);
      expect(await subjects({ search: 'S3' })).toEqual(['s3']);
      expect(await subjects({ kind: 'disk' }, { limit: 2, offset: 1 })).toEqual(['s3', 's2']);
      await store.alarms.purge(2, 100);
      expect(await subjects({ kind: 'disk' })).toEqual(['s4', 's3', 's2']);
      await store.alarms.purge(0, 2);
      expect((await store.alarms.ended({}, PAGE)).total).toBe(2);
    });
  });

  describe('webhook deliveries', () => {
    const ids = async (filter: object, accountId = ACCOUNT, slice = PAGE) =>
      (await opened().store.deliveries.page(accountId, filter, slice)).items.map(({ id }) => id);

    it('are filtered by account, outcome, event, call and text, latest first', async () => {
      const { deliveries } = opened().store;
      const other = asAccountId('MA_OTHER');
      const failed = aDelivery({ id: 'b', atUs: 2, callUuid: 'call-b' }, { status: undefined });
      await deliveries.put(
        [
          aDelivery({ id: 'a', atUs: 1 }),
          failed,
          aDelivery({ id: 'c', atUs: 3 }, { event: 'Ring' }),
          aDelivery({ id: 'd', atUs: 4, accountId: other }),
        ],
        10,
      );
      expect(await ids({})).toEqual(['c', 'b', 'a']);
      expect(await ids({}, other)).toEqual(['d']);
      expect(await ids({ isDelivered: false })).toEqual(['b']);
      expect(await ids({ event: 'RING' })).toEqual(['c']);
      expect(await ids({ callUuid: 'call-b' })).toEqual(['b']);
      expect(await ids({ search: 'BOT.example' })).toEqual(['c', 'b', 'a']);
      expect(await ids({ search: 'call-b' })).toEqual(['b']);
      expect(await ids({}, ACCOUNT, { limit: 1, offset: 1 })).toEqual(['b']);
      expect(await deliveries.get(ACCOUNT, 'b')).toEqual(failed);
      expect(await deliveries.get(other, 'b')).toBeUndefined();
      const timings = await deliveries.timings(ACCOUNT);
      expect(timings.map(({ isDelivered }) => isDelivered).sort()).toEqual([false, true, true]);
      expect(timings[0]).toMatchObject({ durationMs: 1.5 });
    });

    it('that contain a telephone number are erased', async () => {
      const { deliveries, mentions } = opened().store;
      const number = '14155550177';
      await deliveries.put(
        [
          aDelivery({ id: 'kept', atUs: 1 }),
          aDelivery({ id: 'body', atUs: 2, requestBody: `From=%2B${number}` }),
          aDelivery({ id: 'url', atUs: 3 }, { url: `https://bot.example/?to=${number}` }),
        ],
        10,
      );
      await deliveries.put([aDelivery({ id: 'longer', atUs: 4, requestBody: `${number}9` })], 10);
      const searched = { ...ofDigits(number), nationalAccounts: [] };
      const { mentions: found } = await mentions.list(searched, 'webhook_delivery', undefined);
      expect(found.map(({ key }) => key)).toEqual([['body'], ['url']]);
      await mentions.erase(searched, 'webhook_delivery', [['body'], ['url'], ['longer']]);
      expect(await ids({})).toEqual(['longer', 'kept']);
    });

    it('are deleted by number per account, age and total number', async () => {
      const { deliveries } = opened().store;
      const many = Array.from({ length: 6 }, (_, at) => aDelivery({ id: `d${at}`, atUs: at }));
      await deliveries.put(many, 4);
      expect(await ids({})).toEqual(['d5', 'd4', 'd3', 'd2']);
      expect(await deliveries.purge(3, 100, 10)).toBe(1);
      expect(await ids({})).toEqual(['d5', 'd4', 'd3']);
      expect(await deliveries.purge(4, 1, 1)).toBe(1);
      expect(await ids({})).toEqual(['d5', 'd4']);
      expect(await deliveries.purge(0, 2, 10)).toBe(0);
      expect(await ids({})).toEqual(['d5', 'd4']);
    });
  });
}
