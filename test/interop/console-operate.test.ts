/** Pages of the operator in Chromium: settings, doctor, log, nodes, and alarms over a restart. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import { callFor } from '../e2e/phone.ts';
import { freePort } from '../e2e/service.ts';
import { ConsoleStage, expectAccessible, type Person, picture } from './console-stage.ts';

const FILE = `
platformName: Bell # a comment
mail:
  smtpUrl: smtp://mailer:s3cret@127.0.0.1:1
`;

describe.skipIf(!hasChromium)('the pages of the operator', () => {
  let stage: ConsoleStage;
  let staff: Person;
  let prometheus: Server;
  /** Password of the requests to the Prometheus server. */
  let authorization: string | undefined;

  beforeAll(async () => {
    prometheus = createServer((request, response) => {
      authorization = request.headers.authorization;
      const query = new URL(request.url ?? '', 'http://localhost').searchParams;
      const values = [
        [Number(query.get('start')), '12'],
        [Number(query.get('end')), '34'],
      ];
      response.end(JSON.stringify({ status: 'success', data: { result: [{ values }] } }));
    }).listen(0, '127.0.0.1');
    await once(prometheus, 'listening');
    const { port } = prometheus.address() as AddressInfo;
    stage = await ConsoleStage.open({
      CARILLON_CONFIG_BODY: FILE,
      CARILLON_LOG_LEVEL: 'debug',
      CARILLON_TELEMETRY_PROMETHEUS_URL: `http://ada:s3cret@127.0.0.1:${port}`,
      CARILLON_ALARMS_EVERY_MS: '300',
      CARILLON_ALARMS_CARRIER_DOWN_MS: '500',
      CARILLON_ALARMS_CLEAR_MS: '1000',
      CARILLON_SIP_CARRIER_PROBE_MS: '500',
    });
    staff = await stage.person('ops@example.test', 'operator');
  });
  afterAll(async () => {
    await stage.close();
    prometheus.close();
  });

  it('list the settings in force with their sources, without secrets', async () => {
    const { page, go } = staff;
    await stage.service.admin('POST', '/carriers', {
      name: 'idle',
      host: 'sip.example.test',
      enabled: false,
    });
    await go('/settings?source=changed');
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('platformName').getByText('Bell', { exact: true }).waitFor();
    await row('platformName').getByText('Environment').waitFor();
    await row('platformName').getByText('CARILLON_CONFIG_BODY:2').waitFor();
    await row('logLevel').getByText('CARILLON_LOG_LEVEL').waitFor();
    await row('mail.smtpUrl').getByText('***').waitFor();
    await row('carriers').getByText('1 added in the console').waitFor();
    expect(await page.content()).not.toContain('s3cret');
    await page.getByLabel('Search').fill('sip');
    await row('platformName').waitFor({ state: 'detached' });
    await picture(staff, 'settings');
    await page.getByLabel('Source').selectOption('default');
    await page.getByLabel('Search').fill('rtp.portMin');
    await page.getByText('No setting matches.').waitFor();
    await expectAccessible(staff);
  });

  it('run the doctor, whose findings stay until the next run', async () => {
    const { page, go } = staff;
    await go('/doctor');
    await page.getByText('The checks have not run since the start of this node.').waitFor();
    await page.getByRole('button', { name: 'Run checks' }).click();
    const findings = page.getByRole('region', { name: 'Findings' });
    // The SMTP server of the settings does not exist.
    await findings.getByRole('row', { name: /Problem mail/ }).waitFor();
    await findings.getByRole('row', { name: /OK settings/ }).waitFor();
    await picture(staff, 'doctor');
    await expectAccessible(staff);
    await page.reload();
    await findings.getByRole('row', { name: /Problem mail/ }).waitFor();
  });

  it('show the log of one call, by level', async () => {
    const { page, go } = staff;
    await callFor(stage.service, stage.service.demo, 1);
    await go('/log?level=debug');
    const lines = page.getByRole('region', { name: 'Log lines' });
    const ofCall = lines.getByRole('link').first();
    const callUuid = (await ofCall.textContent()) ?? '';
    await picture(staff, 'log');
    await page.getByLabel('Call UUID').fill(callUuid.slice(0, 8));
    await page.getByText('This is not a complete call UUID.').waitFor();
    await page.getByLabel('Call UUID').fill(callUuid);
    await lines.getByText('carillon is up').waitFor({ state: 'detached' });
    expect(await lines.getByRole('link', { name: callUuid }).count()).toBeGreaterThan(0);
    await page.getByLabel('Lowest level').selectOption('error');
    await page.getByText('No log line matches.').waitFor();
    await expectAccessible(staff);
  });

  it('keep an alarm with its acknowledgement over a restart, and show it in the history', async () => {
    const { page, go } = staff;
    const carrier = { name: 'gateway', host: '127.0.0.1', port: await freePort() };
    await stage.service.admin('POST', '/carriers', carrier);
    await go('/alarms');
    const active = page.getByRole('region', { name: 'Active alarms' });
    const row = active.getByRole('row', { name: /gateway/ });
    await row.getByRole('button', { name: 'Acknowledge' }).click();
    await row.getByText('ops@example.test').waitFor();
    await stage.restart();
    await page.reload();
    await row.getByText('ops@example.test').waitFor();
    await picture(staff, 'alarms');
    await stage.service.admin('DELETE', '/carriers/gateway');
    const ended = page
      .getByRole('region', { name: 'History' })
      .getByRole('row', { name: /gateway.*ops@example\.test/ });
    await ended.waitFor({ timeout: 60_000 });
    await page.getByLabel('Subject or detail').fill('no such carrier');
    await page.getByText('No alarm matches.').waitFor();
    await page.getByLabel('Subject or detail').fill('GATEWAY');
    await ended.waitFor();
    await stage.restart();
    await page.reload();
    await ended.waitFor();
    await expectAccessible(staff);
  });

  it('show the history of all nodes from a Prometheus server', async () => {
    const { page, go } = staff;
    await go('/health');
    await page.getByLabel('Period').selectOption('7 days, all nodes');
    await page.getByRole('img', { name: /Running calls, calls: Running calls 34/ }).waitFor();
    await page.getByRole('img', { name: /New calls, per second: New calls 34/ }).waitFor();
    expect(authorization).toBe(`Basic ${Buffer.from('ada:s3cret').toString('base64')}`);
    await picture(staff, 'health-history');
    await expectAccessible(staff);
  });

  it('back up the database and verify its balances', async () => {
    const { page, go } = staff;
    await go('/database');
    await page.getByRole('button', { name: 'Back up database' }).click();
    await page.getByText(/backups\/carillon-.*\.db/).waitFor();
    await page.getByRole('button', { name: 'Verify balances' }).click();
    await page.getByText('All balances are correct').waitFor();
    await page.getByText('All rows can be read.').waitFor();
    await picture(staff, 'database');
    await expectAccessible(staff);
  });

  it('delete a rate', async () => {
    const { page, go } = staff;
    const rate = { direction: 'outbound', prefix: '99123', per_minute: 0.5, currency: 'USD' };
    await stage.service.admin('POST', '/rates', rate);
    await go('/rates');
    const row = page
      .getByRole('region', { name: 'Price list' })
      .getByRole('row', { name: /99123/ });
    await row.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Delete rate' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete rate' }).click();
    await row.waitFor({ state: 'detached' });
    const { body } = await stage.service.admin('GET', '/rates');
    expect(JSON.stringify(body)).not.toContain('99123');
  });

  it('set, change and delete a media policy', async () => {
    const { page, go } = staff;
    const { authId } = stage.service.demo;
    const form = page.getByRole('dialog');
    await go('/media-policies');
    await page.getByText('No media policies.').waitFor();
    await page.getByRole('button', { name: 'Add media policy' }).click();
    await form.getByLabel('Name').fill(authId);
    await form.getByLabel('Codecs in order of preference').fill('no-such-codec');
    await form.getByRole('button', { name: 'Save policy' }).click();
    await form
      .getByText(/codecs/)
      .first()
      .waitFor();
    await form.getByLabel('Codecs in order of preference').fill('opus, PCMU');
    await form.getByLabel('SRTP').selectOption('Required');
    await form.getByRole('button', { name: 'Save policy' }).click();
    const row = page.getByRole('row', { name: new RegExp(authId) });
    await row.getByText('OPUS, PCMU').waitFor();
    await row.getByText('Required').waitFor();
    await picture(staff, 'media-policies');
    await expectAccessible(staff);
    await row.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Delete policy' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete policy' }).click();
    await page.getByText('No media policies.').waitFor();
  });

  it('drain a node, whose state and version the list shows', async () => {
    const { page, go } = staff;
    await go('/nodes');
    const row = page.getByRole('region', { name: 'Nodes' }).getByRole('row', { name: /this node/ });
    await row.getByText('Serving').waitFor();
    await row.getByText(/^\d+\.\d+\.\d+/).waitFor();
    await picture(staff, 'nodes');
    await row.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Drain node' }).click();
    await row.getByText('Draining').waitFor();
    await expectAccessible(staff);
  });
});
