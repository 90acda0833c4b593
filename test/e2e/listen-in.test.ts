/** Live listening to a running call, and the stream inspector for its bot. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onTime } from '../on-time.ts';
import { Handset } from './handset.ts';
import {
  type AccountKey,
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';
import { loudMs, tone, toneMs } from './tones.ts';

const RATE = 16_000;
const HEADER = 44;
const HZ = 700;

describe('a running call', () => {
  let place: ServicePlace;
  let service: Service;
  let phone: Handset;
  let uuid: string;

  beforeAll(async () => {
    place = await newPlace();
    service = await Service.start(place);
    phone = await Handset.call(service, service.demo, { voice: tone([HZ], 60_000) });
    await phone.answered;
    const [call] = (await service.admin('GET', '/calls')).body['calls'] as Json[];
    uuid = String(call?.['call_uuid']);
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
  });

  const ask = (what: string, method: string, as: AccountKey = service.demo): Promise<Response> =>
    fetch(`${service.baseUrl}/api/v1/Account/${as.authId}/Call/${uuid}/${what}`, {
      method,
      headers: { 'x-auth-id': as.authId, 'x-auth-token': as.authToken },
    });

  async function* bytesOf(reply: Response): AsyncGenerator<Buffer> {
    for await (const chunk of reply.body ?? []) yield Buffer.from(chunk);
  }

  it('can be heard with one direction per channel', () =>
    onTime(async () => {
      const reply = await ask('listen', 'POST');
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toContain('audio/wav');
      let wav = Buffer.alloc(0);
      for await (const chunk of bytesOf(reply)) {
        wav = Buffer.concat([wav, chunk]);
        if (wav.length > HEADER + 2 * RATE * 4) break;
      }
      expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
      expect([wav.readUInt16LE(22), wav.readUInt32LE(24)]).toEqual([2, RATE]);
      /** One second of one channel, 8 kHz. */
      const side = (at: number): Int16Array =>
        Int16Array.from({ length: RATE / 2 }, (_, i) =>
          wav.readInt16LE(HEADER + 4 * (2 * i + RATE) + at),
        );
      // The echo bot returns the audio it receives. Under load the test phone drops audio.
      for (const received of [side(0), side(2)]) {
        expect(toneMs(received, HZ)).toBeGreaterThan(300);
        expect(toneMs(received, HZ)).toBeGreaterThan(0.8 * loudMs(received));
      }
      const { body } = await service.api('GET', `Call/${uuid}/log`);
      const lines = (body['log'] as Json[]).map(({ text }) => text);
      expect(lines).toContain('a console user started to listen in');
      await eventually('the end of listening', async () => {
        const log = (await service.api('GET', `Call/${uuid}/log`)).body['log'] as Json[];
        return log.some(({ text }) => text === 'a console user stopped listening in') || undefined;
      });
    }));

  it("shows the bot's messages and the audio levels of both directions", async () => {
    const reply = await ask('stream-events', 'GET');
    expect(reply.status).toBe(200);
    let reported = '';
    let pressed = false;
    for await (const chunk of bytesOf(reply)) {
      reported += chunk.toString();
      if (reported.includes('levels') && !pressed) {
        pressed = true;
        phone.press('#');
      }
      if (reported.includes('clearedAudio') && reported.includes('clearAudio')) break;
    }
    expect(reported).toMatch(/"direction":"toBot","text":"\{.*dtmf/);
    expect(reported).toMatch(/"direction":"fromBot","text":"\{.*clearAudio/);
    const levels = [...reported.matchAll(/"said_dbfs":(-?[\d.]+),"heard_dbfs":(-?[\d.]+)/g)];
    expect(Math.max(...levels.map(([, said]) => Number(said)))).toBeGreaterThan(-30);
    expect(Math.max(...levels.map(([, , received]) => Number(received)))).toBeGreaterThan(-30);
  });

  it('is closed to other accounts, and limited to two listeners', async () => {
    const made = (await service.admin('POST', '/accounts', { name: 'Other' })).body;
    const other = { authId: String(made['auth_id']), authToken: String(made['auth_token']) };
    expect((await ask('listen', 'POST', other)).status).toBe(404);
    expect((await ask('stream-events', 'GET', other)).status).toBe(404);
    const open = [await ask('listen', 'POST'), await ask('listen', 'POST')];
    expect(open.map(({ status }) => status)).toEqual([200, 200]);
    expect((await ask('listen', 'POST')).status).toBe(429);
    for (const reply of open) await reply.body?.cancel();
  });

  it('closes the listening sessions when the call ends', async () => {
    const reply = await eventually('a place', async () => {
      const tried = await ask('listen', 'POST');
      return tried.status === 200 ? tried : undefined;
    });
    await phone.hangUp();
    for await (const chunk of bytesOf(reply)) expect(chunk.length).toBeGreaterThan(0);
    expect((await ask('listen', 'POST')).status).toBe(404);
  });
});
