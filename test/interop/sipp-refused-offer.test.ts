/** A SIPp carrier whose re-INVITE is refused: the session stays as it was, and its audio goes on (RFC 6141). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLED = '127.0.0.7';

describe.skipIf(missing('sipp', 'sox'))('a carrier that asks for fax', () => {
  let stage: SippStage;
  beforeAll(async () => {
    stage = await SippStage.open(8000);
    await stage.carrier({ name: 'faxes', host: CALLED });
  });
  afterAll(() => stage.close());

  it('gets 488, and is heard for the rest of the call', async () => {
    const callee = stage.called(CALLED, 'carrier-asks-fax', { limitS: 20 });
    const xml = '<Response><Wait length="3"/><Hangup/></Response>';
    const cdr = await stage.placed('14155550188', xml, 'fax');
    const { status, report } = await callee.done;
    expect(status, report).toBe(0);
    expect(cdr).toMatchObject({ hangup_cause_code: 4000, codec: 'PCMU' });
    // 50 a second; the re-INVITE came after 0.3 s.
    const { body } = await stage.service.api('GET', `Call/${cdr['uuid']}/quality/samples`);
    const samples = body['samples'] as Array<{ packets_received: number; packets_sent: number }>;
    expect(samples.at(-1)?.packets_received, JSON.stringify(body)).toBeGreaterThan(110);
  });
});
