/** The console for operators and customers, in Chromium. This test also produces the screenshots of README. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepAt, totpCode } from '../../src/domain/user/totp.ts';
import {
  axeViolations,
  faultsOf,
  hasChromium,
  openChromium,
  WITH_MICROPHONE,
} from '../e2e/chromium.ts';
import { Customer } from '../e2e/customer.ts';
import { Handset } from '../e2e/handset.ts';
import { babble, callFor, makeUser } from '../e2e/phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  ROOT,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { tone } from '../e2e/tones.ts';

// Updates README's screenshots only with `PICTURES=docs/console npm run interop -- console`.
const PICTURES = join(ROOT, process.env['PICTURES'] ?? 'build/pictures');
const PICTURE_MAX = 150 * 1024;
const HELD =
  '<Response><Record recordSession="true" playBeep="false"/><Wait length="60"/></Response>';
const PASSWORD = 'correct horse battery';

describe.skipIf(!hasChromium)('the console', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let browser: Browser;
  let context: BrowserContext;
  /** Confirmation messages that the console has shown. */
  const questions: string[] = [];
  let answersYes = true;
  let page: Page;
  let faults: readonly string[];

  beforeAll(async () => {
    mkdirSync(PICTURES, { recursive: true });
    place = await newPlace();
    service = await Service.start(place);
    customer = await Customer.listen();
    browser = await openChromium(WITH_MICROPHONE);
    context = await browser.newContext({
      viewport: { width: 1100, height: 760 },
      colorScheme: 'light',
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'UTC',
      permissions: ['microphone'],
    });
    page = await context.newPage();
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      void (answersYes ? dialog.accept() : dialog.dismiss());
    });
    faults = faultsOf(page);
    await page.goto(await invite('ada@example.test', 'owner'));
    await page.getByLabel('Choose a password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await customer.close();
    await service.kill();
    removePlace(place);
  });

  async function invite(email: string, role: string, account?: string): Promise<string> {
    const { body } = await service.admin('POST', '/users', {
      email,
      role,
      ...(account !== undefined && { account_id: account }),
    });
    return `${service.baseUrl}/console#${String(body['link']).split('#')[1]}`;
  }

  /** Takes a screenshot from the top of the page, or from one of its headings. */
  async function picture(name: string, heading?: string): Promise<void> {
    const path = join(PICTURES, `${name}.png`);
    await page.setViewportSize({ width: 1100, height: 760 });
    await page.evaluate('document.activeElement?.blur(); scrollTo(0, 0)');
    if (heading !== undefined) {
      await page.evaluate(
        `[...document.querySelectorAll('h2')].find(({ textContent }) => textContent === '${heading}').scrollIntoView()`,
      );
    }
    await page.screenshot({ path });
    expect(statSync(path).size, name).toBeLessThanOrEqual(PICTURE_MAX);
  }

  const go = (hash: string): Promise<unknown> => page.goto(`${service.baseUrl}/console#${hash}`);

  it('shows running calls and hangs up', async () => {
    const held = await makeUser(service, 'held', {
      answer_url: customer.xml('/held', HELD),
    });
    const phone = await Handset.call(service, held);
    await phone.answered;
    await go('/calls');
    await page.getByText('in-progress').waitFor();
    await page
      .getByRole('link', { name: `sip:${held.username}` })
      .first()
      .click();
    await page.getByText(/^MOS.*packets lost/).waitFor();
    await page.getByRole('img', { name: 'MOS and jitter of the active call' }).waitFor();
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('Why it ended.').waitFor();
    await page.getByText('An API request or a console user hung up.').waitFor();
    await phone.ended;
    await phone.close();
  });

  it('listens to a call and shows the messages of its bot', async () => {
    const phone = await Handset.call(service, service.demo, { voice: tone([700], 60_000) });
    await phone.answered;
    await go('/calls');
    await page.getByLabel('Stream').selectOption('no');
    await page.getByText('No active call matches.').waitFor();
    await page.getByLabel('Stream').selectOption('yes');
    await page.getByLabel('Search number').fill(service.demo.username.toUpperCase());
    const running = page.getByRole('region', { name: 'Active calls' });
    await running.getByText(/^127\.0\.0\.1:\d+$/).waitFor();
    await running.getByRole('link').click();
    const loud = (name: string): Promise<true> =>
      eventually(`sound ${name}`, async () =>
        (await page.evaluate<boolean>(
          `[...document.querySelectorAll('.meters label')].some((one) => one.textContent.startsWith('${name}') && one.querySelector('meter').value > -30)`,
        ))
          ? true
          : undefined,
      );
    await page.getByRole('button', { name: 'Listen in' }).click();
    await loud('From the remote party');
    await loud('To the remote party');
    await page.getByRole('button', { name: 'Stop listening' }).click();
    await page.getByText('a console user started to listen in').last().waitFor();
    await page.getByRole('button', { name: 'Open stream inspector' }).click();
    await loud('From the remote party');
    phone.press('#');
    const messages = page.getByRole('region', { name: 'Messages of the stream' });
    await messages.getByText('clearAudio').waitFor();
    await messages.getByText('clearedAudio').waitFor();
    await picture('stream');
    expect(await axeViolations(page)).toEqual([]);
    await go('/people');
    await page.getByText('Listen to an answered call').waitFor();
    await phone.hangUp();
  });

  it('shows one call on one page: end reason, timeline, SIP, recording, cost', async () => {
    const document = [
      '<Response>',
      '  <Record recordSession="true" playBeep="false"/>',
      `  <GetDigits action="http://${customer.authority}/keys" numDigits="1" timeout="2">`,
      '    <Wait length="1"/>',
      '  </GetDigits>',
      '  <Wait length="9"/>',
      '</Response>',
    ].join('\n');
    customer.xml('/keys', '<Response/>');
    const recorded = await makeUser(service, 'recorded', {
      answer_url: customer.xml('/record', document),
    });
    await callFor(service, recorded, 7, babble(7));
    // The recording file becomes available shortly after the call.
    await eventually('the recording', async () => {
      const { body } = await service.api(
        'GET',
        `Recording/?from_number=sip:${recorded.username}@127.0.0.1`,
      );
      return (body['objects'] as Json[]).length > 0 || undefined;
    });
    await go('/calls');
    await page.getByRole('region', { name: 'Finished calls' }).getByRole('link').first().click();
    await page.getByText('The caller hung up.').waitFor();
    await page.getByRole('img', { name: /events within/ }).waitFor();
    await page.getByRole('img', { name: /Quality of the call/ }).waitFor();
    await page.getByRole('img', { name: /SIP messages between/ }).waitFor();
    await page.getByText('callback', { exact: true }).first().waitFor();
    await page.getByText('▶ ').waitFor();
    await page.getByText('Call inbound from').waitFor();
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.waitForFunction(
      "document.querySelector('.wave div')?.shadowRoot?.querySelectorAll('canvas').length > 0",
    );
    await picture('call');
    await picture('timeline', 'Timeline');
    expect(await axeViolations(page)).toEqual([]);
  });

  it('has accessible pages in light and dark mode, wide and narrow', async () => {
    for (const hash of [
      '/calls',
      '/build/applications',
      '/build/xml',
      '/build/endpoints',
      '/build/numbers',
      '/build/trunks',
      '/build/caller-ids',
      '/build/carriers',
      '/money',
      '/health',
      '/accounts',
      '/people',
    ]) {
      await go(hash);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle', { timeout: 1500 }).catch(() => undefined);
      expect(await axeViolations(page), hash).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await axeViolations(page), `${hash} dark`).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 360, height: 640 });
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      expect(wide, hash).toBeLessThanOrEqual(360);
      await page.setViewportSize({ width: 1100, height: 760 });
    }
    expect(faults).toEqual([]);
  });

  it('manages the verified caller numbers of an account', async () => {
    await go('/build/caller-ids');
    await page.getByLabel('Verified number').fill('+14155550177');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Forget 14155550177' }).click();
    await page.getByText('The account presents only its own numbers.').waitFor();
    expect(faults).toEqual([]);
  });

  it('lets a customer select only verified numbers, and logs the user who did it', async () => {
    const { authId } = service.demo;
    const verified = '14155550166';
    await service.admin('POST', `/accounts/${authId}/caller-ids`, { number: `+${verified}` });
    const user = await makeUser(service, 'shows', { answer_url: 'https://example.com/' });
    const other = await browser.newContext({ viewport: { width: 360, height: 640 } });
    const his = await other.newPage();
    const hisFaults = faultsOf(his);
    await his.goto(await invite('shows@example.test', 'developer', authId));
    await his.getByLabel('Choose a password').fill(PASSWORD);
    await his.getByRole('button', { name: 'Begin' }).click();
    await his.getByRole('heading', { name: 'Calls' }).waitFor();
    await his.goto(`${service.baseUrl}/console#/build/caller-ids`);
    await his.getByRole('cell', { name: verified }).waitFor();
    expect(await his.getByRole('button', { name: /Forget|Add/ }).count()).toBe(0);
    const shown = async (): Promise<unknown> => {
      const { body } = await service.api('GET', `Endpoint/?username__exact=${user.username}`);
      return (body['objects'] as Json[])[0]?.['caller_id'];
    };
    await his.getByLabel(`What endpoint ${user.username} shows`).selectOption(verified);
    await eventually('it', async () => ((await shown()) === verified ? true : undefined));
    await his.getByLabel('Default caller ID').selectOption(verified);
    await eventually('the default', async () => {
      const { body } = await service.api('GET', 'caller-ids');
      return body['default_caller_id'] === verified ? true : undefined;
    });
    expect(await axeViolations(his)).toEqual([]);
    // The page offers no other number, and the service refuses other numbers from any client.
    const foreign = await his.evaluate<number>(
      `fetch('/api/v1/Account/${authId}/caller-ids/default', { method: 'PUT', headers: { 'x-console': '1', 'content-type': 'application/json' }, body: '{"number":"14155550111"}' }).then(({ status }) => status)`,
    );
    expect(foreign).toBe(400);
    expect(hisFaults).toEqual([]);
    await other.close();
    await go('/people');
    const noted = page.getByRole('row', { name: /shows@example\.test/ });
    await noted.filter({ hasText: 'Set the default caller ID' }).first().waitFor();
    await noted.filter({ hasText: 'Update a SIP endpoint' }).first().waitFor();
  });

  it('validates a document while it is edited', async () => {
    await go('/build/xml');
    await page.getByText('The document is valid').waitFor();
    await page.getByLabel('Document').fill('<Response>\n  <Dial timeout="soon"/>\n</Response>');
    await page.getByText(/Line 2, column \d+/).waitFor();
    await picture('xml');
  });

  it('calls the edited document and sends keys', async () => {
    const keys = customer.xml('/trial', '<Response/>');
    await go('/build/xml');
    await page
      .getByLabel('Document')
      .fill(
        `<Response><GetDigits action="${keys}" numDigits="1" timeout="30"><Wait length="30"/></GetDigits></Response>`,
      );
    await page.getByText('The document is valid').waitFor();
    for (const digit of ['7', '3']) {
      await page.getByRole('button', { name: 'Call it' }).click();
      await page.getByText('In a call.').waitFor();
      await page.getByRole('button', { name: digit, exact: true }).click();
      await eventually('the digit', () =>
        customer.posted.find(({ path, form }) => path === '/trial' && form['Digits'] === digit),
      );
      await page.getByRole('button', { name: 'Call it' }).waitFor();
    }
    const { body } = await service.api('GET', 'Application/?limit=100');
    const own = (body['objects'] as Json[]).filter((one) => one['app_name'] === 'playground');
    expect(own).toHaveLength(1);
  });

  it('creates an application and an endpoint, and shows the softphone settings', async () => {
    await go('/build/applications');
    await page.getByLabel('Name').fill('menu');
    await page.getByLabel('Answer URL').fill('https://example.com/answer');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('cell', { name: 'menu' }).waitFor();
    await go('/build/endpoints');
    await page.getByLabel('Name').fill('desk');
    await page.getByLabel('Password').fill('a-long-password');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('img', { name: /SIP address of desk/ }).waitFor();
    await go('/people');
    await page.getByText('Create a SIP endpoint').waitFor();
    await picture('people');
  });

  it('adds credit, and shows spending and the ledger', async () => {
    await go('/money');
    await page.getByLabel(/^Amount/).fill('5');
    await page.getByLabel('Description', { exact: true }).fill('Thank you');
    await page.getByRole('button', { name: 'Add credit' }).click();
    await page
      .getByLabel(/^Amount/)
      .and(page.locator(':invalid'))
      .waitFor();
    expect(questions.at(-1)).toMatch(/^Credit 5\.00 USD/);
    // An unconfirmed debit is not posted.
    answersYes = false;
    await page.getByLabel(/^Amount/).fill('-2');
    await page.getByLabel('Description', { exact: true }).fill('Unwanted');
    await page.getByRole('button', { name: 'Add credit' }).click();
    answersYes = true;
    expect(questions.at(-1)).toMatch(/^Debit 2\.00 USD/);
    await page.reload();
    await page.getByRole('cell', { name: 'Thank you' }).waitFor();
    expect(await page.getByRole('cell', { name: 'Unwanted' }).count()).toBe(0);
    await page.getByLabel(/^Alert below/).fill('3');
    await page.getByLabel('Email addresses').fill('ada@example.test');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page
      .getByText('Alert below', { exact: true })
      .locator('..')
      .getByText('3.00 USD')
      .waitFor();
    await picture('money');
    await page.getByLabel('Country (two letters)').fill('US');
    await page.getByRole('button', { name: 'Show rates' }).click();
    await page
      .getByRole('region', { name: 'Rates of United States' })
      .getByText('Calls to its numbers')
      .waitFor();
    await go('/health');
    await page.getByText('No alarms.').waitFor();
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('cell', { name: '401' }).first().waitFor();
    await page
      .getByRole('region', { name: 'Threads' })
      .getByText(/^\d+ %$/)
      .first()
      .waitFor();
    await picture('health');
  });

  it('shows the secret of a second factor as a QR code', async () => {
    await go('/people');
    await page.getByRole('button', { name: 'Set up authenticator app' }).click();
    await page.getByRole('img', { name: /Secret for the app: [A-Z2-7]{32}/ }).waitFor();
    await page.getByLabel('Code from the app').fill('000000');
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('code needed').waitFor();
  });

  it('accepts an invitation and then requires a second factor', async () => {
    const other = await browser.newContext();
    const his = await other.newPage();
    await go('/people');
    await page.getByLabel('E-mail').fill('second@example.test');
    await page.getByLabel('Role').selectOption('operator');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = (await page.locator('p[role=status] code').textContent()) ?? '';
    await his.goto(`${service.baseUrl}/console#${link.split('#')[1]}`);
    await his.getByText('second@example.test, operator').waitFor();
    await his.getByLabel('Choose a password').fill(PASSWORD);
    await his.getByRole('button', { name: 'Begin' }).click();
    await his.getByRole('heading', { name: 'Calls' }).waitFor();
    await his.getByRole('link', { name: 'People' }).click();
    await his.getByRole('button', { name: 'Set up authenticator app' }).click();
    const picture = his.getByRole('img', { name: /Secret for the app/ });
    const secret = /[A-Z2-7]{32}/.exec((await picture.getAttribute('alt')) ?? '')?.[0] ?? '';
    // A used TOTP step is rejected; the next one is accepted.
    const step = stepAt(Date.now());
    await his.getByLabel('Code from the app').fill(totpCode(secret, step));
    await his.getByLabel('Your password').fill(PASSWORD);
    await his.getByRole('button', { name: 'Confirm' }).click();
    await his.getByRole('button', { name: 'Disable second factor' }).waitFor();
    await his.getByRole('button', { name: 'Sign out', exact: true }).click();
    await his.getByLabel('E-mail').fill('second@example.test');
    await his.getByLabel('Password').fill(PASSWORD);
    await his.getByRole('button', { name: 'Sign in' }).click();
    const code = his.getByLabel('Code from your authenticator app');
    await code.fill(totpCode(secret, step));
    await his.getByRole('button', { name: 'Sign in' }).click();
    await his.getByText('The code is wrong.').waitFor();
    await code.fill(totpCode(secret, step + 1));
    await his.getByRole('button', { name: 'Sign in' }).click();
    await his.getByRole('heading', { name: 'People' }).waitFor();
    await other.close();
  });

  it('creates an account and suspends it', async () => {
    await go('/accounts');
    await page.getByLabel('Name').fill('Shop');
    await page.getByLabel('Concurrent calls').fill('7');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText(/Created MA_\w+/).waitFor();
    const row = page.getByRole('row', { name: /Shop/ });
    await row.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('State').selectOption('suspended');
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('suspended').waitFor();
    await row.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Verified number').fill('14155550100');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('cell', { name: '14155550100', exact: true }).waitFor();
  });

  it('opens a phone for an endpoint without its password, and exports recordings', async () => {
    await go('/build/endpoints');
    const opened = context.waitForEvent('page');
    const row = page.getByRole('row', { name: new RegExp(service.demo.username) });
    await row.getByRole('button', { name: 'Open browser phone' }).click();
    const phone = await opened;
    await phone.getByText('Ready for calls').waitFor();
    expect(phone.url()).not.toContain('token');
    await phone.close();
    await go('/calls');
    await page.getByLabel('Email the download link to').fill('ada@example.test');
    await page.getByRole('button', { name: 'Export' }).click();
    await page
      .getByRole('region', { name: 'Exports' })
      .getByText(/queued|running|done/)
      .waitFor();
  });

  it('shows a customer only their own account, and no operator pages', async () => {
    const other = await browser.newContext();
    const his = await other.newPage();
    await his.goto(await invite('dev@example.test', 'viewer', service.demo.authId));
    await his.getByLabel('Choose a password').fill(PASSWORD);
    await his.getByRole('button', { name: 'Begin' }).click();
    await his.getByRole('heading', { name: 'Calls' }).waitFor();
    expect(await his.getByRole('link', { name: 'Health' }).count()).toBe(0);
    expect(await his.getByLabel('Account').count()).toBe(0);
    await his.goto(`${service.baseUrl}/console#/build/applications`);
    await his
      .getByRole('table')
      .or(his.getByText('No applications yet. Create one below.'))
      .waitFor();
    expect(await his.getByRole('button', { name: /Create|Change/ }).count()).toBe(0);
    for (const hash of ['/nowhere', '/build/nowhere', '/calls/unknown', '/health']) {
      await his.goto(`${service.baseUrl}/console#${hash}`);
      await his.getByRole('heading', { name: '404: Page not found' }).waitFor();
      await his.goto(`${service.baseUrl}/console#/calls`);
      await his.getByRole('heading', { name: 'Calls' }).waitFor();
    }
    await his.getByRole('button', { name: 'Sign out' }).click();
    await his.getByLabel('E-mail').fill('dev@example.test');
    await his.getByLabel('Password').fill('wrong password');
    await his.getByRole('button', { name: 'Sign in' }).click();
    await his.getByText('wrong e-mail or password').waitFor();
    await other.close();
  });

  it('requires a new sign-in after the session was ended elsewhere', async () => {
    const other = await browser.newContext();
    const his = await other.newPage();
    await his.goto(await invite('gone@example.test', 'viewer'));
    await his.getByLabel('Choose a password').fill(PASSWORD);
    await his.getByRole('button', { name: 'Begin' }).click();
    await his.getByRole('heading', { name: 'Calls' }).waitFor();
    const { body } = await service.admin('GET', '/users');
    const gone = (body['users'] as Json[]).find(({ email }) => email === 'gone@example.test');
    await service.admin('DELETE', `/users/${String(gone?.['user_id'])}`);
    // Navigates by URL, because the menu disappears with the first rejected request.
    await his.evaluate("location.hash = '#/money'");
    await his.getByRole('heading', { name: 'Sign in' }).waitFor();
    await other.close();
  });

  it('is fully operable by keyboard', async () => {
    await go('/calls');
    await page.reload();
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    const reached: string[] = [];
    for (let i = 0; i < 9; i += 1) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate("document.activeElement?.textContent?.trim() ?? ''"));
    }
    expect(reached.join(' ')).toContain('Calls Build Money Health Accounts People');
    await page.keyboard.press('Shift+Tab');
    expect(faults).toEqual([]);
  });
});
