/** A customer's trunks in the console: created from parts, changed and removed by permitted roles, in Chromium. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium } from '../e2e/chromium.ts';
import type { Json } from '../e2e/service.ts';
import { eventually } from '../eventually.ts';
import { ConsoleStage, expectAccessible, type Person } from './console-stage.ts';

const SECRET = 'never-shown-again';

describe.skipIf(!hasChromium)('trunks in the console', () => {
  let stage: ConsoleStage;
  let developer: Person;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    const { authId } = stage.service.demo;
    developer = await stage.person('trunks@example.test', 'developer', authId);
  });
  afterAll(() => stage.close());

  const objects = async (path: string): Promise<readonly Json[]> =>
    (await stage.service.api('GET', path)).body['objects'] as Json[];
  const row = (name: string) =>
    developer.page.getByRole('region', { name: 'Trunks' }).getByRole('row', { name });

  it('are created from destinations, credentials and addresses; no page shows the password', async () => {
    const { page, go } = developer;
    await go('/build/trunks');
    await page.getByText('No trunks yet. Create one below.').waitFor();
    const part = (name: string) => page.getByRole('region', { name: `${name} of trunks` });
    await page.getByLabel('Name of the destination').fill('office');
    await page.getByLabel('SIP address', { exact: true }).fill('sip:pbx.example.test:5060');
    await part('Destinations').getByRole('button', { name: 'Add' }).click();
    await page.getByRole('cell', { name: 'sip:pbx.example.test:5060', exact: true }).waitFor();
    await page.getByLabel('User', { exact: true }).fill('pbx');
    await page.getByLabel('Password', { exact: true }).fill(SECRET);
    await part('Credentials').getByRole('button', { name: 'Add' }).click();
    await page.getByRole('cell', { name: 'pbx', exact: true }).waitFor();
    await page.getByLabel('Address or range').fill('not an address');
    await part('Addresses').getByRole('button', { name: 'Add' }).click();
    await part('Addresses').getByText('must be an IP address or CIDR range').waitFor();
    await page.getByLabel('Address or range').fill('192.0.2.0/24');
    await part('Addresses').getByRole('button', { name: 'Add' }).click();
    await page.getByRole('cell', { name: '192.0.2.0/24', exact: true }).waitFor();

    const form = page.getByRole('form', { name: 'Trunk' });
    await form.getByLabel('Name').fill('head office');
    await form.getByLabel('Direction').selectOption('both');
    await form.getByLabel('Concurrent calls').fill('7');
    await form.getByLabel('Primary destination').selectOption('office');
    await form.getByLabel('Credentials of the peer').selectOption('pbx');
    await form.getByLabel('Allowed addresses').selectOption('192.0.2.0/24');
    await form.getByRole('button', { name: 'Create' }).click();
    await row('head office').waitFor();
    const [uri] = await objects('origination-uris');
    const [credential] = await objects('credentials');
    const [acl] = await objects('ip-acl');
    expect(await objects('trunks')).toMatchObject([
      {
        name: 'head office',
        trunk_direction: 'both',
        concurrent_calls_limit: 7,
        primary_uri_uuid: uri?.['id'],
        fallback_uri_uuid: null,
        credential_uuid: credential?.['id'],
        ipacl_uuid: acl?.['id'],
      },
    ]);
    await page.reload();
    await row('head office').waitFor();
    await page.getByRole('cell', { name: 'pbx', exact: true }).waitFor();
    expect(await page.content()).not.toContain(SECRET);
    await expectAccessible(developer);
  });

  it('change when edited, and keep the unedited fields', async () => {
    const { page } = developer;
    await row('head office').getByRole('button', { name: 'Change' }).click();
    await page.getByRole('heading', { name: 'Change head office' }).waitFor();
    const form = page.getByRole('form', { name: 'Trunk' });
    await form.getByLabel('State').selectOption('disabled');
    await form.getByLabel('Allowed addresses').selectOption('none');
    await form.getByRole('button', { name: 'Save' }).click();
    await row('head office').getByText('disabled').waitFor();
    const [credential] = await objects('credentials');
    expect(await objects('trunks')).toMatchObject([
      {
        trunk_status: 'disabled',
        trunk_direction: 'both',
        concurrent_calls_limit: 7,
        credential_uuid: credential?.['id'],
        ipacl_uuid: null,
      },
    ]);
  });

  it('can be removed; a part can be removed only while unused; a viewer can remove no trunk and no part', async () => {
    const { authId } = stage.service.demo;
    const viewer = await stage.person('looks@example.test', 'viewer', authId);
    await viewer.go('/build/trunks');
    await viewer.page.getByRole('cell', { name: 'head office' }).waitFor();
    expect(await viewer.page.getByRole('button', { name: /Remove|Change|Add/ }).count()).toBe(0);
    await viewer.leave();

    const { page } = developer;
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Remove pbx' }).click();
    await page.getByText('resource is in use').waitFor();
    await page.getByRole('button', { name: 'Remove head office' }).click();
    await page.getByText('No trunks yet. Create one below.').waitFor();
    await page.getByRole('button', { name: 'Remove pbx' }).click();
    await page.getByText('No credentials yet. Add some below.').waitFor();
    expect(await objects('trunks')).toEqual([]);
    await eventually('the audit log', async () => {
      const { body } = await stage.service.admin('GET', '/audit?limit=10');
      const reported = (body['entries'] as Json[]).filter(
        ({ who, method, status }) =>
          who === 'trunks@example.test' && method === 'DELETE' && status === 204,
      );
      return reported.length === 2 || undefined;
    });
  });
});
