/** A SIPp carrier accepts comfort noise (RFC 3389), which the settings enable in the offer, and receives it during silence. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SippStage } from './sipp-stage.ts';
import { missing } from './tools.ts';

const CALLED = '127.0.0.9';
const COMFORT_NOISE = 13;

describe.skipIf(missing('sipp'))('comfort noise in an offer of the service', () => {
  let stage: SippStage;
  beforeAll(async () => {
    stage = await SippStage.open(8300, { CARILLON_RTP_CARRIER_CODECS: 'CN,PCMU,PCMA' });
    await stage.carrier({ name: 'quiet', host: CALLED });
  });
  afterAll(() => stage.close());

  it('is accepted by the carrier, and replaces packets of silence', async () => {
    const listener = createSocket('udp4').bind(0, CALLED);
    await once(listener, 'listening');
    const received = new Map<number, number>();
    listener.on('message', ([, type = 0]) =>
      received.set(type & 0x7f, (received.get(type & 0x7f) ?? 0) + 1),
    );
    try {
      const key = ['-key', 'ear_port', String(listener.address().port)];
      const callee = stage.called(CALLED, 'carrier-comfort-noise', { limitS: 30, more: key });
      const xml = '<Response><Wait length="4"/><Hangup/></Response>';
      const cdr = await stage.placed('14155550189', xml, 'quiet');
      const { status, report } = await callee.done;
      expect(status, report).toBe(0);
      expect(cdr).toMatchObject({ hangup_cause_code: 4000, codec: 'PCMU' });
      expect(received.get(COMFORT_NOISE), JSON.stringify([...received])).toBeGreaterThan(0);
      // Four seconds of silence would be 200 audio packets.
      expect(received.get(0) ?? 0, JSON.stringify([...received])).toBeLessThan(150);
    } finally {
      listener.close();
    }
  });
});
