/** Caller IDs of an account from the customer's view: verified numbers and the default. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Service, startService } from './service.ts';

const VERIFIED = '14155550177';
const RENTED = '14155550123';
const FOREIGN = '14155550188';

let service: Service;
beforeEach(async () => {
  service = await startService();
  const { authId } = service.account;
  await service.admin('POST', `/accounts/${authId}/caller-ids`, { number: `+${VERIFIED}` });
  const number = { e164: `+${RENTED}`, country: 'US', currency: 'USD', setup_fee: 0 };
  await service.admin('POST', '/numbers', { ...number, monthly_fee: 0, account_id: authId });
});
afterEach(() => service.stop());

const list = () => service.get(`${service.root}/caller-ids`);
const choose = (number: string | null) =>
  service.send('PUT', `${service.root}/caller-ids/default`, { body: { number } });

describe('caller IDs of an account', () => {
  it('lists the caller IDs that the operator verified, initially without a default', async () => {
    expect(await list()).toMatchObject({
      status: 200,
      body: { default_caller_id: null, caller_ids: [{ number: VERIFIED }] },
    });
  });

  it('accepts a verified caller ID or a number of the account as default, and null to remove it', async () => {
    for (const [number, reported] of [
      [`+${VERIFIED}`, VERIFIED],
      [RENTED, RENTED],
      [null, null],
    ] as const) {
      const set = await choose(number);
      expect([set.status, set.body.default_caller_id]).toEqual([200, reported]);
      expect((await list()).body.default_caller_id).toBe(reported);
    }
  });

  it("refuses another account's number without a change", async () => {
    await choose(VERIFIED);
    const refused = await choose(FOREIGN);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('is not a number or caller ID of this account');
    expect((await list()).body.default_caller_id).toBe(VERIFIED);
  });

  it('only the operator adds and deletes caller IDs', async () => {
    const body = { number: FOREIGN };
    const added = await service.send('POST', `${service.root}/caller-ids`, { body });
    expect(added.status).toBe(405);
    const gone = await service.send('DELETE', `${service.root}/caller-ids/${VERIFIED}`);
    expect(gone.status).toBeGreaterThanOrEqual(404);
    expect((await list()).body.caller_ids).toEqual([{ number: VERIFIED }]);
  });
});
