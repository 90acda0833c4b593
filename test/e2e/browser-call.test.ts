/**
 * A call between a real browser and a phone, with DTLS-SRTP. Skipped without Chromium. More browser tests are in
 * test/interop.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasIpv6 } from '../has-ipv6.ts';
import { BrowserPhone } from './browser-phone.ts';
import { hasChromium } from './chromium.ts';
import { makeUser } from './phone.ts';
import { Scene } from './scene.ts';
import { eventually, freePort } from './service.ts';
import { tone, toneMs } from './tones.ts';

const BROWSER_HZ = 600;
const PHONE_HZ = 900;

describe.skipIf(!hasChromium)('a call between a browser and a phone', () => {
  let scene: Scene;
  let browser: BrowserPhone;
  beforeAll(async () => {
    [scene, browser] = await Promise.all([Scene.open(), BrowserPhone.start(BROWSER_HZ)]);
  });
  afterAll(async () => {
    await browser.stop();
    await scene.close();
  });

  it('carries audio in both directions over SRTP with DTLS keys', async () => {
    const { phone, element } = await scene.waiting('desk', { voice: tone([PHONE_HZ], 60_000) });
    const user = await makeUser(scene.service, 'page', {
      answer_url: scene.document('/page', `<Dial>${element}</Dial>`),
    });
    await browser.register(`${scene.service.baseUrl.replace('http', 'ws')}/sip`, user);
    await browser.call('sip:1000@127.0.0.1');
    await phone.answered;
    await browser.received(PHONE_HZ);
    await eventually('the tone of the browser', () =>
      toneMs(phone.received, BROWSER_HZ) > 500 ? true : undefined,
    );
    expect(await browser.hears(BROWSER_HZ)).toEqual([false]);
    const reported = await browser.statistics();
    expect(reported).toMatchObject({ dtlsState: 'connected' });
    expect(reported.srtpCipher).toMatch(/AES/);
    expect(reported.packets).toBeGreaterThan(20);
    await browser.hangup();
    await phone.ended;
    await phone.close();
  });
});

describe.skipIf(!hasChromium || !hasIpv6)('a browser at ::1', () => {
  let scene: Scene;
  let browser: BrowserPhone;
  let wsPort: number;
  beforeAll(async () => {
    wsPort = await freePort();
    const settings = {
      CARILLON_SIP_HOST: '::',
      CARILLON_SIP_WS_PORT: String(wsPort),
      CARILLON_RTP_HOST: '::',
    };
    [scene, browser] = await Promise.all([Scene.open(settings), BrowserPhone.start(BROWSER_HZ)]);
  });
  afterAll(async () => {
    await browser.stop();
    await scene.close();
  });

  it.each([
    ['both families', undefined],
    ['IPv4', 4],
    ['IPv6', 6],
  ] as const)('with candidates of %s talks to an IPv4 phone and is recorded', async (_, family) => {
    const recorded = `/recorded-${family}`;
    const record = `<Record recordSession="true" maxLength="600" fileFormat="wav" playBeep="false" callbackUrl="${scene.url(recorded)}"/>`;
    const { phone, element } = await scene.waiting(`desk${family}`, {
      voice: tone([PHONE_HZ], 60_000),
    });
    const name = `page${family}`;
    const user = await makeUser(scene.service, name, {
      answer_url: scene.document(`/${name}`, `${record}<Dial>${element}</Dial>`),
    });
    await browser.register(`ws://[::1]:${wsPort}`, user);
    await browser.call('sip:1000@127.0.0.1', family);
    await phone.answered;
    await browser.received(PHONE_HZ);
    await eventually('the tone of the browser', () =>
      toneMs(phone.received, BROWSER_HZ) > 1000 ? true : undefined,
    );
    const { localAddress } = await browser.statistics();
    if (family !== undefined) expect(localAddress.includes(':')).toBe(family === 6);
    const described = await browser.remoteDescription();
    if (family !== 6) expect(described).toMatch(/^a=candidate:.* udp \d+ 127\.0\.0\.1 /m);
    if (family !== 4) expect(described).toMatch(/^a=candidate:.* udp \d+ ::1 /m);
    await browser.hangup();
    await phone.ended;
    await phone.close();
    const { RecordFile: link } = await scene.reported(recorded, 'RecordStop');
    const { rate, left, right } = await scene.recorded(link);
    // toneMs assumes 8 kHz.
    const heard = (side: Int16Array, hz: number) => toneMs(side, (hz * 8000) / rate);
    expect(heard(left, BROWSER_HZ)).toBeGreaterThan(400);
    expect(heard(right, PHONE_HZ)).toBeGreaterThan(400);
  });
});
