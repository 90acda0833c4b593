/** Pages of the console in Chromium show current data: with a slow service, after a lost stream, and under constant load. */
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { callFor } from '../e2e/phone.ts';
import type { Json } from '../e2e/service.ts';
import { wavFile } from '../protocol/audio-file/signals.ts';
import { ConsoleStage, type Person } from './console-stage.ts';

describe.skipIf(!hasChromium)('pages of the console', () => {
  let stage: ConsoleStage;
  let staff: Person;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    staff = await stage.person('updates@example.test', 'owner');
  });
  afterAll(() => stage.close());

  it('show data although each answer takes longer than the time between two requests', async () => {
    const { page, go } = staff;
    let release = (): void => undefined;
    const slow = async (route: Route): Promise<void> => {
      const next = new Promise<void>((resolve) => {
        release();
        release = resolve;
      });
      await next;
      // The test may have ended.
      await route.continue().catch(() => undefined);
    };
    await page.route('**/admin/v1/log?**', slow);
    await go('/log');
    await page.getByText(/lines of node/).waitFor();
    release();
    await page.unroute('**/admin/v1/log?**');
  });

  it('load the finished calls again when a call ends while another one begins', async () => {
    const { page, go } = staff;
    const { authId } = stage.service.demo;
    const running = (uuid: string) => {
      const one = { call_uuid: uuid, account_id: authId, from: '1', to: '2', bots: [] };
      return `event: calls\ndata: ${JSON.stringify({ total: 1, calls: [one] })}\n\n`;
    };
    let body = running('a');
    await page.route('**/console/api/events', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body }),
    );
    await go(`/${authId}/calls`);
    await page.reload();
    await page.getByText('No calls yet.').waitFor();
    await page.waitForResponse('**/console/api/events');
    const list = page.waitForRequest('**/cdr/page?**');
    body = running('b');
    await list;
    await page.unroute('**/console/api/events');
  });

  it('count and control running calls beyond those in the stream of a busy service', async () => {
    const { page, go } = staff;
    const { authId } = stage.service.demo;
    const uuid = '6f1e1c52-0d0f-4f39-9d3c-0a7d8c0f1a2b';
    const one = { call_uuid: uuid, account_id: authId, call_status: 'in-progress', bots: [] };
    await page.route('**/console/api/events', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `event: calls\ndata: ${JSON.stringify({ total: 5000, calls: [] })}\n\n`,
      }),
    );
    await page.route('**/console/api/live-calls?**', (route) => {
      const calls = /bot=true|search=/.test(route.request().url()) ? [one] : [];
      return route.fulfill({ json: { total: 42, running: 42, calls, requests: [] } });
    });
    await go(`/${authId}/overview`);
    await page.reload();
    await page.getByRole('link', { name: '42', exact: true }).waitFor();
    await go(`/${authId}/calls/${uuid}`);
    await page.getByRole('button', { name: 'Hang up' }).waitFor();
    const stream = { stream_id: 'a', service_url: 'wss://bot.example.test', status: 'connected' };
    await page.route(`**/Call/${uuid}/Stream/`, (route) =>
      route.fulfill({ json: { objects: [stream] } }),
    );
    await go(`/${authId}/streams`);
    await page.getByText('wss://bot.example.test').waitFor();
    await page.unroute(`**/Call/${uuid}/Stream/`);
    await page.unroute('**/console/api/live-calls?**');
    await page.unroute('**/console/api/events');
  });

  it('show a finished call of an account that is not in the list of accounts', async () => {
    const { service } = stage;
    const { page, go } = staff;
    await callFor(service, service.demo, 1);
    const { body } = await service.api('GET', 'cdr/recent');
    const [over] = body['data'] as Json[];
    const other = await service.admin('POST', '/accounts', { name: 'Other' });
    // The account of the call is beyond the accounts that the page lists.
    const accounts = [other.body];
    await page.route('**/admin/v1/accounts?**', (route) => route.fulfill({ json: { accounts } }));
    await go(`/${String(other.body['auth_id'])}/calls/${String(over?.['uuid'])}`);
    await page.getByText('Why the call ended').waitFor();
    await page.unrouteAll();
  });

  it('show the streams of all calls, page by page', async () => {
    const { page, go } = staff;
    const { authId } = stage.service.demo;
    await page.route('**/console/api/live-calls?**', (route) => {
      const asked = new URL(route.request().url()).searchParams;
      const [limit, offset] = [Number(asked.get('limit')), Number(asked.get('offset'))];
      const uuids = Array.from({ length: 101 }, (_, at) => `call-${at}`);
      const calls = uuids
        .slice(offset, offset + limit)
        .map((call_uuid) => ({ call_uuid, account_id: authId }));
      return route.fulfill({ json: { total: uuids.length, calls } });
    });
    await page.route('**/Stream/', (route) => {
      const [, uuid = ''] = /Call\/([^/]+)\//.exec(route.request().url()) ?? [];
      const stream = { stream_id: uuid, service_url: `wss://${uuid}.example.test` };
      return route.fulfill({ json: { objects: [stream] } });
    });
    await go(`/${authId}/streams`);
    await page.getByText('wss://call-0.example.test').waitFor();
    for (let turn = 0; turn < 4; turn += 1)
      await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('wss://call-100.example.test').waitFor();
    await page.unrouteAll();
  });

  it('show all recordings of a call, and an error instead of none', async () => {
    const { page, go } = staff;
    const recordings = Array.from({ length: 101 }, (_, at) => ({
      recording_id: `recording-${at}`,
      recording_format: 'wav',
      recording_duration_ms: 7_200_000,
    }));
    await page.route(/Call\/[-0-9a-f]+\/log$/, (route) => route.fulfill({ json: { log: [] } }));
    let isFailing = true;
    await page.route(/Recording\/\?call_uuid=/, (route) => {
      const asked = new URL(route.request().url()).searchParams;
      const [limit, offset] = [Number(asked.get('limit') ?? 20), Number(asked.get('offset') ?? 0)];
      return isFailing
        ? route.fulfill({ status: 500, json: { error: 'out of order' } })
        : route.fulfill({ json: { objects: recordings.slice(offset, offset + limit) } });
    });
    await go(`/${stage.service.demo.authId}/calls/6f1e1c52-0d0f-4f39-9d3c-0a7d8c0f1a2c`);
    await page.getByText('out of order').waitFor();
    isFailing = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Play', exact: true }).nth(100).waitFor();
    await page.unrouteAll();
  });

  it('offer all campaigns as a filter of calls, and keep one that is not in the list', async () => {
    const { page, go } = staff;
    const campaigns = Array.from({ length: 101 }, (_, at) => ({
      id: `c-${at}`,
      name: `Wave ${at}`,
    }));
    await page.route('**/campaigns?**', (route) => {
      const offset = Number(new URL(route.request().url()).searchParams.get('offset'));
      return route.fulfill({ json: { objects: campaigns.slice(offset, offset + 100) } });
    });
    await go(`/${stage.service.demo.authId}/calls?campaign=erased`);
    const filter = page.getByLabel('Campaign', { exact: true });
    await filter.waitFor();
    expect(await filter.inputValue()).toBe('erased');
    await filter.selectOption({ label: 'Wave 100' });
    await page.unrouteAll();
  });

  it('show the balance after each entry, without entries of other currencies', async () => {
    const { service } = stage;
    const { page, go } = staff;
    const { authId } = service.demo;
    const path = `/accounts/${authId}`;
    await service.admin('POST', `${path}/balances`, { currency: 'EUR' });
    const add = (currency: string) =>
      service.admin('POST', `${path}/credit`, { amount: 1, currency, description: currency });
    for (let count = 0; count < 30; count += 1) await add('USD');
    for (let count = 0; count < 5; count += 1) await add('EUR');
    await go(`/${authId}/billing?page=2`);
    const ledger = page.getByRole('region', { name: 'Ledger' });
    const first = ledger.getByRole('row').nth(1);
    // The first page has 5 entries in euros and 20 in dollars.
    const { body } = await service.admin('GET', path);
    const own = (body['balances'] as Json[]).find(({ currency }) => currency === 'USD');
    const after = Number(own?.['balance']) - 20;
    await first.getByText(`${after.toFixed(2)} USD`).waitFor();
  });

  it('load a recording of a call when it is played, not when the call is opened', async () => {
    const { page, go } = staff;
    const data = new Uint8Array(8000 * 2 * 10);
    const wav = wavFile({ format: 1, bits: 16, channels: 1, rate: 8000, data });
    const objects = ['first', 'second'].map((recording_id) => ({
      recording_id,
      recording_format: 'wav',
      // Too long for a waveform.
      recording_duration_ms: 7_200_000,
    }));
    const loaded: string[] = [];
    await page.route(/Recording\/\?call_uuid=/, (route) => route.fulfill({ json: { objects } }));
    await page.route(/Call\/[-0-9a-f]+\/log$/, (route) => route.fulfill({ json: { log: [] } }));
    await page.route('**/Recording/*.wav', (route) => {
      loaded.push(route.request().url().split('/').at(-1) ?? '');
      return route.fulfill({ contentType: 'audio/wav', body: Buffer.from(wav) });
    });
    await go(`/${stage.service.demo.authId}/calls/6f1e1c52-0d0f-4f39-9d3c-0a7d8c0f1a2b`);
    await page.getByRole('button', { name: 'Play', exact: true }).nth(1).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    expect(loaded).toEqual(['second.wav']);
    await page.unrouteAll();
  });

  it('show an error of a running conference or stream, not that there is none', async () => {
    const { page, go } = staff;
    const { authId } = stage.service.demo;
    let status = 500;
    const calls = [{ call_uuid: '6f1e1c52-0d0f-4f39-9d3c-0a7d8c0f1a2b', account_id: authId }];
    const failing = (route: Route) => route.fulfill({ status, json: { error: 'out of order' } });
    await page.route('**/Conference/', (route) => route.fulfill({ json: { conferences: ['a'] } }));
    await page.route('**/Conference/a/', failing);
    await page.route('**/console/api/live-calls?**', (route) => route.fulfill({ json: { calls } }));
    await page.route('**/Stream/', failing);
    for (const [name, none] of [
      ['conferences', 'No conference is running.'],
      ['streams', 'No bot is connected.'],
    ] as const) {
      status = 500;
      await go(`/${authId}/${name}`);
      await page.getByText('out of order').waitFor();
      expect(await page.getByText(none).count()).toBe(0);
      // It has ended between the two requests.
      status = 404;
      await page.getByText(none).waitFor();
    }
    await page.unrouteAll();
  });

  it('request the balance only in the currency of the account', async () => {
    const { page, go } = staff;
    const euros = { name: 'Euros', currency: 'EUR' };
    const { body } = await stage.service.admin('POST', '/accounts', euros);
    const asked: string[] = [];
    page.on('request', (request) => {
      const [, currency] = /\/balance\/(\w+)$/.exec(request.url()) ?? [];
      if (currency !== undefined) asked.push(currency);
    });
    await go(`/${String(body['auth_id'])}/billing`);
    await page.getByText('0.00 EUR').first().waitFor();
    await go(`/${String(body['auth_id'])}/overview`);
    await page.getByText('EUR, last 24 hours').waitFor();
    expect(new Set(asked)).toEqual(new Set(['EUR']));
  });

  it('name the days of charts by their date in every time zone', async () => {
    const { page, go } = staff;
    const { authId } = stage.service.demo;
    await page.evaluate("localStorage.setItem('console.zone', 'America/New_York')");
    await go(`/${authId}/billing`);
    await page.reload();
    const today = new Date().toLocaleDateString('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
    const table = page.locator('table', { hasText: 'Balance, USD' });
    await table.locator('th').last().getByText(today).waitFor({ state: 'attached' });
    await page.evaluate("localStorage.removeItem('console.zone')");
  });

  it('show the sign-in form soon after the session has ended, without an action of the user', async () => {
    const { service } = stage;
    const person = await stage.person('gone@example.test', 'viewer', service.demo.authId);
    await person.go('/applications');
    await person.page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor();
    const { body } = await service.admin('GET', '/users');
    const own = (body['users'] as Json[]).find(({ email }) => email === 'gone@example.test');
    await service.admin('DELETE', `/users/${String(own?.['user_id'])}`);
    await person.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await person.leave();
  });

  it('show that the running calls are not current when the stream has no data any more', async () => {
    const { page, go } = staff;
    const { authId } = stage.service.demo;
    await page.clock.install();
    await go(`/${authId}/calls`);
    await page.reload();
    await page.getByText('0 running').waitFor();
    const { child } = stage.service.program;
    child.kill('SIGSTOP');
    try {
      await page.clock.fastForward(60_000);
      await page.getByText('Connecting …').waitFor();
    } finally {
      child.kill('SIGCONT');
    }
    await page.getByText('0 running').waitFor();
    expect(staff.faults).toEqual([]);
  });
});
