/** Opens the page linked by the first start in Chromium: it registers and calls the echo bot automatically. */
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPlace, removePlace, Service, type ServicePlace } from '../e2e/service.ts';
import { missing } from './tools.ts';

describe.skipIf(missing('chromium'))('the phone page', () => {
  let place: ServicePlace;
  let service: Service;
  beforeAll(async () => {
    place = await newPlace();
    service = await Service.start(place);
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
  });

  it('registers with the data in its link, calls, holds and hangs up', async () => {
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--use-fake-ui-for-media-stream',
        '--use-fake-device-for-media-stream',
        '--disable-features=WebRtcHideLocalIpsWithMdns',
        '--allow-loopback-in-peer-connection',
      ],
    });
    const context = await browser.newContext({ permissions: ['microphone'] });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    const { username, password } = service.demo;
    const account = new URLSearchParams({ user: username, password, dial: '1000' });
    await page.goto(`${service.baseUrl}/phone#${account}`);
    await page.getByText('Ready for calls').waitFor();
    expect(page.url()).not.toContain(password);
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText('In a call.').waitFor();
    await page.getByText('opus').waitFor();
    await page.getByRole('button', { name: 'Hold' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: '5', exact: true }).click();
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('The call has ended. You hung up.').waitFor();
    expect(faults).toEqual([]);
    await browser.close();
  });
});
