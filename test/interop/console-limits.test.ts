/** Pages of the console that show a part of their data, or whose data did not load: they say so. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { callFor } from '../e2e/phone.ts';
import type { Json } from '../e2e/service.ts';
import { ConsoleStage, type Person } from './console-stage.ts';

describe.skipIf(!hasChromium)('pages of the console without all their data', () => {
  let stage: ConsoleStage;
  let staff: Person;
  let account = '';

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    staff = await stage.person('limits@example.test', 'owner');
    account = stage.service.demo.authId;
  });
  afterEach(() => staff.page.unrouteAll({ behavior: 'ignoreErrors' }));
  afterAll(() => stage.close());

  /** Replaces the answers of the service to requests whose URL matches. */
  const answer = (url: RegExp, json: Json, status = 200) =>
    staff.page.route(url, (route) => route.fulfill({ status, json }));

  it('the health page says that it shows only some phones', async () => {
    const registrations = Array.from({ length: 201 }, (_, at) => ({
      username: `phone${at}`,
      contact_uri: `sip:phone${at}@192.0.2.1`,
    }));
    await answer(/\/admin\/v1\/registrations/, { registrations });
    await staff.go(`/${account}/health`);
    await staff.page
      .getByText('Registered phones: The first 200 of 201', { exact: true })
      .waitFor();
  });

  it('the page of conferences says that it shows only some', async () => {
    const conferences = Array.from({ length: 51 }, (_, at) => `room${at}`);
    await answer(/\/Conference\/$/, { conferences });
    await answer(/\/Conference\/room\d+\/$/, { conference_name: 'room', members: [] });
    const objects = Array.from({ length: 52 }, (_, at) => ({ mpc_uuid: `${at}`, status: 'Ended' }));
    await answer(/\/MultiPartyCall\/$/, { objects });
    await staff.go(`/${account}/conferences`);
    await staff.page.getByText('Conferences: The first 50 of 51', { exact: true }).waitFor();
    await staff.page.getByText('Multi-party calls: The first 50 of 52', { exact: true }).waitFor();
  });

  it('the page of accounts shows no sum of accounts that did not load', async () => {
    const { page, go } = staff;
    await answer(/\/admin\/v1\/accounts\?/, { error: { message: 'no list' } }, 500);
    await go(`/${account}/accounts`);
    await page.getByText('no list').first().waitFor();
    const tile = page.locator('.tile', { hasText: 'Assigned to active accounts' });
    expect(await tile.locator('dd').first().textContent()).toBe('—');
  });

  it('the page of a call says that its linked legs did not load', async () => {
    const { service } = stage;
    await callFor(service, service.demo, 1);
    const { body } = await service.api('GET', 'cdr');
    const [{ uuid }] = body['data'] as [Json];
    await answer(/\/cdr\?bridge_uuid=/, { error: { message: 'no legs' } }, 500);
    await staff.go(`/${account}/calls/${String(uuid)}`);
    await staff.page.getByText('no legs').waitFor();
  });

  it('the ledger adds the amounts of one currency only', async () => {
    const { page, go } = staff;
    const credit = (amount: number, currency: string) =>
      stage.service.admin('POST', `/accounts/${account}/credit`, {
        amount,
        currency,
        description: 'limits',
      });
    await stage.service.admin('POST', `/accounts/${account}/balances`, { currency: 'EUR' });
    await credit(3, 'USD');
    await credit(1000, 'EUR');
    await go(`/${account}/billing?description=limits`);
    await page
      .getByText('1 entries in USD · debit 0.00 USD · credit 3.00 USD · net 3.00 USD')
      .waitFor();
    await page.getByText('1,000.00 EUR').waitFor();
  });

  it('the account switcher and the command palette find accounts beyond the first thousand', async () => {
    const { page, go } = staff;
    let offset = 0;
    await page.route(/\/admin\/v1\/accounts\?/, (route) => {
      const isSearch = route.request().url().includes('search=zeb');
      const accounts = Array.from({ length: isSearch ? 1 : 100 }, () => {
        offset += 1;
        return { auth_id: `MA_${offset}`, name: isSearch ? 'Zebra' : `Account ${offset}` };
      });
      return route.fulfill({ json: { accounts } });
    });
    await page.reload();
    await go(`/${account}/numbers`);
    await page.getByRole('combobox', { name: /^Account: / }).click();
    await page.getByRole('combobox', { name: 'Search', exact: true }).fill('zeb');
    await page.getByRole('option', { name: /Zebra/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search pages, calls, numbers and accounts').fill('zebr');
    await page.getByRole('option', { name: /Zebra/ }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('a contact whose calls are among the older calls of a campaign is not called new', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const bot = { name: 'Survey', answer_url: 'https://example.test/answer' };
    const agent = await service.api('POST', 'campaign/agents', bot);
    const made = await service.api('POST', 'campaigns', {
      name: 'Spring',
      agent_id: agent.body['id'],
      timezone: 'UTC',
      max_concurrent: 1,
      caller_id_strategy: 'per_contact',
    });
    const contact = { id: 'c1', to_number: '+14155550100', status: 'answered', attempts: 1 };
    await answer(/\/contacts\?/, { objects: [contact], total: 1 });
    await answer(/\/calls\?per_page=200/, { objects: [], total: 20_000, total_pages: 100 });
    await go(`/${account}/campaigns/${String(made.body['id'])}`);
    await page.getByRole('button', { name: '+14155550100' }).click();
    await page
      .getByText('Some attempts are not among the latest 10,000 calls of the campaign.')
      .waitFor();
    expect(await page.getByText('The contact was not called yet.').count()).toBe(0);
  });

  it('an import saves the token of an account whose credit was not set, and does not offer its row again', async () => {
    const { page, go } = staff;
    const result = 'MA_9 was created; set its credit terms and opening credit';
    await page.route(/\/admin\/v1\/import\/accounts/, (route) => {
      const isDryRun = route.request().postData()?.includes('"dry_run":true') === true;
      const row = isDryRun ? { ok: true, result: 'new' } : { ok: false, result, auth_token: 's3' };
      return route.fulfill({ json: { rows: [{ line: 1, ...row }] } });
    });
    await go(`/${account}/import?kind=accounts`);
    const buffer = Buffer.from('name,opening_credit\nAda,1\n');
    const file = { name: 'accounts.csv', mimeType: 'text/csv', buffer };
    await page.locator('input[type=file]').setInputFiles(file);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Import 1 valid rows' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toBe(
      'auth_id,auth_token\r\nMA_9,s3\r\n',
    );
    await page.getByText(result).first().waitFor();
    expect(await page.getByRole('button', { name: 'Check again' }).count()).toBe(0);
  });
});
