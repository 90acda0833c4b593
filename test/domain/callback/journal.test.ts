import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { DeliveryJournal } from '../../../src/domain/callback/journal.ts';
import type { Delivery } from '../../../src/domain/callback/types.ts';
import { SimClock } from '../../sim/clock.ts';

const aDelivery = (over: { account?: string; status?: number; json?: string } = {}): Delivery => ({
  id: 'd',
  accountId: asAccountId(over.account ?? 'MA_A'),
  atUs: 1,
  isDelivered: over.status === undefined,
  attempt: {
    event: 'Hangup',
    url: 'https://a.example/',
    method: 'POST',
    status: over.status ?? 200,
    error: undefined,
    durationMs: 1,
    signedString: '',
  },
  callUuid: undefined,
  requestBody: 'x'.repeat(20_000),
  responseBody: '',
  request: {
    url: 'https://a.example/',
    parameters: [],
    json: over.json,
    signs: undefined,
    headers: undefined,
  },
  replayOf: undefined,
});

function journalWith(put?: () => Promise<void>) {
  const clock = new SimClock();
  const batches: (readonly Delivery[])[] = [];
  const store = {
    put: async (batch: readonly Delivery[]) => {
      await put?.();
      batches.push(batch);
    },
  };
  return { clock, batches, journal: new DeliveryJournal({ store, clock, logger: silentLogger }) };
}

describe('the journal of deliveries', () => {
  it('stores one batch a second, with shortened bodies', async () => {
    const { clock, batches, journal } = journalWith();
    journal.add(aDelivery());
    journal.add(aDelivery());
    expect(batches).toEqual([]);
    await clock.advance(1000);
    expect(batches.map((batch) => batch.length)).toEqual([2]);
    expect(batches[0]?.[0]?.requestBody).toHaveLength(16_384);
    await clock.advance(5000);
    expect(batches).toHaveLength(1);
  });

  it('limits the deliveries of an account in a batch, and stores more failed ones', async () => {
    const { batches, journal } = journalWith();
    for (let count = 0; count < 100; count += 1) journal.add(aDelivery());
    for (let count = 0; count < 100; count += 1) journal.add(aDelivery({ status: 500 }));
    journal.add(aDelivery({ account: 'MA_B' }));
    journal.add(aDelivery({ account: 'MA_B', json: 'x'.repeat(70_000) }));
    await journal.flush();
    const [batch = []] = batches;
    expect(batch.filter(({ attempt }) => attempt.status === 500)).toHaveLength(20);
    expect(batch).toHaveLength(41);
    journal.add(aDelivery());
    await journal.flush();
    expect(batches[1]).toHaveLength(1);
  });

  it('continues after a batch that the database refused', async () => {
    let isDown = true;
    const { batches, journal } = journalWith(async () => {
      if (isDown) throw new Error('down');
    });
    journal.add(aDelivery());
    await journal.flush();
    isDown = false;
    journal.add(aDelivery());
    await journal.flush();
    expect(batches).toHaveLength(1);
  });
});
