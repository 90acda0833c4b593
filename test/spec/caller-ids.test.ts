/** Caller ids of an account as its customer sees them: what the operator verified, and what is shown where nothing is named. */
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

describe('caller ids of an account', () => {
  it('lists what the operator has verified, and no default at first', async () => {
    expect(await list()).toMatchObject({
      status: 200,
      body: { default_caller_id: null, caller_ids: [{ number: VERIFIED }] },
    });
  });

  it('the default is a verified one or a number of the account, and can be taken back', async () => {
    for (const [number, told] of [
      [`+${VERIFIED}`, VERIFIED],
      [RENTED, RENTED],
      [null, null],
    ] as const) {
      const set = await choose(number);
      expect([set.status, set.body.default_caller_id]).toEqual([200, told]);
      expect((await list()).body.default_caller_id).toBe(told);
    }
  });

  it('a number of somebody else is refused, and changes nothing', async () => {
    await choose(VERIFIED);
    const refused = await choose(FOREIGN);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('is not a number or caller ID of this account');
    expect((await list()).body.default_caller_id).toBe(VERIFIED);
  });

  it('a customer adds none and forgets none: that is the operator’s', async () => {
    const body = { number: FOREIGN };
    const added = await service.send('POST', `${service.root}/caller-ids`, { body });
    expect(added.status).toBe(405);
    const gone = await service.send('DELETE', `${service.root}/caller-ids/${VERIFIED}`);
    expect(gone.status).toBeGreaterThanOrEqual(404);
    expect((await list()).body.caller_ids).toEqual([{ number: VERIFIED }]);
  });
});
