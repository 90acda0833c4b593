/** A SIPp carrier with delayed offer: it makes the offer in its 200 and expects the answer in the ACK. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLED = '127.0.0.5';

describe.skipIf(missing('sipp', 'sox'))('a carrier with delayed_offer', () => {
  let stage: SippStage;
  beforeAll(async () => {
    stage = await SippStage.open(7800);
    await stage.carrier({ name: 'offers', host: CALLED, delayed_offer: true });
  });
  afterAll(() => stage.close());

  it('offers in its 200, gets the answer in the ACK, and its audio arrives', async () => {
    const callee = stage.called(CALLED, 'carrier-offers', { limitS: 20 });
    const cdr = await stage.placed(
      '14155550188',
      '<Response><Wait length="1"/><Hangup/></Response>',
      'delayed',
    );
    const { status, report } = await callee.done;
    expect(status, report).toBe(0);
    expect(cdr).toMatchObject({ hangup_cause_code: 4000, codec: 'PCMU' });
  });
});
