/** SIPp as carriers on loopback addresses of their own: outbound calls, failover, dialling on, and calls that arrive for a number. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer, echoBot, streamXml } from '../e2e/customer.ts';
import { callFor, makeUser } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, type SippOptions, type SippRun, sipp, startSipp, workFolder } from './tools.ts';

const OWN_NUMBER = '14155550123';
const FIRST = '127.0.0.2';
const SECOND = '127.0.0.3';
const STRANGER = '127.0.0.4';

describe.skipIf(missing('sipp', 'sox'))('SIPp as carriers', () => {
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
    place = await newPlace();
    service = await Service.start(place);
    const { authId } = service.demo;
    await service.admin('PATCH', `/accounts/${authId}`, {
      concurrent_calls_limit: 50,
      cps_limit: 50,
    });
    for (const [name, host, priority] of [
      ['first', FIRST, 1],
      ['second', SECOND, 2],
    ] as const) {
      const made = await service.admin('POST', '/carriers', {
        name,
        host,
        port,
        priority,
        transport: 'udp',
        probe: false,
        source_addresses: [host],
        prefixes: [''],
      });
      expect(made.status, made.text).toBe(201);
    }
    const number = await service.admin('POST', '/numbers', {
      e164: OWN_NUMBER,
      country: 'US',
      currency: 'USD',
      account_id: authId,
    });
    expect(number.status, number.text).toBe(201);
    const { appId } = await makeUser(service, 'owner', {
      answer_url: customer.xml('/did', streamXml(customer.bot('/echo', echoBot))),
      hangup_url: `http://${customer.authority}/did-hangup`,
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

  let mediaPort = 6000;
  function carrier(host: string, scenario: string, more: Partial<SippOptions> = {}): SippRun {
    mediaPort += 10;
    const run = startSipp({
      folder: folder.path,
      scenario,
      localAddress: host,
      localPort: port,
      mediaPort,
      calls: 1,
      ...more,
    });
    running.push(run);
    return run;
  }

  /** The record of the call that is placed to `to`. */
  async function placed(to: string, xml: string, name: string): Promise<Json> {
    const answer = await service.api('POST', 'Call/', {
      from: OWN_NUMBER,
      to,
      answer_url: customer.xml(`/${name}`, xml),
      hangup_url: `http://${customer.authority}/${name}-hangup`,
    });
    expect(answer.status, answer.text).toBeLessThan(300);
    const uuid = await eventually(
      'the hangup notification',
      () => customer.at(`/${name}-hangup`)[0]?.form['CallUUID'],
      40_000,
    );
    return (await service.api('GET', `cdr/${uuid}`)).body['data'] as Json;
  }

  const TALK = '<Response><Wait length="1"/><Hangup/></Response>';

  it('an outbound call is answered by the carrier, runs its document, and is billed by destination', async () => {
    const run = carrier(FIRST, 'carrier-answers');
    const cdr = await placed('14155550199', TALK, 'out');
    // config/rates.json: prefix 1 outbound, 0.0065 USD a minute.
    expect(cdr).toMatchObject({
      call_direction: 'outbound',
      hangup_cause_code: 4000,
      hangup_source: 'Answer XML',
      hangup_disposition: 'send_bye',
      total_cost: 0.0065,
      codec: 'PCMU',
      carrier_ip: FIRST,
    });
    expect((await run.done).status).toBe(0);
  });

  it.each([
    ['486', 'Busy Line'],
    ['603', 'Declined'],
    ['404', 'Unallocated number'],
  ])('a refusal with %s is the end: %s', async (status, name) => {
    const run = carrier(FIRST, 'carrier-refuses', { status });
    const cdr = await placed('14155550199', TALK, `refused-${status}`);
    expect(cdr).toMatchObject({
      hangup_cause_name: name,
      answer_time: null,
      total_cost: 0,
      carrier_ip: FIRST,
    });
    expect((await run.done).status).toBe(0);
  });

  it('503 of the first carrier: the second takes the call', async () => {
    const first = carrier(FIRST, 'carrier-refuses', { status: '503' });
    const second = carrier(SECOND, 'carrier-answers');
    const cdr = await placed('14155550199', TALK, 'failover');
    expect(cdr).toMatchObject({
      hangup_cause_code: 4000,
      total_cost: 0.0065,
      carrier_ip: SECOND,
    });
    expect([(await first.done).status, (await second.done).status]).toEqual([0, 0]);
  });

  it('Dial Number: the caller of an endpoint hears what the carrier sends back; both legs have records', async () => {
    const run = carrier(FIRST, 'carrier-answers');
    const user = await makeUser(service, 'dialler', {
      answer_url: customer.xml(
        '/dial',
        `<Response><Dial callerId="${OWN_NUMBER}"><Number>14155550177</Number></Dial></Response>`,
      ),
    });
    const report = await callFor(service, user, 3);
    expect(report.setupMs).toBeDefined();
    expect(report.reception.received).toBeGreaterThan(50);
    const a = await service.cdrOf(report.sipCallId);
    expect(a).toMatchObject({ hangup_cause_code: 4000, hangup_source: 'Caller' });
    const all = (await service.api('GET', 'cdr?per_page=2')).body['data'] as Json[];
    expect(all.find(({ context }) => context === 'dial')).toMatchObject({
      call_direction: 'outbound',
      cost: 0.0065,
      destination_number: '14155550177',
    });
    expect((await run.done).status).toBe(0);
  });

  const inbound = (localAddress: string, more: Partial<SippOptions> = {}) =>
    sipp({
      folder: folder.path,
      scenario: 'from-carrier',
      target: service.sipPort,
      localAddress,
      calls: 5,
      service: `+${OWN_NUMBER}`,
      pauseMs: 1500,
      limitS: 8,
      ...more,
    });

  it('calls from the address of a carrier reach the application of the number, without digest', async () => {
    await inbound(FIRST);
    await eventually('five hangups', () =>
      customer.at('/did-hangup').length === 5 ? true : undefined,
    );
    const cdrs = (await service.api('GET', 'cdr?per_page=5')).body['data'] as Json[];
    for (const cdr of cdrs) {
      // Inbound 0.003 and the stream 0.003 USD a minute.
      expect(cdr).toMatchObject({
        context: 'did',
        call_direction: 'inbound',
        destination_number: OWN_NUMBER,
        total_cost: 0.006,
        carrier_ip: FIRST,
      });
      expect(Number(cdr['mos'])).toBeGreaterThan(3.5);
    }
  });

  it('a number that nobody has is refused with 404', async () => {
    await expect(inbound(FIRST, { calls: 1, service: '+14155559999' })).rejects.toThrow(/404/);
  });

  it('from any other address the same call is asked for a password', async () => {
    await expect(inbound(STRANGER, { calls: 1 })).rejects.toThrow(/401/);
  });

  it('has left no call, no reservation and no error of ours', async () => {
    await eventually('the end of every call', async () =>
      (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
    expect((await service.balance())['reserved_funds']).toBe(0);
    expect(
      service.program.stdout
        .split('\n')
        .filter((line) => /"level":"(error|fatal)"|"bug":true/.test(line)),
    ).toEqual([]);
  });
});
