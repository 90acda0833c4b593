/**
 * Several accounts at one carrier's call rate limit: a busy account does not block calls of the others. SIPp is the
 * carrier.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, type SippRun, startSipp, workFolder } from './tools.ts';

const CARRIER = '127.0.0.2';
const CPS = 10;
const NUMBERS = { loop: '14155550131', otherAccount: '14155550132' };

describe.skipIf(missing('sipp', 'sox'))('SIPp as a carrier at its limit', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let folder: ReturnType<typeof workFolder>;
  let carrier: SippRun;
  const accounts = new Map<string, { authId: string; authToken: string }>();

  beforeAll(async () => {
    folder = workFolder();
    customer = await Customer.listen();
    const port = await freePort();
    // Enough ports for 3 s of the redial loop. Ports of refused calls become free quickly.
    place = await newPlace({
      CARILLON_RTP_PORT_MIN: '52000',
      CARILLON_RTP_PORT_MAX: '52063',
    });
    service = await Service.start(place);
    const made = await service.admin('POST', '/carriers', {
      name: 'narrow',
      host: CARRIER,
      port,
      transport: 'udp',
      source_addresses: [CARRIER],
      prefixes: [''],
      cps_limit: CPS,
    });
    expect(made.status, made.text).toBe(201);
    for (const [name, number] of Object.entries(NUMBERS)) await makeAccount(name, number);
    const scenario = 'carrier-refuses';
    const sip = { localAddress: CARRIER, localPort: port, calls: 5000, limitS: 80 };
    carrier = startSipp({ folder: folder.path, scenario, status: '486', ...sip });
  });
  afterAll(async () => {
    carrier.stop();
    await service.kill();
    await customer.close();
    removePlace(place);
    folder.remove();
  });

  async function makeAccount(name: string, number: string): Promise<void> {
    const limits = { cps_limit: 50, concurrent_calls_limit: 200 };
    const made = await service.admin('POST', '/accounts', { name, currency: 'USD', ...limits });
    expect(made.status, made.text).toBe(201);
    const authId = String(made.body['auth_id']);
    accounts.set(name, { authId, authToken: String(made.body['auth_token']) });
    const credit = { amount: 50, currency: 'USD', description: 'credit' };
    expect((await service.admin('POST', `/accounts/${authId}/credit`, credit)).status).toBe(201);
    await service.admin('POST', `/accounts/${authId}/caller-ids`, { number });
  }

  function placeCall(name: keyof typeof NUMBERS) {
    const body: Json = {
      from: NUMBERS[name],
      to: '14155550199',
      answer_url: customer.xml('/answer', '<Response><Hangup/></Response>'),
      hangup_url: `http://${customer.authority}/${name}`,
    };
    return service.api('POST', 'Call/', body, accounts.get(name));
  }

  it("an account's redial loop exhausts the carrier's calls per second, but no call of another account fails", async () => {
    let looping = true;
    let placed = 0;
    const loop = (async () => {
      while (looping) {
        const answer = await placeCall('loop');
        if (answer.status < 300) placed += 1;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    })();
    await eventually('the carrier to be full', () =>
      customer.at('/loop').some(({ form }) => form['HangupCauseCode'] === '5030')
        ? true
        : undefined,
    );
    for (let call = 0; call < 6; call += 1) {
      expect((await placeCall('otherAccount')).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await eventually('the end of all calls of the other account', () =>
      customer.at('/otherAccount').length === 6 ? true : undefined,
    );
    looping = false;
    await loop;
    expect(customer.at('/otherAccount').map(({ form }) => form['HangupCauseName'])).toEqual(
      Array.from({ length: 6 }, () => 'Busy Line'),
    );
    // Refusals while the carrier is full name its limit; other refusals name the account's fair share.
    const refused = customer
      .at('/loop')
      .find(({ form }) => form['FailureReason']?.includes('10 calls per second') === true);
    expect(refused?.form).toMatchObject({
      HangupCauseCode: '5030',
      HangupCauseName: 'Concurrency Limit Breached',
      FailureReason: expect.stringMatching(
        /^carrier narrow is full: 10 calls per second \(waited 2\d\d\d ms\)$/,
      ),
    });
    const cdr = await service.api(
      'GET',
      `cdr/${refused?.form['CallUUID']}`,
      undefined,
      accounts.get('loop'),
    );
    expect(cdr.body['data']).toMatchObject({ failure_reason: refused?.form['FailureReason'] });
    expect(placed).toBeGreaterThan(5 * CPS);
  });
});
