/** SIPp calls the service: digest authentication, many simultaneous calls, and all ways to end a call. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../e2e/carrier.ts';
import { Customer } from '../e2e/customer.ts';
import { makeUser, type SipUser } from '../e2e/phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, sipp, workFolder } from './tools.ts';

const CALLS = 50;
/** RFC 3261 T1, ms. */
const T1_MS = 500;
const FROM = '14155550100';

describe.skipIf(missing('sipp', 'sox'))('SIPp as the caller', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let folder: ReturnType<typeof workFolder>;
  let demo: SipUser;
  /** An endpoint whose answer URL never responds: its calls get 100 only. */
  let waiting: SipUser;
  /** An endpoint whose calls ring at a carrier that never answers: they get 180. */
  let ringing: SipUser;
  let callee: Carrier;

  beforeAll(async () => {
    folder = workFolder();
    customer = await Customer.listen();
    place = await newPlace({
      CARILLON_ENDPOINTS_CALLS_PER_MINUTE: '10000',
      // Ports are reused 30 s after a call. This range suffices for all calls of this file.
      CARILLON_RTP_PORT_MIN: '50000',
      CARILLON_RTP_PORT_MAX: '51999',
    });
    service = await Service.start(place);
    demo = service.demo;
    await service.admin('PATCH', `/accounts/${service.demo.authId}`, {
      concurrent_calls_limit: 200,
      cps_limit: 200,
    });
    waiting = await makeUser(service, 'waiting', {
      answer_url: customer.page('/never', () => undefined),
    });
    callee = await Carrier.listen(() => ({ kind: 'rings' }));
    const account = `/accounts/${service.demo.authId}`;
    await service.admin('POST', `${account}/caller-ids`, { number: `+${FROM}` });
    await service.admin('POST', '/carriers', {
      name: 'rings',
      host: '127.0.0.1',
      port: callee.port,
      transport: 'udp',
      prefixes: [''],
      probe: false,
    });
    ringing = await makeUser(service, 'ringing', {
      answer_url: customer.xml(
        '/rings',
        `<Response><Dial callerId="${FROM}"><Number>14155550199</Number></Dial></Response>`,
      ),
    });
  });
  afterAll(async () => {
    await service.kill();
    await customer.close();
    callee.close();
    removePlace(place);
    folder.remove();
  });

  const call = (scenario: string, more: Partial<Parameters<typeof sipp>[0]> = {}) =>
    sipp({ folder: folder.path, scenario, target: service.sipPort, calls: 1, user: demo, ...more });
  const records = async (limit: number): Promise<Json[]> => {
    await eventually('the end of every call', async () =>
      (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
    return (await service.api('GET', `cdr?per_page=${limit}`)).body['data'] as Json[];
  };

  for (const [name, transport] of [
    ['UDP', 'u1'],
    ['TCP, one connection', 't1'],
    ['TCP, one connection per call', 'tn'],
  ] as const) {
    it(`${CALLS} simultaneous calls with digest over ${name} are answered, carry audio and are billed`, async () => {
      const before = Number((await service.balance())['balance']);
      const running = call('answered-call', { calls: CALLS, rate: 25, pauseMs: 4000, transport });
      const most = await eventually(`${CALLS} simultaneous calls`, async () => {
        const { body } = await service.admin('GET', '/calls');
        return Number(body['count']) === CALLS ? CALLS : undefined;
      });
      expect(most).toBe(CALLS);
      await running;
      const cdrs = await records(CALLS);
      expect(cdrs).toHaveLength(CALLS);
      for (const cdr of cdrs) {
        expect(cdr).toMatchObject({
          hangup_cause_code: 4000,
          hangup_source: 'Caller',
          total_cost: 0.005,
        });
      }
      // Only loss and delay between SIPp and the service matter; SIPp's own pacing affects the rest.
      const quality = cdrs.map(({ mos }) => Number(mos)).toSorted((a, b) => a - b);
      expect(quality[Math.floor(CALLS / 10)]).toBeGreaterThan(3.5);
      const { balance, reserved_funds: reserved } = await service.balance();
      expect(Math.round((before - Number(balance)) * 1e6)).toBe(CALLS * 5000);
      expect(reserved).toBe(0);
    });
  }

  it.each(['u1', 't1'] as const)(
    'hold, hold from both sides, and resume (%s)',
    async (transport) => {
      await call('hold-resume', { transport, pauseMs: 500 });
      expect((await records(1))[0]).toMatchObject({ hangup_cause_code: 4000 });
    },
  );

  it.each(['u1', 't1'] as const)('CANCEL before ringing (%s)', async (transport) => {
    await call('cancel', { user: waiting, transport, calls: 5 });
    for (const cdr of await records(5)) {
      expect(cdr).toMatchObject({
        hangup_cause_code: 1000,
        hangup_disposition: 'recv_cancel',
        total_cost: 0,
      });
    }
  });

  it.each(['u1', 't1'] as const)('BYE while ringing (%s)', async (transport) => {
    await call('early-bye', { user: ringing, transport });
    expect((await records(1))[0]).toMatchObject({ answer_time: null, total_cost: 0 });
  });

  it('lost ACKs: the service retransmits the 200 until an ACK arrives, and the call continues', async () => {
    await call('late-ack');
    const [cdr] = await records(1);
    expect(cdr).toMatchObject({ hangup_cause_code: 4000 });
    const { body } = await service.admin('GET', `/calls/${cdr?.['uuid']}/messages`);
    const answers = (body['messages'] as Json[]).filter(
      ({ direction, text }) =>
        direction === 'out' && /^SIP\/2\.0 200[\s\S]*CSeq: 2 INVITE/.test(String(text)),
    );
    // Retransmissions at 0, T1 and 3*T1. SIPp sends the ACK after the fourth 200.
    expect(answers).toHaveLength(3);
  });

  it('no ACK: BYE after 64*T1, Network Error, and no charge', async () => {
    const before = (await service.balance())['balance'];
    const startMs = performance.now();
    await call('no-ack');
    expect(performance.now() - startMs).toBeGreaterThan(60 * T1_MS);
    const [cdr] = await records(1);
    expect(cdr).toMatchObject({
      hangup_cause_code: 5000,
      hangup_cause_name: 'Network Error',
      answer_time: null,
      billsec: 0,
      rounded_bill_duration: 0,
      total_cost: 0,
    });
    expect((await service.balance())['balance']).toBe(before);
  });

  it('refuses a wrong password without a charge', async () => {
    await expect(
      call('answered-call', { user: { ...demo, password: 'wrong-password-1' }, limitS: 4 }),
    ).rejects.toThrow(/40[13]/);
    await eventually('no call', async () =>
      (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
  });

  it('logs no internal error', () => {
    const lines = service.program.stdout
      .split('\n')
      .filter((line) => /"level":"(error|fatal)"|"bug":true/.test(line));
    expect(lines).toEqual([]);
  });
});
