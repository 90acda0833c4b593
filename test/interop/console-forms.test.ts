/** Forms of the console in Chromium: they keep what the user typed, and send it once and unchanged. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepAt, totpCode } from '../../src/domain/user/totp.ts';
import { hasChromium } from '../e2e/chromium.ts';
import type { Json } from '../e2e/service.ts';
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

  it('keep the document that is typed while the previous one is saved', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId } = service.demo;
    const xml = (seconds: number) => `<Response><Wait length="${seconds}"/></Response>`;
    const app = { app_name: 'Stored', answer_xml: xml(1) };
    const made = await service.api('POST', 'Application/', app);
    const id = String(made.body['app_id']);
    await go(`/${authId}/playground?app=${id}`);
    const editor = page.getByRole('textbox', { name: 'Document' });
    const save = page.getByRole('button', { name: 'Save document' });
    await page.locator('.editor', { hasText: xml(1) }).waitFor();
    await page.getByText('The document is valid').waitFor();
    await editor.fill(xml(2));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(`**/Application/${id}/`, async (route) => {
      await held;
      await route.continue();
    });
    await save.click();
    await editor.fill(xml(3));
    const reloaded = page.waitForResponse(/Application\/\?limit=100/);
    release();
    await page.getByText('Saved document.').waitFor();
    await reloaded;
    await save.and(page.locator(':enabled')).waitFor();
    expect(await editor.inputValue()).toBe(xml(3));
    await page.unroute(`**/Application/${id}/`);
  });

  it('keep what is typed when the session ends, until the same user has signed in again', async () => {
    const { authId } = stage.service.demo;
    const person = await stage.person('typing@example.test', 'owner');
    const { page, go } = person;
    await go(`/${authId}/billing`);
    await page.getByRole('button', { name: 'Add credit' }).click();
    const form = page.getByRole('dialog', { name: 'Add credit' });
    await form.getByLabel(/^Amount/).fill('6');
    await form.getByLabel('Description').fill('kept');
    await page.context().clearCookies();
    await form.getByRole('button', { name: 'Add credit' }).click();
    const title = page.getByRole('heading', { name: 'Sign in' });
    await title.waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('E-mail').fill('typing@example.test');
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await title.waitFor({ state: 'detached' });
    expect(await form.getByLabel('Description').inputValue()).toBe('kept');
    await form.getByRole('button', { name: 'Add credit' }).click();
    await page.getByText('The credit is added.').waitFor();
    await person.leave();
  });

  it('show no earlier result for a document that could not be checked', async () => {
    const { page, go } = staff;
    await go(`/${stage.service.demo.authId}/playground`);
    const valid = page.getByText('The document is valid');
    await valid.waitFor();
    await page.route('**/console/api/xml/check', (route) => route.fulfill({ status: 429 }));
    await page.getByRole('textbox', { name: 'Document' }).fill('<Response><Wai');
    await page.getByText('Too many requests.').waitFor();
    expect(await valid.count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Save as application' }).isEnabled()).toBe(false);
    await page.unroute('**/console/api/xml/check');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(/^Line 1/).waitFor();
  });

  it('offer more than 100 applications', async () => {
    const { service } = stage;
    const { page, go } = staff;
    for (let at = 0; at < 101; at += 1) {
      const app = { app_name: `app-${at}`, answer_url: 'https://example.test/' };
      await service.api('POST', 'Application/', app);
    }
    await go(`/${service.demo.authId}/endpoints`);
    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Edit endpoint' }).click();
    const options = page.getByRole('dialog').getByLabel('Application').locator('option');
    await options.filter({ hasText: /^app-0$/ }).waitFor({ state: 'attached' });
    await options.filter({ hasText: /^app-100$/ }).waitFor({ state: 'attached' });
  });

  it('show the second factor as it is now, not as it was at the sign-in', async () => {
    const { page, go } = staff;
    await go('/profile');
    await page.getByRole('button', { name: 'Set up authenticator app' }).click();
    const secret = await page.locator('.copy code').first().textContent();
    await page.getByLabel('Code from the app').fill(totpCode(secret ?? '', stepAt(Date.now())));
    await page.getByLabel('Your password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('button', { name: 'Disable second factor' }).waitFor();
    await go('/people');
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    await go('/profile');
    await page.getByRole('button', { name: 'Disable second factor' }).waitFor();
    expect(await page.getByRole('button', { name: 'Set up authenticator app' }).count()).toBe(0);
  });

  it('give an endpoint the default application of the account again', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId, appId } = service.demo;
    const given = {
      username: 'desk',
      password: 'aVery-long-secret1',
      alias: 'Desk',
      app_id: appId,
    };
    const made = await service.api('POST', 'Endpoint/', given);
    const name = String(made.body['username']);
    await go(`/${authId}/endpoints`);
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Edit endpoint' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Application').selectOption('Default of the account');
    await form.getByRole('button', { name: 'Save endpoint' }).click();
    await page.getByText('Saved endpoint.').waitFor();
    const { body } = await service.api('GET', `Endpoint/${String(made.body['endpoint_id'])}/`);
    expect(body['app_id']).toBeNull();
  });

  it('move a number to another application without a moment in which its calls are refused', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId } = service.demo;
    const number = { e164: '+14155550177', country: 'US', currency: 'USD', account_id: authId };
    await service.admin('POST', '/numbers', { ...number, setup_fee: 0, monthly_fee: 0 });
    const [first, second] = await Promise.all(
      ['First', 'Second'].map((app_name) =>
        service.api('POST', 'Application/', { app_name, answer_url: 'https://example.test/' }),
      ),
    );
    await service.api('POST', 'numbers/+14155550177/application', {
      application_id: first?.body['app_id'],
    });
    const changes: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('14155550177')) changes.push(request.method());
    });
    await go(`/${authId}/numbers`);
    await page.getByRole('button', { name: 'Actions for +14155550177' }).click();
    await page.getByRole('menuitem', { name: 'Assign number' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Calls go to').selectOption('Application Second');
    await form.getByRole('button', { name: 'Assign number' }).click();
    await page.getByText('The number is assigned.').waitFor();
    expect(changes).toEqual(['POST']);
    const { body } = await service.api('GET', 'numbers/+14155550177');
    expect(String(body['application_id'])).toBe(String(second?.body['app_id']));
  });

  it('change only the edited settings of the low-balance alert, also before the others are loaded', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId } = service.demo;
    const path = 'low-balance-alert';
    await service.api('POST', path, { emails: ['a@example.test'], thresholds: { USD: 5 } });
    await page.route(`**/${path}`, (route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 503 }) : route.continue(),
    );
    await go(`/${authId}/billing`);
    await page.getByRole('button', { name: 'Edit low-balance alert' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Webhook URL').fill('https://example.test/alert');
    await form.getByRole('button', { name: 'Save alert' }).click();
    await page.getByText('The alert is saved.').waitFor();
    await page.unroute(`**/${path}`);
    expect((await service.api('GET', path)).body).toMatchObject({
      emails: ['a@example.test'],
      thresholds: { USD: 5 },
      url: 'https://example.test/alert',
    });
  });

  it('refuse a time that cannot be read, instead of ending the previous token immediately', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId } = service.demo;
    await go(`/${authId}/credentials`);
    await page.getByRole('button', { name: 'Rotate token' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel(/^Seconds/).fill('86,400');
    await form.getByRole('button', { name: 'Rotate token' }).click();
    await form
      .getByText(/must be/)
      .first()
      .waitFor();
    expect((await service.api('GET', '')).status).toBe(200);
    await form.getByRole('button', { name: 'Cancel' }).click();
  });

  it('copy a text on a page without TLS, where browsers have no clipboard', async () => {
    const { page, go } = staff;
    const { authId } = stage.service.demo;
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await go(`/${authId}/credentials`);
    await page.reload();
    await page.getByRole('button', { name: `Copy ${authId}` }).click();
    const input = page.getByLabel('Token or its ID (jti)');
    await input.focus();
    await page.keyboard.press('Control+V');
    expect(await input.inputValue()).toBe(authId);
  });

  it('show the previous page after the deletion of the only row of the last page', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const numbers = Array.from(
      { length: 26 },
      (_, at) => `+141555502${String(at).padStart(2, '0')}`,
    );
    await service.api('POST', 'do-not-call', { numbers });
    await go(`/${service.demo.authId}/do-not-call?page=2`);
    await page.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Delete number' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete number' }).click();
    await page.getByText('1–25 of 25').waitFor();
  });

  it('keep the tokens of imported accounts when a later part of the import fails', async () => {
    const { page, go } = staff;
    await go('/import?kind=accounts');
    const names = Array.from({ length: 1001 }, (_, at) => `Customer ${at}`);
    await page.getByLabel('CSV file').setInputFiles({
      name: 'accounts.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(['name', ...names].join('\n')),
    });
    const begin = page.getByRole('button', { name: 'Import 1,001 valid rows' });
    await begin.waitFor();
    await page.route('**/import/accounts', async (route) =>
      route.request().postData()?.includes('Customer 1000') ? route.abort() : route.continue(),
    );
    const saved = page.waitForEvent('download');
    await begin.click();
    const tokens = readFileSync(await (await saved).path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(tokens.length).toBe(1001);
    await page.getByText('The service does not answer.').waitFor();
    await page.getByText('No answer: check whether this row is imported.').waitFor();
    expect(await page.getByLabel('name of row 1').inputValue()).toBe('Customer 1000');
    await page.unroute('**/import/accounts');
  });

  it('count the capacity of all accounts, not only of the first page', async () => {
    const { service } = stage;
    const { page, go } = staff;
    let sum = 0;
    for (let offset = 0; ; offset += 100) {
      const { body } = await service.admin('GET', `/accounts?limit=100&offset=${offset}`);
      const accounts = body['accounts'] as Json[];
      for (const one of accounts) sum += Number(one['concurrent_calls_limit']);
      if (accounts.length < 100) break;
    }
    await go('/accounts');
    const tile = page.getByText('Assigned to active accounts').locator('..');
    await tile.getByText(sum.toLocaleString('en-GB'), { exact: true }).waitFor();
  });
});
