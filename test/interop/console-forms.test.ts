/** Forms of the console in Chromium: they keep what the user typed, and send it once and unchanged. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { ConsoleStage, type Person } from './console-stage.ts';

describe.skipIf(!hasChromium)('forms of the console', () => {
  let stage: ConsoleStage;
  let staff: Person;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    staff = await stage.person('forms@example.test', 'owner');
  });
  afterAll(() => stage.close());

  it('keep what is typed while their page loads its data again', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId } = service.demo;
    const answer = { name: 'Survey', answer_url: 'https://example.test/answer' };
    const agent = await service.api('POST', 'campaign/agents', answer);
    const made = await service.api('POST', 'campaigns', {
      name: 'Spring',
      agent_id: agent.body['id'],
      timezone: 'UTC',
      max_concurrent: 1,
      caller_id_strategy: 'per_contact',
    });
    const path = `/api/v1/Account/${authId}/campaigns/${String(made.body['id'])}`;
    const reload = () =>
      page.waitForResponse((one) => one.url().endsWith(path) && one.request().method() === 'GET');
    await go(`/${authId}/campaigns/${String(made.body['id'])}`);
    await page.getByRole('button', { name: 'Actions for Spring' }).click();
    await page.getByRole('menuitem', { name: 'Edit campaign' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Concurrent calls').fill('7');
    await reload();
    await reload();
    expect(await form.getByLabel('Concurrent calls').inputValue()).toBe('7');
    await form.getByRole('button', { name: 'Save campaign' }).click();
    await page.getByText('Saved campaign.').waitFor();
    expect((await service.api('GET', path.split(`${authId}/`)[1] ?? '')).body).toMatchObject({
      max_concurrent: 7,
    });
  });

  it('send a credit once after a double click, and once after a lost answer', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId } = service.demo;
    const bookings = async (description: string) => {
      const { body } = await service.api('GET', `transactions?description=${description}`);
      return body['total'];
    };
    await go(`/${authId}/billing`);
    await page.getByRole('button', { name: 'Add credit' }).click();
    const form = page.getByRole('dialog');
    const submit = form.getByRole('button', { name: 'Add credit' });
    await form.getByLabel(/^Amount/).fill('3');
    await form.getByLabel('Description').fill('twice');
    await submit.dblclick();
    await page.getByText('The credit is added.').first().waitFor();
    await page.getByRole('cell', { name: 'twice' }).first().waitFor();
    expect(await bookings('twice')).toBe(1);
    await page.route('**/credit', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Add credit' }).click();
    await form.getByLabel(/^Amount/).fill('4');
    await form.getByLabel('Description').fill('lost');
    await submit.click();
    await form.getByText('The service does not answer.').waitFor();
    await page.unroute('**/credit');
    await submit.click();
    await page.getByRole('cell', { name: 'lost' }).first().waitFor();
    expect(await bookings('lost')).toBe(1);
  });

  it('refuse a number that cannot be read, instead of removing the limit', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId } = service.demo;
    await service.admin('PATCH', `/accounts/${authId}`, { daily_spend_limit: 100 });
    const limit = async () =>
      (await service.admin('GET', `/accounts/${authId}`)).body['daily_spend_limit'];
    await go('/accounts');
    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Edit account' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Daily spend limit').fill('1,000');
    await form.getByRole('button', { name: 'Save account' }).click();
    await form.getByText('Correct the marked fields.').waitFor();
    expect(await limit()).toBe(100);
    await form.getByLabel('Daily spend limit').fill('1000');
    await form.getByRole('button', { name: 'Save account' }).click();
    await page.getByText('Saved account.').waitFor();
    expect(await limit()).toBe(1000);
  });
});
