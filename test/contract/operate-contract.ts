/** What the operator's pages read of all nodes: alarms with their acknowledgements. */
import { describe, expect, it } from 'vitest';
import type { AlarmRecord } from '../../src/domain/alarm/types.ts';
import type { Store } from '../../src/edge/store/store.ts';

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
}
