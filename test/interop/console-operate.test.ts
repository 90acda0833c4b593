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
    await lines.getByRole('link', { name: callUuid }).first().waitFor();
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

  it('import rates, with invalid rows that can be corrected', async () => {
    const { page, go } = staff;
    const rows = [
      'direction,prefix,per_minute,currency',
      'outbound,77001,0.25,USD',
      'outbound,77002,free,USD',
      'sideways,77003,0.5,USD',
    ];
    await go('/import?kind=rates');
    await page.getByLabel('CSV file').setInputFiles({
      name: 'rates.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(rows.join('\n')),
    });
    await page.getByRole('heading', { name: 'Invalid rows' }).waitFor();
    await page.getByText(/per_minute must be/).waitFor();
    await picture(staff, 'import');
    await expectAccessible(staff);
    const listed = async () => JSON.stringify((await stage.service.admin('GET', '/rates')).body);
    expect(await listed()).not.toContain('77001');
    await page.getByLabel('per_minute of row 2').fill('0.75');
    await page.getByLabel('direction of row 3').fill('outbound');
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('button', { name: 'Import 3 valid rows' }).click();
    await page.getByText('All rows are imported.').waitFor();
    for (const prefix of ['77001', '77002', '77003']) expect(await listed()).toContain(prefix);
  });

  it('find and erase the personal data of a number', async () => {
    const { page, go } = staff;
    const number = '+14155550177';
    await stage.service.admin('POST', '/do-not-call', { numbers: [number] });
    await go('/personal-data');
    await page.getByLabel('Telephone number').fill('12');
    await page.getByRole('button', { name: 'Find records' }).click();
    await page.locator('.field .error').waitFor();
    // A national number needs its country. Errors are next to their fields.
    const country = page.getByLabel('Country, if the number has no country code');
    await page.getByLabel('Telephone number').fill('030 12345678');
    await page.getByRole('button', { name: 'Find records' }).click();
    await page.locator('.field .error').getByText('set the country').waitFor();
    await country.fill('XX');
    await page.getByRole('button', { name: 'Find records' }).click();
    await page.locator('.field .error').getByText('is not a known country').waitFor();
    await country.fill('de');
    await page.getByRole('button', { name: 'Find records' }).click();
    await page.getByText('No record contains +493012345678.').waitFor();
    await page.getByLabel('Telephone number').fill(number);
    await page.getByRole('button', { name: 'Find records' }).click();
    await page.getByRole('heading', { name: `Records of ${number}` }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export records' }).click();
    expect((await saved).suggestedFilename()).toContain(number);
    await page.getByRole('button', { name: 'Erase number' }).click();
    const question = page.getByRole('alertdialog');
    const erase = question.getByRole('button', { name: 'Erase number' });
    expect(await erase.isDisabled()).toBe(true);
    await question.getByLabel(/^Type/).fill(number);
    await erase.click();
    await page.getByText('The number is erased.').waitFor();
  });

  it('rename an account, and add a balance with credit terms', async () => {
    const { page, go } = staff;
    const form = page.getByRole('dialog');
    const { authId } = stage.service.demo;
    await go(`/${authId}/account`);
    await page.getByRole('button', { name: 'Edit account' }).click();
    await form.getByLabel('Time zone').fill('Mars/Olympus');
    await form.getByRole('button', { name: 'Save account' }).click();
    await form.locator('.error').waitFor();
    await form.getByLabel('Time zone').fill('Asia/Kolkata');
    await form.getByLabel('Name').fill('Renamed');
    await form.getByRole('button', { name: 'Save account' }).click();
    await page.getByText('Asia/Kolkata').waitFor();
    await page.getByRole('button', { name: 'Add currency' }).click();
    await form.getByLabel('Currency').fill('EUR');
    await form.getByRole('button', { name: 'Add currency' }).click();
    const row = page.getByRole('region', { name: 'Balances' }).getByRole('row', { name: /EUR/ });
    await row.getByRole('button').click();
    await page.getByRole('menuitem', { name: 'Edit credit terms' }).click();
    await form.getByLabel('Postpaid').check();
    await form.getByLabel('Credit limit').fill('25');
    await form.getByRole('button', { name: 'Edit credit terms' }).click();
    await row.getByText(/25\.00 \(postpaid/).waitFor();
    const { body } = await stage.service.admin('GET', `/accounts/${authId}`);
    expect(body).toMatchObject({ name: 'Renamed', timezone: 'Asia/Kolkata' });
    await expectAccessible(staff);
  });

  it('change the policy of a trunk', async () => {
    const { page, go } = staff;
    const { service } = stage;
    const { authId } = service.demo;
    const made = await service.api('POST', 'trunks', { name: 'pbx', trunk_direction: 'inbound' });
    await go(`/${authId}/trunks`);
    await page.getByRole('button', { name: 'Actions for pbx' }).click();
    await page.getByRole('menuitem', { name: 'Edit trunk policy' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Header fields to add').fill('X-Site: berlin:1');
    await form.getByLabel('Private destinations').fill('10.0.0.0/8');
    await form.getByLabel('Caller identities from the peer').selectOption('Trust');
    await form.getByRole('button', { name: 'Save trunk policy' }).click();
    await page.getByText('Saved trunk policy.').waitFor();
    const path = `/accounts/${authId}/trunks/${String(made.body['trunk_id'])}`;
    expect((await service.admin('GET', path)).body).toMatchObject({
      egress_allow: ['10.0.0.0/8'],
      identity: 'trusted',
      add_headers: { 'X-Site': 'berlin:1' },
      large_over_tcp: true,
    });
  });

  it('a partner transfers capacity to a customer and reclaims it', async () => {
    const { service } = stage;
    const { authId } = service.demo;
    await service.admin('PATCH', `/accounts/${authId}`, {
      is_partner: true,
      limit_transfer_enabled: true,
    });
    const { body } = await service.admin('POST', '/accounts', {
      name: 'Reseller customer',
      partner_auth_id: authId,
      concurrent_calls_limit: 0,
    });
    const customer = String(body['auth_id']);
    const partner = await stage.person('partner@example.test', 'developer', authId);
    const { page, go } = partner;
    const form = page.getByRole('dialog');
    await go('/account');
    const move = async (name: string, slots: string) => {
      await page.getByRole('button', { name }).click();
      await form.getByLabel('Customer').fill(customer);
      await form.getByLabel('Slots').fill(slots);
      await form.getByRole('button', { name }).click();
    };
    await move('Transfer capacity', '9');
    const list = page.getByRole('region', { name: 'Transfers of capacity' });
    await list.getByRole('row', { name: new RegExp(`Transfer .*9 ${customer}`) }).waitFor();
    await move('Reclaim capacity', '4');
    await list.getByRole('row', { name: new RegExp(`Reclaim .*4 ${customer}`) }).waitFor();
    await page.getByLabel('Show the capacity of a customer').fill(customer);
    await page.getByText('5 concurrent calls, 0 calls per second').first().waitFor();
    await expectAccessible(partner);
    await partner.leave();
  });

  it('an owner ends the session of a user, who signs in again', async () => {
    const owner = await stage.person('owner@example.test', 'owner');
    const other = await stage.person('left-open@example.test', 'viewer');
    await owner.go('/people');
    const { page } = owner;
    await page.getByRole('button', { name: 'Actions for left-open@example.test' }).click();
    await page.getByRole('menuitem', { name: 'Show sessions' }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('Chrome, Linux').waitFor();
    await drawer.getByRole('button', { name: 'End session' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'End session' }).click();
    await drawer.getByText('No sessions.').waitFor();
    await other.go('/health');
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await owner.go('/profile');
    await page.getByRole('row', { name: /This browser/ }).waitFor();
    await picture(owner, 'profile');
    await page.getByLabel('Old password').fill('correct horse battery');
    await page.getByLabel('New password').fill('password12345');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page
      .getByText(/is easy to guess/)
      .first()
      .waitFor();
    await owner.leave();
    await other.leave();
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
