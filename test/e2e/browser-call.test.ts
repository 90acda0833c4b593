/**
 * A call between a real browser and a phone, with DTLS-SRTP. Skipped without Chromium. More browser tests are in
 * test/interop.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BrowserPhone } from './browser-phone.ts';
import { hasChromium } from './chromium.ts';
import { makeUser } from './phone.ts';
import { Scene } from './scene.ts';
import { eventually } from './service.ts';
import { tone, toneMs } from './tones.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

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
