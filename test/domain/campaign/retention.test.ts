import { expect, it, vi } from 'vitest';
import { asCampaignId, type CampaignId } from '../../../src/base/ids.ts';
import { expireCampaigns } from '../../../src/domain/campaign/campaign.ts';
import { HOUR_MS, openStage } from './stage.ts';

const FOREVER_MS = 36_500 * 24 * HOUR_MS;

it('deletes old finished campaigns with their contacts and attempts, and keeps the others', async () => {
  const stage = await openStage();
  const { store, clock, campaigns } = stage;
  const old = await stage.ready({}, 450);
  await stage.start(old);
  await clock.advance(20 * 60_000);
  expect(await stage.state(old)).toBe('completed');
  const waiting = await stage.ready({}, 3);
  await clock.advance(2 * HOUR_MS);
  const young = await stage.ready({}, 1);
  await stage.start(young);
  await clock.advance(60_000);
  const expire = (campaignsMs: number) =>
    expireCampaigns(store.campaigns, clock, { campaignsMs, doNotCallMs: FOREVER_MS });
  expect(await expire(FOREVER_MS)).toBe(0);
  expect(await expire(HOUR_MS)).toBe(1);
  expect(await store.campaigns.get(old.id)).toBeUndefined();
  expect((await store.campaigns.attempts(old.id, { limit: 1, offset: 0 })).total).toBe(0);
  expect(await stage.state(waiting)).toBe('ready');
  expect(await stage.state(young)).toBe('completed');
  await campaigns.forgetUploads();
  expect(await store.campaigns.strayLists()).toEqual([]);
  expect(await stage.contacts(waiting)).toHaveLength(3);
});

it('deletes all of many campaigns and numbers, a batch at a time', async () => {
  const { clock } = await openStage();
  const campaigns = Array.from({ length: 450 }, (_, n) => asCampaignId(`campaign ${n}`));
  let numbers = 450;
  const store = {
    overBefore: async (_: number, limit: number) => campaigns.slice(0, limit),
    erase: async (id: CampaignId) => {
      campaigns.splice(campaigns.indexOf(id), 1);
      return false;
    },
    purgeDoNotCall: async (_: number, limit: number) => {
      const count = Math.min(limit, numbers);
      numbers -= count;
      return count;
    },
  };
  const retained = { campaignsMs: HOUR_MS, doNotCallMs: HOUR_MS };
  expect(await expireCampaigns(store, clock, retained)).toBe(450);
  expect([campaigns.length, numbers]).toEqual([0, 0]);
});

it('accepts a number that a full do-not-call list has', async () => {
  const { store, campaigns } = await openStage();
  await campaigns.addDoNotCall('operator', ['14155550101']);
  const full = { items: [], total: 1_000_000 };
  vi.spyOn(store.campaigns, 'doNotCall').mockResolvedValue(full);
  expect(await campaigns.addDoNotCall('operator', ['+14155550101'])).toEqual({
    ok: true,
    value: 0,
  });
});

it('deletes do-not-call numbers past their retention', async () => {
  const { store, clock, campaigns } = await openStage();
  await campaigns.addDoNotCall('operator', ['14155550101']);
  await clock.advance(2 * HOUR_MS);
  await campaigns.addDoNotCall('operator', ['14155550102']);
  const retained = { campaignsMs: FOREVER_MS, doNotCallMs: HOUR_MS };
  await expireCampaigns(store.campaigns, clock, retained);
  const { items } = await campaigns.doNotCall('operator', undefined, { limit: 5, offset: 0 });
  expect(items.map(({ number }) => number)).toEqual(['14155550102']);
});
