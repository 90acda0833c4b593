/** The phone page with several calls: call waiting, hold, microphones, keypad digits, reasons, and a page that closes. */
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openChromium, WITH_MICROPHONE } from '../e2e/chromium.ts';
import { Customer } from '../e2e/customer.ts';
import { Handset } from '../e2e/handset.ts';
import { makeUser, type SipUser } from '../e2e/phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing } from './tools.ts';

/** A page that closes ends its calls within this time. */
const CLOSING_MS = 5000;
/** Counts the microphone tracks of the page that are live and not disabled. */
const WATCH_MICROPHONES = `
  window.tracks = [];
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wish) => {
    const stream = await open(wish);
    tracks.push(...stream.getAudioTracks());
    return stream;
  };
  window.openMicrophones = () =>
    tracks.filter(({ readyState, enabled }) => readyState === 'live' && enabled).length;
  window.liveMicrophones = () => tracks.filter(({ readyState }) => readyState === 'live').length;
`;

describe.skipIf(missing('chromium'))('several calls on the phone page', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let called: SipUser;
  let users = 0;

  beforeAll(async () => {
    place = await newPlace();
    service = await Service.start(place);
    customer = await Customer.listen();
    customer.xml('/end', '<Response/>');
    browser = await openChromium(WITH_MICROPHONE);
  });
  afterAll(async () => {
    await browser?.close();
    await customer?.close();
    await service?.kill();
    removePlace(place);
  });
  afterEach(async () => {
    await context.close();
    await eventually('the end of all calls', async () =>
      (await liveCalls()).length === 0 ? true : undefined,
    );
  });

  const liveCalls = async (): Promise<readonly Json[]> =>
    (await service.admin('GET', '/calls')).body['calls'] as Json[];

  const user = (document: string): Promise<SipUser> => {
    users += 1;
    const path = `/document-${users}`;
    return makeUser(service, `user${users}`, { answer_url: customer.xml(path, document) });
  };

  /** Opens the page as a user whose own calls run `document`. */
  async function openPage(document: string): Promise<void> {
    called = await user(document);
    context = await browser.newContext({ permissions: ['microphone'] });
    page = await context.newPage();
    await page.addInitScript(WATCH_MICROPHONES);
    const { username, password } = called;
    await page.goto(
      `${service.baseUrl}/phone#${new URLSearchParams({ user: username, password })}`,
    );
    await page.getByText('Ready for calls').waitFor();
  }

  /** Places a call to the page. */
  async function callPage(): Promise<{ handset: Handset; row: Locator }> {
    const known = await page.getByRole('listitem').count();
    const element = `<User>sip:${called.username}@127.0.0.1</User>`;
    const caller = await user(
      `<Response><Dial action="http://${customer.authority}/end">${element}</Dial></Response>`,
    );
    const handset = await Handset.call(service, caller);
    const row = page.getByRole('listitem').nth(known);
    await row.getByText('Incoming call.').waitFor();
    return { handset, row };
  }

  const button = (row: Locator, name: string): Locator =>
    row.getByRole('button', { name, exact: true });
  const microphones = (): Promise<number> => page.evaluate('openMicrophones()');

  it('keeps the first call while the second is declined, and holds it while the second is answered', async () => {
    await openPage('<Response/>');
    const first = await callPage();
    expect(await page.getByRole('group', { name: 'Keypad' }).isVisible()).toBe(false);
    await button(first.row, 'Answer').click();
    await first.row.getByText('In a call.').waitFor();
    expect(await page.getByRole('group', { name: 'Keypad' }).isVisible()).toBe(true);

    const declined = await callPage();
    await button(declined.row, 'Decline').click();
    expect((await declined.handset.ended).status).toBeGreaterThanOrEqual(400);
    await page.getByText('You declined the call.').waitFor();
    await first.row.getByText('In a call.').waitFor();
    expect(await microphones()).toBe(1);
    await declined.handset.close();

    const second = await callPage();
    await button(second.row, 'Answer').click();
    await second.row.getByText('In a call.').waitFor();
    await first.row.getByText('On hold.').waitFor();
    expect(await microphones()).toBe(1);
    await button(second.row, 'Mute').click();
    await button(second.row, 'Unmute').waitFor();
    expect(await microphones()).toBe(0);

    await button(first.row, 'Resume').click();
    await first.row.getByText('In a call.').waitFor();
    await second.row.getByText('On hold.').waitFor();
    expect(await microphones()).toBe(1);

    await second.handset.hangUp();
    await page.getByText('The other side hung up.').waitFor();
    await button(first.row, 'Hang up').click();
    await first.handset.ended;
    await page.getByText('You hung up.').waitFor();
    expect(await page.evaluate('liveMicrophones()')).toBe(0);
    await first.handset.close();
  });

  it('rejects a second call with 486 while call waiting is off', async () => {
    await openPage('<Response/>');
    await page.getByLabel('Call waiting').uncheck();
    const first = await callPage();
    await button(first.row, 'Answer').click();
    await first.row.getByText('In a call.').waitFor();
    const caller = await user(
      `<Response><Dial><User>sip:${called.username}@127.0.0.1</User></Dial></Response>`,
    );
    const second = await Handset.call(service, caller);
    expect((await second.ended).status).toBe(486);
    await second.close();
    expect(await page.getByRole('listitem').count()).toBe(1);
    await first.handset.hangUp();
  });

  it('sends every digit in order however fast they are pressed', async () => {
    const keys = customer.xml('/keys', '<Response/>');
    await openPage(
      `<Response><GetDigits action="${keys}" numDigits="8" timeout="30"><Wait length="30"/></GetDigits></Response>`,
    );
    await page.getByRole('button', { name: 'Call' }).click();
    const row = page.getByRole('listitem').first();
    await row.getByText('In a call.').waitFor();
    await page.evaluate(`(async () => {
      const of = (text) => [...document.querySelectorAll('[aria-label=Keypad] button')]
        .find(({ textContent }) => textContent === text);
      for (const digit of '12344321') {
        of(digit).click();
        await new Promise(requestAnimationFrame);
      }
    })()`);
    const posted = await eventually('the digits', () =>
      customer.posted.find(({ path }) => path === '/keys'),
    );
    expect(posted.form['Digits']).toBe('12344321');
  });

  it('shows why the service refused a call', async () => {
    await openPage('<Response><Hangup reason="busy"/></Response>');
    await page.getByLabel('Number or name').fill('1000');
    await page.getByRole('button', { name: 'Call' }).click();
    await page.getByText(/The other side is busy \(486/).waitFor();
    expect(await page.evaluate('liveMicrophones()')).toBe(0);
  });

  it.each(['reload', 'close', 'crash'])('ends its calls soon after a %s', async (way) => {
    await openPage('<Response><Wait length="60"/></Response>');
    const { handset, row } = await callPage();
    await button(row, 'Answer').click();
    await row.getByText('In a call.').waitFor();
    const startedMs = performance.now();
    if (way === 'reload') await page.reload();
    else if (way === 'close') await page.close();
    else {
      const session = await context.newCDPSession(page);
      void session.send('Page.crash').catch(() => undefined);
    }
    await handset.ended;
    expect(performance.now() - startedMs).toBeLessThan(CLOSING_MS);
    await handset.close();
  });
});
