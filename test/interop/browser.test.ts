/** A browser registers, calls and is called: ICE, DTLS-SRTP and audio both ways, as Chromium does them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
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
import { BrowserPhone } from './browser.ts';
import { missing, workFolder } from './tools.ts';

const TONE_HZ = 600;

describe.skipIf(missing('chromium', 'sox'))('Chromium', () => {
  let place: ServicePlace;
  let service: Service;
  let server: string;
  let folder: ReturnType<typeof workFolder>;

  beforeAll(async () => {
    folder = workFolder();
    const ws = await freePort();
    place = await newPlace({ CARILLON_SIP_WS_PORT: String(ws) });
    service = await Service.start(place);
    server = `ws://127.0.0.1:${ws}`;
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
    folder.remove();
  });

  const accountOf = ({ username, password }: { username: string; password: string }) => ({
    server,
    aor: `sip:${username}@127.0.0.1`,
    username,
    password,
  });

  it('calls the demo, and hears its own tone come back', async () => {
    const phone = await BrowserPhone.start(folder.path, TONE_HZ);
    await phone.register(accountOf(service.demo));
    await phone.call('sip:1000@127.0.0.1');
    await eventually(
      'the connection',
      async () => (await phone.state()) === 'connected' || undefined,
    );
    const heard = await eventually('the tone', async () => {
      const now = await phone.listen();
      return Math.abs(now.hz - TONE_HZ) < 20 && now.db > -50 ? now : undefined;
    });
    expect(heard.db).toBeGreaterThan(-50);
    const statistics = await eventually('a second of packets', async () => {
      const now = await phone.statistics();
      return now.packets > 50 ? now : undefined;
    });
    expect(statistics).toMatchObject({ dtlsState: 'connected' });
    expect(statistics.srtpCipher).toMatch(/AES/);
    await phone.hangup();
    const cdr = await eventually('the record', async () => {
      const data = (await service.api('GET', 'cdr?per_page=1')).body['data'] as Json[];
      return data[0];
    });
    expect(cdr).toMatchObject({ hangup_cause_code: 4000, hangup_source: 'Caller' });
    await phone.stop();
  });

  it('is called by a phone through Dial, answers, and both hear each other', async () => {
    const customer = await Customer.listen();
    const bob = await makeUser(service, 'bob', { answer_url: customer.xml('/bob', '<Response/>') });
    const browser = await BrowserPhone.start(folder.path, TONE_HZ);
    await browser.register(accountOf(bob));
    const caller = await makeUser(service, 'caller', {
      answer_url: customer.xml(
        '/dial',
        `<Response><Dial><User>sip:${bob.username}@127.0.0.1</User></Dial></Response>`,
      ),
    });
    const report = await callFor(service, caller, 6);
    expect(report.setupMs).toBeDefined();
    expect(report.reception.lost).toBe(0);
    const second = report.heard.subarray(-12_000, -4000);
    let crossings = 0;
    second.forEach((sample, i) => {
      if (i > 0 && sample >= 0 !== (second[i - 1] ?? 0) >= 0) crossings += 1;
    });
    expect(crossings / 2).toBeGreaterThan(TONE_HZ * 0.95);
    expect(crossings / 2).toBeLessThan(TONE_HZ * 1.05);
    await browser.stop();
    await customer.close();
  });
});
