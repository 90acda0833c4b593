/** Call records by cursor, with the filters of the console, and calls per hour. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asCallUuid, asTrunkId } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import type { Cdr } from '../../src/domain/cdr/types.ts';
import { aCdr } from '../edge/store/records.ts';
import { type Service, startService } from './service.ts';

const quality = (mos: number) => ({
  packetsReceived: 100,
  packetsSent: 100,
  packetsLost: 0,
  packetsLate: 0,
  jitterMs: 1,
  lossFraction: 0,
  roundTripMs: 10,
  mos,
});
const uuidOf = (n: number): string => `01a20d14-b017-4645-b6f4-${String(n).padStart(12, '0')}`;

describe('the search of call records', () => {
  let service: Service;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => service.stop());

  async function settle(n: number, over: Partial<Cdr> = {}): Promise<string> {
    const callUuid = asCallUuid(uuidOf(n));
    const cdr = aCdr({ accountId: service.account.authId, ...over, callUuid });
    await service.store.calls.settle({ cdr, entries: [], notification: undefined });
    return callUuid;
  }
  const page = (query = '') => service.get(`${service.root}/cdr/page?${query}`);
  const found = async (query: string): Promise<readonly string[]> =>
    (await page(query)).body.data.map(({ uuid }: { readonly uuid: string }) => uuid);

  it('continues at the cursor until the end', async () => {
    const all = [await settle(1), await settle(2), await settle(3)];
    const first = await page('limit=2');
    expect(first.body.data).toHaveLength(2);
    expect(first.body.reached_limit).toBe(false);
    const second = await page(`limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ next_cursor: null, data: [{ uuid: all[0] }] });
  });

  it('exports the calls in a range of scores', async () => {
    await settle(1, { quality: quality(4.2) });
    await settle(2, { quality: quality(3) });
    await settle(3, { quality: undefined });
    const rows = async (query: string): Promise<number> => {
      const { text } = await service.get(`${service.root}/cdr/export?${query}`);
      return text.trimEnd().split('\r\n').length - 1;
    };
    expect(await rows('')).toBe(3);
    expect(await rows('min_mos=4')).toBe(1);
    expect(await rows('max_mos=3.39')).toBe(1);
    expect(await rows('min_mos=1&max_mos=5')).toBe(2);
    expect((await service.get(`${service.root}/cdr/export?min_mos=9`)).status).toBe(400);
  });

  it('finds calls by trunk, cost, quality and one-way audio', async () => {
    const plain = await settle(1, { quality: quality(4.3), cost: micros(20_000) });
    const poor = await settle(2, { quality: quality(2.9), cost: micros(900_000) });
    const deaf = await settle(3, { quality: { ...quality(4.1), unheardMs: 800 } });
    const trunkId = asTrunkId('7d4f4b8e-2f0a-4a7e-9a0e-3a0b8d1c2e3f');
    const trunk = await settle(4, { trunkId, quality: undefined });
    expect(await found(`trunk_id=${trunkId}`)).toEqual([trunk]);
    expect(await found('min_cost=0.5')).toEqual([poor]);
    expect(await found('max_mos=3.4')).toEqual([poor]);
    expect(await found('min_mos=4.2')).toEqual([plain]);
    expect(await found('one_way_audio=true')).toEqual([deaf]);
    expect(await found(`search=${plain.slice(-6)}`)).toEqual([plain]);
    expect((await page('max_mos=9')).status).toBe(400);
    const csv = await service.get(`${service.root}/cdr/export?min_cost=0.5`);
    expect(csv.text.trim().split('\n')).toHaveLength(2);
  });

  it('counts calls by hour with the average score', async () => {
    await settle(1, { quality: quality(4) });
    await settle(2, { quality: quality(3) });
    const { body } = await service.get(`${service.root}/cdr/hourly?hours=24`);
    expect(body.mos).toBe(3.5);
    expect(body.hours).toMatchObject([{ hour: '2026-01-01T00:00:00.000000Z', calls: 2 }]);
  });
});
