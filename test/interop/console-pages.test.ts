/** Every page of the console in Chromium: accessible in both color modes, and no wider than a phone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { callFor } from '../e2e/phone.ts';
import { eventually } from '../eventually.ts';
import { ConsoleStage, expectAccessible, type Person } from './console-stage.ts';

const PAGES = [
  'overview',
  'calls',
  'conferences',
  'streams',
  'recordings',
  'campaigns',
  'agents',
  'do-not-call',
  'applications',
  'playground',
  'numbers',
  'numbers?view=buy',
  'endpoints',
  'trunks',
  'caller-ids',
  'credentials',
  'webhooks',
  'sub-accounts',
  'billing',
  'rates',
  'health',
  'nodes',
  'alarms',
  'log?level=debug',
  'doctor',
  'settings',
  'database',
  'media-policies',
  'carriers',
  'accounts',
  'import',
  'personal-data',
  'account',
  'people',
  'audit',
  'profile',
] as const;
const STAFFS = [
  'Health',
  'Nodes',
  'Alarms',
  'Log',
  'Doctor',
  'Settings',
  'Database',
  'Media policies',
  'Carriers',
  'Accounts',
  'Import',
  'Personal data',
];

describe.skipIf(!hasChromium)('the pages of the console', () => {
  let stage: ConsoleStage;
  let owner: Person;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    await callFor(stage.service, stage.service.demo, 1);
    owner = await stage.person('all@example.test', 'owner');
  });
  afterAll(() => stage.close());

  it.each(PAGES)('%s is accessible in light and dark mode, wide and narrow', async (path) => {
    await owner.go(`/${path}`);
    await owner.page.getByRole('heading', { level: 1 }).waitFor();
    await eventually('the data', async () =>
      (await owner.page.locator('main [aria-busy=true]').count()) === 0 ? true : undefined,
    );
    await expectAccessible(owner);
  });

  it('one call has an accessible page with its end reason and a timeline to its end', async () => {
    await owner.go('/calls');
    await owner.page.getByRole('region', { name: 'Calls' }).getByRole('link').first().click();
    await owner.page.getByText('Why the call ended').waitFor();
    await owner.page.getByRole('img', { name: /events within/ }).waitFor();
    await owner.page.getByRole('img', { name: /SIP messages between/ }).waitFor();
    await expectAccessible(owner);
  });

  it('the command palette opens a page and searches calls', async () => {
    const { page, go } = owner;
    await go('/overview');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Search pages/ }).fill('webh');
    await page.getByRole('option', { name: 'Webhooks' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Search pages/ }).fill('4021');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    expect(page.url()).toContain('search=4021');
    await page.getByText('No call matches these filters.').waitFor();
    // Also the focus by keyboard causes no script error.
    expect(owner.faults).toEqual([]);
  });

  it('a customer sees no operator pages, and an unknown page or ID is a 404 page', async () => {
    const { authId } = stage.service.demo;
    const viewer = await stage.person('views@example.test', 'viewer', authId);
    const { page, go } = viewer;
    for (const name of STAFFS) {
      expect(await page.getByRole('link', { name, exact: true }).count()).toBe(0);
    }
    await go('/applications');
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    expect(await page.getByRole('button', { name: /Create|Delete/ }).count()).toBe(0);
    for (const path of ['/nowhere', '/health', '/calls/unknown', '/campaigns/unknown']) {
      await go(path);
      await page.getByRole('heading', { name: '404: Page not found' }).waitFor();
    }
    await viewer.leave();
  });

  it('an ended session shows the sign-in form, and the same page after the sign-in', async () => {
    const person = await stage.person('back@example.test', 'viewer', stage.service.demo.authId);
    const { page, go } = person;
    await go('/webhooks?outcome=failed');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await page.context().clearCookies();
    await page.getByLabel('E-mail').fill('back@example.test');
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    expect(page.url()).toContain('webhooks?outcome=failed');
    await person.leave();
  });

  it('a lost connection shows a banner until the service answers again', async () => {
    const person = await stage.person('lost@example.test', 'viewer', stage.service.demo.authId);
    const { page } = person;
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Recordings' }).click();
    const banner = page.getByText('The connection to the service is lost.');
    await banner.waitFor();
    await page.context().setOffline(false);
    await eventually('the end of the banner', async () =>
      (await banner.count()) === 0 ? true : undefined,
    );
    await page.getByRole('heading', { name: 'Recordings', level: 1 }).waitFor();
    await person.leave();
  });
});
