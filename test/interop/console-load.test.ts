/** CPU cost of an open console page while 300 calls run and change every second. */
import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import type { LiveCall } from '../../src/domain/dispatch/types.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { createLiveFeed } from '../../src/edge/rest/server.ts';
import { hasChromium, openChromium } from '../e2e/chromium.ts';
import { eventually } from '../e2e/service.ts';
import { startService } from '../spec/service.ts';

const CALLS = 300;
const WATCHED_MS = 10_000;
const CORE_SHARE = 0.05;
const FRAME_MS = 100;
it.skipIf(!hasChromium)(
  'a page with 300 running calls uses less than 5 % of a core and 100 ms per frame',
  async () => {
    const callOf = (number: number): LiveCall => ({
      callUuid: asCallUuid(`00000000-0000-4000-8000-${String(number).padStart(12, '0')}`),
      requestUuid: undefined,
      accountId: service.account.authId,
      subAccount: undefined,
      direction: 'inbound',
      status: number % 7 === 0 ? 'ringing' : 'in-progress',
      from: `1415555${String(number).padStart(4, '0')}`,
      to: '1000',
      callerName: '',
      startUs: Date.now() * 1000 - number * 1_000_000,
      answerUs: undefined,
      stirVerification: '',
      stirAttestation: '',
      bots: number % 2 === 0 ? ['bots.example'] : [],
    });
    let reported = 0;
    const liveFeed = createLiveFeed(systemClock, {
      // Each second one call ends and one starts, and the audio quality of a tenth of the calls changes.
      list: async () => {
        reported += 1;
        return Array.from({ length: CALLS }, (_, at) => callOf(reported + at));
      },
      scores: async (uuids) =>
        uuids.map((uuid) => [
          uuid,
          4 + ((Number(uuid.slice(-3)) + reported) % 10 === 0 ? 0.1 : 0.3),
        ]),
    });
    const service = await startService({ deps: { liveFeed } });
    const { url } = await service.server.start();
    const made = await service.admin('POST', '/users', { email: 'a@example.test', role: 'owner' });
    const browser = await openChromium();
    const page = await browser.newPage();
    await page.goto(`${url}/console#${String(made.body.link).split('#')[1]}`);
    await page.getByLabel('Choose a password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('link', { name: /^Calls / }).click();
    await page.getByText(`${CALLS} running`).waitFor();
    await page.evaluate(`
      window.longest = 0;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
      }).observe({ type: 'longtask', buffered: false });
    `);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    const busyS = async (): Promise<number> => {
      const { metrics } = await devtools.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
    };
    const [beforeS, beforeMs] = [await busyS(), performance.now()];
    await eventually(
      'ten seconds',
      () => performance.now() - beforeMs > WATCHED_MS || undefined,
      2 * WATCHED_MS,
    );
    const share = ((await busyS()) - beforeS) / ((performance.now() - beforeMs) / 1000);
    const longest = await page.evaluate<number>('window.longest');
    await browser.close();
    await service.stop();
    console.log(`of a core: ${(100 * share).toFixed(2)} %, longest task ${longest} ms`);
    expect(share).toBeLessThan(CORE_SHARE);
    expect(longest).toBeLessThan(FRAME_MS);
  },
);
