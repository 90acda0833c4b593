/** Pages of developers in Chromium: what they show of all nodes and after a restart. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { Customer } from '../e2e/customer.ts';
import { callFor, makeUser } from '../e2e/phone.ts';
import { ConsoleStage, expectAccessible, type Person } from './console-stage.ts';

describe.skipIf(!hasChromium)('the pages of developers', () => {
  let stage: ConsoleStage;
  let customer: Customer;
  let developer: Person;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    customer = await Customer.listen();
    const { authId } = stage.service.demo;
    developer = await stage.person('dev@example.test', 'developer', authId);
  });
  afterAll(async () => {
    await stage.close();
    await customer.close();
  });

  it('show and replay webhooks, and the last use of credentials, after a restart', async () => {
    const { page, go } = developer;
    const answer = customer.xml('/kept', '<Response><Wait length="1"/></Response>');
    const user = await makeUser(stage.service, 'kept', { answer_url: answer });
    await callFor(stage.service, user, 1);
    await stage.service.api('GET', 'Endpoint/');
    await stage.restart();
    await go('/webhooks?search=kept');
    const row = page.getByRole('row', { name: /kept/ }).first();
    await row.getByRole('button').first().click();
    await page.getByRole('heading', { name: 'Request body' }).waitFor();
    await page.getByText('CallStatus').first().waitFor();
    await page.getByRole('button', { name: 'Replay callback' }).click();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('The replay was answered with 200.').waitFor();
    await go('/credentials');
    const card = page.locator('.card').filter({ hasText: 'Auth token' }).first();
    await card.getByText('127.0.0.1').waitFor();
    expect(await card.getByText('Never').count()).toBe(0);
    await expectAccessible(developer);
  });
});
