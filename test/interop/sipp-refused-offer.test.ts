/** A SIPp carrier whose re-INVITE is refused: the session stays unchanged and its audio continues (RFC 6141). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLED = '127.0.0.7';

describe.skipIf(missing('sipp', 'sox'))('a carrier that offers fax', () => {
  let stage: SippStage;
  beforeAll(async () => {
    stage = await SippStage.open(8000);
    await stage.carrier({ name: 'faxes', host: CALLED });
  });
  afterAll(() => stage.close());

  it('gets 488, and its audio arrives for the rest of the call', async () => {
    const callee = stage.called(CALLED, 'carrier-asks-fax', { limitS: 20 });
    const xml = '<Response><Wait length="3"/><Hangup/></Response>';
    const cdr = await stage.placed('14155550188', xml, 'fax');
    const { status, report } = await callee.done;
    expect(status, report).toBe(0);
    expect(cdr).toMatchObject({ hangup_cause_code: 4000, codec: 'PCMU' });
    // The carrier sends 50 packets per second; the re-INVITE comes after 0.3 s.
    const { body } = await stage.service.api('GET', `Call/${cdr['uuid']}/quality/samples`);
    const samples = body['samples'] as Array<{ packets_received: number; packets_sent: number }>;
    expect(samples.at(-1)?.packets_received, JSON.stringify(body)).toBeGreaterThan(110);
  });
});
