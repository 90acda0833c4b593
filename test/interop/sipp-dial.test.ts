/** SIPp at both ends of a Dial: the caller is answered with the called party, hears what it says before, and is refused as it refuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import { makeUser } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, type SippOptions, type SippRun, startSipp, workFolder } from './tools.ts';

const OWN_NUMBER = '14155550123';
const CALLING = '127.0.0.2';
const CALLED = '127.0.0.3';
const THIRD = '127.0.0.7';

describe.skipIf(missing('sipp', 'sox'))('SIPp at both ends of a Dial', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let folder: ReturnType<typeof workFolder>;
  let port: number;
  const running: SippRun[] = [];

  beforeAll(async () => {
    folder = workFolder();
    customer = await Customer.listen();
    port = await freePort();
    place = await newPlace({ CARILLON_CALLS_REFER_FROM: 'all' });
    service = await Service.start(place);
    const { authId } = service.demo;
    for (const [name, host, prefixes] of [
      ['calling', CALLING, ['999']],
      ['called', CALLED, ['']],
    ] as const) {
      const made = await service.admin('POST', '/carriers', {
        ...{ name, host, port, prefixes, transport: 'udp', source_addresses: [host] },
        probe: false,
      });
      expect(made.status, made.text).toBe(201);
    }
    const number = await service.admin('POST', '/numbers', {
      ...{ e164: OWN_NUMBER, country: 'US', currency: 'USD', account_id: authId },
    });
    expect(number.status, number.text).toBe(201);
    const { appId } = await makeUser(service, 'owner', {
      answer_url: customer.xml(
        '/did',
        `<Response><Dial callerId="${OWN_NUMBER}"><Number>14155550177</Number></Dial></Response>`,
      ),
    });
    const attached = await service.api('POST', `numbers/${OWN_NUMBER}/application`, {
      application_id: appId,
    });
    expect(attached.status, attached.text).toBe(204);
  });
  afterAll(async () => {
    for (const run of running) run.stop();
    await service.kill();
    await customer.close();
    removePlace(place);
    folder.remove();
  });

  let mediaPort = 7000;
  function peer(scenario: string, more: Partial<SippOptions>): SippRun {
    mediaPort += 10;
    const run = startSipp({
      ...{ folder: folder.path, scenario, mediaPort, calls: 1, limitS: 20 },
      ...more,
    });
    running.push(run);
    return run;
  }
  const called = (scenario: string, more: Partial<SippOptions> = {}): SippRun =>
    peer(scenario, { localAddress: CALLED, localPort: port, ...more });
  const calling = (scenario: string, more: Partial<SippOptions> = {}): SippRun =>
    peer(scenario, {
      ...{ localAddress: CALLING, target: service.sipPort, service: `+${OWN_NUMBER}` },
      ...more,
    });

  let records = 0;
  /** Both ends as their scenarios say; the records of both legs. */
  async function both(caller: SippRun, callee: SippRun): Promise<{ a: Json; b: Json }> {
    for (const run of [caller, callee]) {
      const { status, report } = await run.done;
      expect(status, report).toBe(0);
    }
    return eventually('both records', async () => {
      const { body } = await service.api('GET', 'cdr?per_page=2');
      const { total } = body['pagination'] as { total: number };
      if (total < records + 2) return undefined;
      records = total;
      const rows = body['data'] as Json[];
      const a = rows.find(({ context }) => context === 'did');
      const b = rows.find(({ context }) => context === 'dial');
      return a === undefined || b === undefined ? undefined : { a, b };
    });
  }

  it('rings with the called party and is answered and billed with it', async () => {
    const callee = called('carrier-answers');
    const { a, b } = await both(calling('from-carrier', { pauseMs: 1200 }), callee);
    expect(a).toMatchObject({ hangup_cause_code: 4000, hangup_source: 'Caller', billsec: 1 });
    expect(b).toMatchObject({ hangup_cause_code: 4000, billsec: 1 });
  });

  it('hears the announcement of the called carrier before the answer', async () => {
    const callee = called('carrier-early');
    const { a } = await both(calling('caller-early', { pauseMs: 1000 }), callee);
    expect(a).toMatchObject({ hangup_cause_code: 4000, billsec: 1 });
    expect(Number(a['duration'])).toBeGreaterThanOrEqual(2);
  });

  it('early media with PRACK at both ends (RFC 3262); the 200 of either side repeats no SDP', async () => {
    const callee = called('carrier-prack');
    const { a } = await both(calling('caller-prack', { pauseMs: 1000 }), callee);
    expect(a).toMatchObject({ hangup_cause_code: 4000, billsec: 1 });
  });

  it('a called party sends its caller on by REFER, and hears what comes of it (RFC 3515)', async () => {
    const third = called('carrier-answers', { localAddress: THIRD });
    const callee = called('carrier-refers', { status: `sip:carol@${THIRD}:${port}` });
    const caller = calling('from-carrier', { pauseMs: 2500 });
    for (const run of [callee, caller, third]) {
      const { status, report } = await run.done;
      expect(status, report).toBe(0);
    }
    const cdrs = await eventually('three records', async () => {
      const { body } = await service.api('GET', 'cdr?per_page=3');
      const { total } = body['pagination'] as { total: number };
      if (total < records + 3) return undefined;
      records = total;
      return body['data'] as Json[];
    });
    expect(cdrs.filter(({ context }) => context === 'dial')).toHaveLength(2);
    expect(cdrs.every(({ billsec }) => Number(billsec) >= 1 || billsec === 0)).toBe(true);
    expect(cdrs.find(({ context }) => context === 'did')).toMatchObject({
      ...{ hangup_cause_code: 4000, hangup_source: 'Caller' },
    });
  });

  it.each([
    ['486', 'Busy Line'],
    ['603', 'Declined'],
    ['404', 'Unallocated number'],
  ])('a called party that refuses with %s refuses the caller with it', async (status, name) => {
    const callee = called('carrier-refuses', { status });
    const { a } = await both(calling('caller-refused', { status }), callee);
    expect(a).toMatchObject({
      ...{ hangup_cause_name: name, hangup_disposition: 'send_refuse' },
      ...{ answer_time: null, total_cost: 0 },
    });
  });

  it('a caller who gives up withdraws the call of the called party (CANCEL, 487)', async () => {
    const callee = called('carrier-rings');
    const { a, b } = await both(calling('caller-cancels', { pauseMs: 600 }), callee);
    expect(a).toMatchObject({ hangup_cause_code: 1000, hangup_disposition: 'recv_cancel' });
    expect(b).toMatchObject({ hangup_cause_code: 1000, hangup_disposition: 'send_cancel' });
  });

  it('has left no call, no reservation and no error of ours', async () => {
    await eventually('the end of every call', async () =>
      (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
    expect((await service.balance())['reserved_funds']).toBe(0);
    const ours = /"level":"(error|fatal)"|"bug":true/;
    expect(service.program.stdout.split('\n').filter((line) => ours.test(line))).toEqual([]);
  });
});
