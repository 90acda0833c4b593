/**
 * Journeys of users through the console in Chromium. They write the screenshots of the documentation:
 * `PICTURES=docs/operate/console npm run interop -- console-journeys`.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, WITH_MICROPHONE } from '../e2e/chromium.ts';
import { Customer, echoBot } from '../e2e/customer.ts';
import { babble, callFor, makeUser } from '../e2e/phone.ts';
import { freePort, type Json } from '../e2e/service.ts';
import { eventually } from '../eventually.ts';
import { ConsoleStage, expectAccessible, picture } from './console-stage.ts';

const ROWS = 1000;
const INVALID = 20;

describe.skipIf(!hasChromium)('journeys through the console', () => {
  let stage: ConsoleStage;
  let customer: Customer;

  beforeAll(async () => {
    stage = await ConsoleStage.open({}, WITH_MICROPHONE);
    customer = await Customer.listen();
  });
  afterAll(async () => {
    await stage.close();
    await customer.close();
  });

  it('an operator finds in at most five clicks why a call ended', async () => {
    const { service } = stage;
    const document = [
      '<Response>',
      '  <Record recordSession="true" playBeep="false"/>',
      '  <Wait length="9"/>',
      '</Response>',
    ].join('\n');
    const recorded = await makeUser(service, 'recorded', {
      answer_url: customer.xml('/record', document),
    });
    await callFor(service, recorded, 4, babble(4));
    const staff = await stage.person('night@example.test', 'operator');
    const { page } = staff;
    await picture(staff, 'overview');
    // Click 1: the list. Click 2: the call. The page then has end reason, timeline, document, SIP and charges.
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    await page.getByRole('region', { name: 'Calls' }).getByText('Normal Hangup').waitFor();
    await picture(staff, 'calls');
    await page.getByRole('region', { name: 'Calls' }).getByRole('link').first().click();
    await page.getByText('The caller hung up.').waitFor();
    const timeline = page.getByRole('img', { name: /events within/ });
    await timeline.waitFor();
    const [, length = ''] =
      /within (\d+\.\d) seconds/.exec((await timeline.getAttribute('aria-label')) ?? '') ?? [];
    // The axis covers the whole call, not only its first events.
    expect(Number(length)).toBeGreaterThan(3.5);
    await page.getByRole('region', { name: 'Document with executed lines' }).waitFor();
    await page.getByRole('cell', { name: /Call inbound from/ }).waitFor();
    await picture(staff, 'call');
    await expectAccessible(staff);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download support bundle' }).click();
    const bundle = JSON.parse(readFileSync(await (await saved).path(), 'utf8')) as Json;
    expect(Object.keys(bundle)).toEqual(['call_uuid', 'cdr', 'log', 'quality', 'messages']);
    expect(JSON.stringify(bundle['messages'])).toContain('INVITE sip:');
    expect(JSON.stringify(bundle['messages'])).not.toContain(recorded.password);
    await staff.leave();
  });

  it('a campaign manager uploads 1,000 rows with 20 invalid ones, corrects them, runs, pauses and exports', async () => {
    const { service } = stage;
    const { authId } = service.demo;
    const answer = customer.xml('/agent', '<Response><Wait length="1"/></Response>');
    await service.api('POST', 'campaign/agents', { name: 'Survey bot', answer_url: answer });
    const manager = await stage.person('manager@example.test', 'developer', authId);
    const { page, go } = manager;
    await go('/campaigns');
    await page.getByRole('button', { name: 'Create campaign' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Autumn survey');
    await form.getByLabel('Agent').selectOption('Survey bot');
    await form.getByLabel('Concurrent calls').fill('1');
    await form.getByLabel('Caller ID', { exact: true }).selectOption('per_contact');
    await form.getByRole('button', { name: 'Create campaign' }).click();
    await page.getByRole('heading', { name: /Autumn survey/ }).waitFor();
    const rows = Array.from({ length: ROWS }, (_, at) => {
      const isBad = at % (ROWS / INVALID) === 0;
      return `${isBad ? 'no number' : `1415555${String(at).padStart(4, '0')}`},14155550100,Person ${at}`;
    });
    await page.getByRole('button', { name: 'Upload contacts' }).click();
    await page.getByLabel('CSV file').setInputFiles({
      name: 'contacts.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(['to,from,Name', ...rows].join('\n')),
    });
    await page.getByRole('heading', { name: 'Preview' }).waitFor();
    await page.getByText('Number to call').waitFor();
    await page.getByRole('button', { name: 'Upload list' }).click();
    await page.getByRole('heading', { name: 'Invalid rows' }).waitFor();
    const cells = page.getByLabel(/^to of row/);
    expect(await cells.count()).toBe(INVALID);
    await picture(manager, 'campaign-upload');
    for (let at = 0; at < INVALID; at += 1) {
      await cells.nth(at).fill(`1415556${String(at).padStart(4, '0')}`);
    }
    await page.getByRole('button', { name: 'Upload corrected list' }).click();
    await page.getByText('Uploaded 1,000 contacts.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Start campaign' }).click();
    await page.getByRole('button', { name: 'Pause campaign' }).click();
    await page.getByText('A user paused the campaign.').waitFor();
    await picture(manager, 'campaign');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export results' }).click();
    expect((await downloading).suggestedFilename()).toBe('results.csv');
    await expectAccessible(manager);
    await manager.leave();
  });

  it('a developer replays a failed webhook', async () => {
    const { service } = stage;
    // A port on which nothing listens yet: the customer's server is down.
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/missing`;
    const user = await makeUser(service, 'failing', { answer_url: url });
    await callFor(service, user, 1).catch(() => undefined);
    const developer = await stage.person('dev@example.test', 'developer', service.demo.authId);
    const { page, go } = developer;
    await go('/webhooks?outcome=failed');
    const row = page.getByRole('row', { name: /missing/ }).first();
    await row.waitFor();
    await picture(developer, 'webhooks');
    await row.getByRole('button').first().click();
    await page.getByRole('heading', { name: 'Request body' }).waitFor();
    await page.getByText('CallStatus').first().waitFor();
    const repaired = createServer((_request, response) => response.end('<Response/>'));
    await new Promise<void>((started) => repaired.listen(port, '127.0.0.1', started));
    await page.getByRole('button', { name: 'Replay callback' }).click();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('The replay was answered with 200.').waitFor();
    repaired.close();
    await developer.leave();
  });

  it('a new customer goes from the invitation to a bot that answers the browser phone', async () => {
    const { service } = stage;
    const { body } = await service.admin('POST', '/accounts', { name: 'New customer' });
    const authId = String((body as Json)['auth_id']);
    await service.admin('POST', `/accounts/${authId}/credit`, {
      amount: 20,
      currency: 'USD',
      description: 'First credit',
    });
    await service.admin('POST', '/numbers', {
      e164: '14155550142',
      country: 'US',
      currency: 'USD',
      monthly_fee: 1,
    });
    // The invitation and the choice of a password.
    const owner = await stage.person('new@example.test', 'owner', authId);
    const { page } = owner;
    const form = page.getByRole('dialog');
    const next = (name: string) => page.getByRole('link', { name, exact: true }).first().click();
    const done = (count: number) =>
      eventually(`${count} completed steps`, async () => {
        await page.getByRole('link', { name: 'Overview' }).click();
        return (await page.locator('.steps .done').count()) === count ? true : undefined;
      });
    await page.getByRole('heading', { name: /First steps/ }).waitFor();
    await picture(owner, 'first-steps');
    await next('Create endpoint');
    await page.getByRole('button', { name: 'Create endpoint' }).first().click();
    await form.getByLabel('Name').fill('desk');
    await form.getByLabel('Alias').fill('desk');
    await form.getByLabel('Password').fill('a-long-password');
    await form.getByRole('button', { name: 'Create endpoint' }).click();
    await page.getByRole('img', { name: /SIP address of desk/ }).waitFor();
    await page.keyboard.press('Escape');
    await done(1);
    await next('Open playground');
    await page.getByLabel('Template').selectOption('Voice bot (stream)');
    const editor = page.getByRole('textbox', { name: 'Document' });
    let isConnected = false;
    const bot = customer.bot('/bot', (socket, request) => {
      isConnected = true;
      echoBot(socket, request);
    });
    const template = await editor.inputValue();
    await editor.fill(template.replace('wss://bot.example.com/stream', bot));
    await page.getByText('The document is valid').waitFor();
    await page.getByRole('button', { name: 'Save as application' }).click();
    await form.getByLabel('Name').fill('Support bot');
    await form.getByRole('button', { name: 'Create application' }).click();
    await page.getByLabel('Application', { exact: true }).getByText('Support bot').waitFor({
      state: 'attached',
    });
    const playground = page.url();
    const callBot = async () => {
      isConnected = false;
      await page.getByRole('button', { name: 'Call document' }).click();
      await page.getByText('In a call.').waitFor();
      await eventually('the connection of the bot', () => isConnected || undefined);
      await page.getByRole('button', { name: 'Hang up' }).click();
      await page.getByRole('button', { name: 'Call document' }).waitFor();
    };
    await callBot();
    await done(4);
    await next('Buy number');
    await page.getByRole('button', { name: 'Buy number' }).first().click();
    const market = page.getByRole('region', { name: 'Numbers for sale' });
    await market.getByRole('button', { name: 'Buy number' }).first().click();
    const question = page.getByRole('alertdialog');
    await question.getByRole('button', { name: 'Buy number' }).click();
    await page.getByText('belongs to the account now').waitFor();
    await done(5);
    await page.getByText('5 of 5').waitFor();
    await picture(owner, 'first-steps-done');
    // The number answers with the stored document, also after a restart of the service.
    await page.getByRole('link', { name: 'Numbers', exact: true }).click();
    await page.getByRole('button', { name: /Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Assign number' }).click();
    await form.getByLabel('Calls go to').selectOption('Application Support bot');
    await form.getByRole('button', { name: 'Assign number' }).click();
    await page.getByRole('cell', { name: 'Support bot' }).waitFor();
    await stage.restart();
    await page.reload();
    await page.getByRole('cell', { name: 'Support bot' }).waitFor();
    await page.goto(playground);
    await page.getByText('The document is valid').waitFor();
    expect(await editor.inputValue()).toContain(bot);
    await callBot();
    const { body: kept } = await stage.service.admin('GET', '/numbers?search=14155550142');
    expect(JSON.stringify(kept)).toContain(authId);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('button', { name: 'Hide first steps' }).click();
    await page.getByRole('heading', { name: /First steps/ }).waitFor({ state: 'detached' });
    await owner.leave();
  });

  it('the operator adds a carrier, and a debit shows the resulting balance before it is posted', async () => {
    const staff = await stage.person('boss@example.test', 'owner');
    const { page, go } = staff;
    await go('/carriers');
    await page.getByText('No carriers yet.').waitFor();
    await page.getByRole('button', { name: 'Add carrier' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('main');
    await form.getByLabel('Host').fill('sip.example.test');
    await form.getByRole('button', { name: 'Create carrier' }).click();
    await page.getByRole('row', { name: /main sip\.example\.test/ }).waitFor();
    await go('/billing');
    await page.getByRole('button', { name: 'Add credit' }).click();
    await form.getByLabel(/^Amount/).fill('-2');
    await form.getByLabel('Description').fill('Correction');
    await form.getByText(/Balance afterwards/).waitFor();
    await form.getByRole('button', { name: 'Debit account' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText(/becomes/).waitFor();
    await question.getByRole('button', { name: 'Debit account' }).click();
    await page.getByRole('cell', { name: 'Correction' }).waitFor();
    await picture(staff, 'billing');
    await go('/playground');
    await page.getByText('The document is valid').waitFor();
    await picture(staff, 'playground');
    await go('/health');
    await page.getByRole('heading', { name: 'Parts' }).waitFor();
    await picture(staff, 'health');
    await staff.leave();
  });
});
