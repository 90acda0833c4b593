/** Time until a page of the console shows its data in a browser without cache, and its layout on wide and narrow screens. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { callFor } from '../e2e/phone.ts';
import { ConsoleStage, type Person, pictureAt } from './console-stage.ts';

const FIRST_VIEW_MS = 1000;
const SIZES = [
  { width: 360, height: 640 },
  { width: 2560, height: 1440 },
] as const;
/** Pages by the text that shows that their data is loaded. */
const PAGES = [
  ['overview', 'Latest calls'],
  ['calls', 'Normal Hangup'],
  ['health', 'Parts'],
] as const;

describe.skipIf(!hasChromium)('the first view of the console', () => {
  let stage: ConsoleStage;
  let staff: Person;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    await callFor(stage.service, stage.service.demo, 1);
    staff = await stage.person('first@example.test', 'owner');
  });
  afterAll(() => stage.close());

  it.each(PAGES)('%s shows its data within a second', async (path, text) => {
    const { page, go } = staff;
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await page.goto('about:blank');
      const startMs = performance.now();
      await go(`/${path}`);
      await page.locator('main').getByText(text).first().waitFor();
      times.push(performance.now() - startMs);
    }
    console.log(`${path}: ${times.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`);
    // The fastest of three, because other programs use the machine too.
    expect(Math.min(...times)).toBeLessThanOrEqual(FIRST_VIEW_MS);
  });

  it.each(SIZES)('uses a screen of $width x $height without horizontal scrolling', async (size) => {
    const { page, go } = staff;
    for (const [path, text] of PAGES) {
      await go(`/${path}`);
      await page.locator('main').getByText(text).first().waitFor();
      await pictureAt(staff, `${path}-${size.width}`, size);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width, path).toBeLessThanOrEqual(size.width);
      // The content is as wide as the design allows, and centered.
      const box = await page.locator('main').boundingBox();
      expect(box?.width ?? 0, path).toBeGreaterThan(Math.min(0.9 * size.width, 1500));
    }
  });
});
