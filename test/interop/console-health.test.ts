/** Live updates of the console's health page for operators, in Chromium. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { callFor } from '../e2e/phone.ts';
import { ConsoleStage, expectAccessible, type Person } from './console-stage.ts';

describe.skipIf(!hasChromium)('health in the console', () => {
  let stage: ConsoleStage;
  let staff: Person;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    staff = await stage.person('health@example.test', 'operator');
  });
  afterAll(() => stage.close());

  it('updates calls per second immediately, up and down', async () => {
    const { page, go } = staff;
    await go('/health');
    const tile = page.locator('.tile').filter({ hasText: 'Calls per second' });
    await tile.getByText('0.0', { exact: true }).waitFor();
    // The search starts before the call, because the value is current for 10 s only.
    const risen = tile.getByText(/^(0\.[1-9]|[1-9]\d*\.\d)$/).waitFor();
    await Promise.all([risen, callFor(stage.service, stage.service.demo, 1)]);
    await tile.getByText('0.0', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Show metrics', exact: true }).count()).toBe(1);
    await expectAccessible(staff);
  });
});
