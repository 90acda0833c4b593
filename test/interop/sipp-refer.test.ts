/** A SIPp carrier receives a REFER to call another party, and reports the outcome by NOTIFY. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLED = '127.0.0.6';

describe.skipIf(missing('sipp', 'sox'))('a carrier with refer', () => {
  let stage: SippStage;
  beforeAll(async () => {
    stage = await SippStage.open(7900);
    await stage.carrier({ name: 'refers', host: CALLED, refer: true });
  });
  afterAll(() => stage.close());

  it.each([
    ['200 OK', 'completed', 'Answer XML'],
    ['486 Busy Here', 'failed', 'Carillon'],
  ])('tells %s: %s', async (status, outcome, source) => {
    const { customer } = stage;
    const callee = stage.called(CALLED, 'carrier-referred', { status, limitS: 20 });
    const action = `http://${customer.authority}/${outcome}-action`;
    customer.xml(`/${outcome}-action`, '<Response/>');
    const xml = `<Response><Refer action="${action}" redirect="false"><Number>14155550177</Number></Refer><Wait length="1"/></Response>`;
    const cdr = await stage.placed('14155550188', xml, outcome);
    const { status: exit, report } = await callee.done;
    expect(exit, report).toBe(0);
    expect(cdr).toMatchObject({ hangup_source: source });
    await expect
      .poll(() => customer.at(`/${outcome}-action`)[0]?.form)
      .toMatchObject({
        Event: 'Refer',
        ReferStatus: outcome,
        ReferTo: '14155550177',
        ReferSipResponseCode: '202',
        NotifySipResponseCode: status.slice(0, 3),
      });
  });
});
