/** `/phone.js` in a page of another origin: token login, calls, hold, DTMF, and both kinds of transfer. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import { Handset } from '../e2e/handset.ts';
import { makeUser, type SipUser } from '../e2e/phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  ROOT,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing } from './tools.ts';

const EXAMPLE = readFileSync(join(ROOT, 'examples/phone.html'), 'utf8');

describe.skipIf(missing('chromium'))('the phone SDK for web pages', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let server: Server;
  let browser: Browser;

  beforeAll(async () => {
    place = await newPlace();
    service = await Service.start(place);
    customer = await Customer.listen();
    server = createServer((request, response) => {
      const isExample = request.url?.startsWith('/phone.html');
      const page = isExample ? EXAMPLE : '<!doctype html><audio id="audio" autoplay></audio>';
      response.setHeader('content-type', 'text/html').end(page);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--use-fake-ui-for-media-stream',
        '--use-fake-device-for-media-stream',
        '--autoplay-policy=no-user-gesture-required',
        '--disable-features=WebRtcHideLocalIpsWithMdns',
        '--allow-loopback-in-peer-connection',
      ],
    });
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    await customer.close();
    await service.kill();
    removePlace(place);
  });

  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function tokenFor(sub: string): Promise<string> {
    const voice = { incoming_allow: true, outgoing_allow: true };
    const { body } = await service.api('POST', 'JWT/Token/', {
      iss: service.demo.authId,
      sub,
      per: { voice },
    });
    return String(body['token']);
  }

  async function open(path: string): Promise<Page> {
    const context = await browser.newContext({ permissions: ['microphone'] });
    const page = await context.newPage();
    await page.goto(`${origin()}${path}`);
    return page;
  }

  /** Opens a page with a phone in `window.phone` and its events in `window.told`. */
  async function phonePage(user: SipUser): Promise<Page> {
    const page = await open('/');
    const token = await tokenFor(user.username);
    await page.evaluate(
      `(async () => {
        const { Phone } = await import('${service.baseUrl}/phone.js');
        window.told = [];
        window.phone = new Phone({ audio: document.getElementById('audio') });
        const names = 'registered unregistered refused tokenExpiring incoming ringing answered held ended transfer quality levels connected disconnected';
        for (const name of names.split(' ')) phone.on(name, (detail) => told.push({ name, ...detail }));
        phone.on('incoming', () => phone.answer());
        await phone.login({ token: '${token}' });
      })()`,
    );
    return page;
  }

  const reported = (page: Page, what: string): Promise<unknown> =>
    page
      .waitForFunction(`told.find((one) => ${what})`, undefined, { timeout: 15_000 })
      .catch(async (error) => {
        const names = await page.evaluate(
          "told.filter(({ name }) => name !== 'levels' && name !== 'quality')",
        );
        throw new Error(`not told: ${what}; told: ${JSON.stringify(names)}`, { cause: error });
      });

  it('calls from the page in examples/', async () => {
    const token = await tokenFor(service.demo.username);
    const requested = new URLSearchParams({ service: service.baseUrl, token, call: '1000' });
    const page = await open(`/phone.html#${requested}`);
    await page.getByText('ready').waitFor();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByText(/opus, MOS [34]/).waitFor();
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('You hung up.').waitFor();
    await page.context().close();
  });

  it('registers with a new token during a call, holds, mutes, sends DTMF, and reports quality and levels', async () => {
    const keys = customer.xml('/keys', '<Response/>');
    const gather = `<Response><GetDigits action="${keys}" numDigits="3" timeout="30"><Wait length="30"/></GetDigits></Response>`;
    const anna = await makeUser(service, 'anna', { answer_url: customer.xml('/menu', gather) });
    const page = await phonePage(anna);
    await page.evaluate("phone.call('1000')");
    await reported(page, "one.name === 'answered'");
    await reported(page, "one.name === 'quality' && one.packets > 0 && one.mos > 3.5");
    await reported(page, "one.name === 'levels' && one.inputLevel > 0");
    await page.evaluate('phone.hold(true)');
    await reported(page, "one.name === 'held' && one.held");
    await page.evaluate('phone.hold(false)');
    await reported(page, "one.name === 'held' && !one.held");
    await page.evaluate(`phone.login({ token: '${await tokenFor(anna.username)}' })`);
    await page.evaluate('phone.mute(true); phone.mute(false)');
    await page.evaluate("phone.sendDtmf('147')");
    const posted = await eventually('the digits', () =>
      customer.posted.find(({ path }) => path === '/keys'),
    );
    expect(posted.form['Digits']).toBe('147');
    await reported(page, "one.name === 'ended'");
    const microphones = 'phone.devices().then(({ microphones }) => microphones.length)';
    expect(await page.evaluate(microphones)).toBeGreaterThan(0);
    await page.context().close();
  });

  it('reports the reason of a refusal', async () => {
    const page = await open('/');
    const refusal = await page.evaluate(
      `(async () => {
        const { Phone, PhoneError } = await import('${service.baseUrl}/phone.js');
        const phone = new Phone({ audio: document.getElementById('audio') });
        const error = await phone.login({ token: 'x.y.z' }).catch((refused) => refused);
        return { status: error.status, isOurs: error instanceof PhoneError };
      })()`,
    );
    expect(refusal).toEqual({ status: 401, isOurs: true });
    await page.context().close();
  });

  it('transfers blind and attended', async () => {
    customer.xml('/end', '<Response/>');
    const dial = (name: string): string =>
      `<Response><Dial action="http://${customer.authority}/end"><User>sip:${name}@127.0.0.1</User></Dial></Response>`;
    const carol = await makeUser(service, 'carol', {
      answer_url: customer.xml('/carol', '<Response/>'),
    });
    const bob = await makeUser(service, 'bob', {
      answer_url: customer.xml('/bob', dial(carol.username)),
    });
    const page = await phonePage(bob);
    const dave = await makeUser(service, 'dave', {
      answer_url: customer.xml('/dave', dial(bob.username)),
    });
    for (const way of ['blind', 'attended']) {
      await page.evaluate('told.length = 0');
      const waiting = await Handset.waiting(service, carol);
      const caller = await Handset.call(service, dave);
      await reported(page, "one.name === 'answered'");
      // The caller must be connected first: until then a REFER gets 403.
      await caller.answered;
      if (way === 'blind') await page.evaluate(`phone.transfer('${carol.username}')`);
      else {
        await page.evaluate('told.length = 0');
        await page.evaluate(`phone.consult('${carol.username}')`);
        await reported(page, "one.name === 'answered'");
        await page.evaluate('phone.completeTransfer()');
      }
      await reported(page, "one.name === 'transfer' && one.status === 200");
      await reported(page, "one.name === 'ended' && !one.consulted");
      expect((await liveCalls()).length).toBeGreaterThanOrEqual(2);
      await caller.hangUp();
      await eventually('the end of all calls', async () =>
        (await liveCalls()).length === 0 ? true : undefined,
      );
      await waiting.close();
    }
    await page.context().close();
  });

  const liveCalls = async (): Promise<readonly Json[]> =>
    (await service.admin('GET', '/calls')).body['calls'] as Json[];
});
