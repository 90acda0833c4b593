/** Pending invitations: an account owner lists and revokes them in the console, in Chromium. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { ConsoleStage, expectAccessible, type Person } from './console-stage.ts';

describe.skipIf(!hasChromium)('invitations in the console', () => {
  let stage: ConsoleStage;
  let owner: Person;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    owner = await stage.person('owns@example.test', 'owner', stage.service.demo.authId);
  });
  afterAll(() => stage.close());

  it('lists recipient and expiry; a revoked invitation link no longer works', async () => {
    const { page, go } = owner;
    await go('/people');
    await page.getByText('No pending invitations.').waitFor();
    await page.getByRole('button', { name: 'Invite user' }).click();
    await page.getByLabel('E-mail').fill('new@example.test');
    await page.getByLabel('Role').selectOption('developer');
    await page.getByRole('button', { name: 'Create invitation' }).click();
    const row = page.getByRole('region', { name: 'Invitations' }).getByRole('row', {
      name: /new@example\.test developer/,
    });
    await row.waitFor();
    expect(await row.getByRole('time').count()).toBe(2);
    const link = (await page.locator('.callout[role=status] code').textContent()) ?? '';
    await expectAccessible(owner);
    await row.getByRole('button', { name: 'Actions for new@example.test' }).click();
    await page.getByRole('menuitem', { name: 'Revoke invitation' }).click();
    await page.getByRole('button', { name: 'Revoke invitation' }).click();
    await page.getByText('No pending invitations.').waitFor();
    const guest = await stage.guest();
    await guest.goto(`${stage.service.baseUrl}/console#${link.split('#')[1]}`);
    await guest.getByText('The link was used or has expired').waitFor();
    await guest.context().close();
    await go('/audit');
    await page
      .getByRole('row', { name: /owns@example\.test Revoke an invitation/ })
      .first()
      .waitFor();
  });
});
