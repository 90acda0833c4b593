/** SIPp as carriers on separate loopback addresses: outbound calls, failover, Dial, and inbound calls to a number. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echoBot, streamXml } from '../e2e/customer.ts';
import { callFor, makeUser } from '../e2e/phone.ts';
import { eventually, type Json } from '../e2e/service.ts';
import { OWN_NUMBER, SippStage } from './sipp-stage.ts';
import { missing, type SippOptions, type SippRun, sipp } from './tools.ts';

const FIRST = '127.0.0.2';
const SECOND = '127.0.0.3';
const STRANGER = '127.0.0.4';

describe.skipIf(missing('sipp', 'sox'))('SIPp as carriers', () => {
  let stage: SippStage;
  let service: SippStage['service'];
  let customer: SippStage['customer'];
  let folder: SippStage['folder'];

  beforeAll(async () => {
    stage = await SippStage.open(6000);
    ({ service, customer, folder } = stage);
    await service.admin('PATCH', `/accounts/${service.demo.authId}`, {
      concurrent_calls_limit: 50,
      cps_limit: 50,
    });
    await stage.carrier({ name: 'first', host: FIRST, priority: 1 });
    await stage.carrier({ name: 'second', host: SECOND, priority: 2 });
    await stage.answersOwnNumber(streamXml(customer.bot('/echo', echoBot)));
  });
  afterAll(() => stage.close());

  const carrier = (host: string, scenario: string, more: Partial<SippOptions> = {}): SippRun =>
    stage.called(host, scenario, more);
  const placed = (to: string, xml: string, name: string): Promise<Json> =>
    stage.placed(to, xml, name);

  const TALK = '<Response><Wait length="1"/><Hangup/></Response>';

  it('an answered outbound call runs its document and is billed by destination', async () => {
    const run = carrier(FIRST, 'carrier-answers');
    const cdr = await placed('14155550199', TALK, 'out');
    // Rate in config/rates.json: prefix 1, outbound, 0.0065 USD per minute.
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
  ])('a refusal with %s ends the call: %s', async (status, name) => {
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

  it('503 of the first carrier fails over to the second', async () => {
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

  it("Dial Number: the endpoint's caller hears the carrier's audio; both legs have records", async () => {
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

  it("calls from a carrier's address reach the application of the number without digest", async () => {
    await inbound(FIRST);
    await eventually('five hangups', () =>
      customer.at('/did-hangup').length === 5 ? true : undefined,
    );
    const cdrs = (await service.api('GET', 'cdr?per_page=5')).body['data'] as Json[];
    for (const cdr of cdrs) {
      // Rates: inbound 0.003 and stream 0.003 USD per minute.
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

  it('refuses an unassigned number with 404', async () => {
    await expect(inbound(FIRST, { calls: 1, service: '+14155559999' })).rejects.toThrow(/404/);
  });

  it('challenges the same call from any other address', async () => {
    await expect(inbound(STRANGER, { calls: 1 })).rejects.toThrow(/401/);
  });

  it('leaves no call, no reservation and no internal error', async () => {
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
