/** SIPp at both ends of a Dial: answer, early media and refusals of the called party are forwarded to the caller. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Json } from '../e2e/service.ts';
import { OWN_NUMBER, SippStage } from './sipp-stage.ts';
import { missing, type SippOptions, type SippRun } from './tools.ts';

const CALLING = '127.0.0.2';
const CALLED = '127.0.0.3';
const THIRD = '127.0.0.7';

describe.skipIf(missing('sipp', 'sox'))('SIPp at both ends of a Dial', () => {
  let stage: SippStage;
  let service: SippStage['service'];
  let port: number;

  beforeAll(async () => {
    stage = await SippStage.open(7000, { CARILLON_CALLS_REFER_FROM: 'all' });
    ({ service, port } = stage);
    await stage.carrier({ name: 'calling', host: CALLING, prefixes: ['999'] });
    await stage.carrier({ name: 'called', host: CALLED });
    await stage.answersOwnNumber(
      `<Response><Dial callerId="${OWN_NUMBER}"><Number>14155550177</Number></Dial></Response>`,
    );
  });
  afterAll(() => stage.close());

  const called = (scenario: string, more: Partial<SippOptions> = {}): SippRun =>
    stage.called(CALLED, scenario, { limitS: 20, ...more });
  const calling = (scenario: string, more: Partial<SippOptions> = {}): SippRun =>
    stage.peer(scenario, {
      localAddress: CALLING,
      target: service.sipPort,
      service: `+${OWN_NUMBER}`,
      limitS: 20,
      ...more,
    });

  let records = 0;
  /** Runs both scenarios to completion and returns the records of both legs. */
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

  it('rings, answers and bills together with the called party', async () => {
    const callee = called('carrier-answers');
    const { a, b } = await both(calling('from-carrier', { pauseMs: 1200 }), callee);
    expect(a).toMatchObject({ hangup_cause_code: 4000, hangup_source: 'Caller', billsec: 1 });
    expect(b).toMatchObject({ hangup_cause_code: 4000, billsec: 1 });
  });

  it("plays the called carrier's announcement before the answer", async () => {
    const callee = called('carrier-early');
    const { a } = await both(calling('caller-early', { pauseMs: 1000 }), callee);
    expect(a).toMatchObject({ hangup_cause_code: 4000, billsec: 1 });
    expect(Number(a['duration'])).toBeGreaterThanOrEqual(2);
  });

  it('early media with PRACK at both ends (RFC 3262); the 200 on either side repeats no SDP', async () => {
    const callee = called('carrier-prack');
    const { a } = await both(calling('caller-prack', { pauseMs: 1000 }), callee);
    expect(a).toMatchObject({ hangup_cause_code: 4000, billsec: 1 });
  });

  it('a called party transfers its caller by REFER and receives the outcome (RFC 3515)', async () => {
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
      hangup_cause_code: 4000,
      hangup_source: 'Caller',
    });
  });

  it.each([
    ['486', 'Busy Line'],
    ['603', 'Declined'],
    ['404', 'Unallocated number'],
  ])('forwards a refusal of the called party with %s to the caller', async (status, name) => {
    const callee = called('carrier-refuses', { status });
    const { a } = await both(calling('caller-refused', { status }), callee);
    expect(a).toMatchObject({
      hangup_cause_name: name,
      hangup_disposition: 'send_refuse',
      answer_time: null,
      total_cost: 0,
    });
  });

  it('a CANCEL of the caller cancels the call to the called party (487)', async () => {
    const callee = called('carrier-rings');
    const { a, b } = await both(calling('caller-cancels', { pauseMs: 600 }), callee);
    expect(a).toMatchObject({ hangup_cause_code: 1000, hangup_disposition: 'recv_cancel' });
    expect(b).toMatchObject({ hangup_cause_code: 1000, hangup_disposition: 'send_cancel' });
  });

  it('leaves no call, no reservation and no internal error', async () => {
    await eventually('the end of every call', async () =>
      (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
    expect((await service.balance())['reserved_funds']).toBe(0);
    const ours = /"level":"(error|fatal)"|"bug":true/;
    expect(service.program.stdout.split('\n').filter((line) => ours.test(line))).toEqual([]);
  });
});
