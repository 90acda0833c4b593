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
  const open = (name: string) =>
    developer.page.getByRole('navigation', { name: 'Parts' }).getByRole('button', { name }).click();

  it('are created from destinations, credentials and addresses; no page shows the password', async () => {
    const { page, go } = developer;
    await go('/trunks');
    await page.getByText('No trunks yet.').waitFor();
    await open('Destinations');
    await page.getByRole('button', { name: 'Create destination' }).click();
    await page.getByLabel('Name').fill('office');
    await page.getByLabel('SIP address').fill('sip:pbx.example.test:5060');
    await page.getByRole('dialog').getByRole('button', { name: 'Create destination' }).click();
    await page.getByRole('cell', { name: 'sip:pbx.example.test:5060', exact: true }).waitFor();
    await open('Credentials');
    await page.getByRole('button', { name: 'Create credential' }).click();
    await page.getByLabel('User', { exact: true }).fill('pbx');
    await page.getByLabel('Password', { exact: true }).fill(SECRET);
    await page.getByRole('dialog').getByRole('button', { name: 'Create credential' }).click();
    await page.getByRole('cell', { name: 'pbx', exact: true }).waitFor();
    await open('Allowed addresses');
    await page.getByRole('button', { name: 'Create address' }).click();
    await page.getByLabel('Address or range').fill('not an address');
    await page.getByRole('dialog').getByRole('button', { name: 'Create address' }).click();
    await page.getByText('must be an IP address or CIDR range').first().waitFor();
    await page.getByLabel('Address or range').fill('192.0.2.0/24');
    await page.getByRole('dialog').getByRole('button', { name: 'Create address' }).click();
    await page.getByRole('cell', { name: '192.0.2.0/24', exact: true }).waitFor();

    await go('/trunks');
    await page.getByRole('button', { name: 'Create trunk' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('head office');
    await form.getByLabel('Direction').selectOption('both');
    await form.getByLabel('Concurrent calls').fill('7');
    await form.getByLabel('Primary destination').selectOption('office');
    await form.getByLabel('Credentials of the peer').selectOption('pbx');
    await form.getByLabel('Allowed addresses').selectOption('192.0.2.0/24');
    await form.getByRole('button', { name: 'Create trunk' }).click();
    await page.getByRole('row', { name: 'head office' }).waitFor();
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
    expect(await page.content()).not.toContain(SECRET);
    await expectAccessible(developer);
  });

  it('change when edited, and keep the unedited fields', async () => {
    const { page, go } = developer;
    await go('/trunks');
    await page.getByRole('button', { name: 'Actions for head office' }).click();
    await page.getByRole('menuitem', { name: 'Edit trunk' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('State').selectOption('disabled');
    await form.getByLabel('Allowed addresses').selectOption('None');
    await form.getByRole('button', { name: 'Save trunk' }).click();
    await page.getByRole('row', { name: 'head office' }).getByText('Disabled').waitFor();
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
    await viewer.go('/trunks');
    await viewer.page.getByRole('cell', { name: 'head office' }).waitFor();
    expect(await viewer.page.getByRole('button', { name: /Create|Actions for/ }).count()).toBe(0);
    await viewer.leave();

    const { page, go } = developer;
    const remove = async (name: string, noun: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: `Delete ${noun}` }).click();
      await page.getByRole('button', { name: `Delete ${noun}` }).click();
    };
    await open('Credentials');
    await remove('pbx', 'credential');
    await page.getByText('resource is in use').waitFor();
    await go('/trunks');
    await remove('head office', 'trunk');
    await page.getByText('No trunks yet.').waitFor();
    await open('Credentials');
    await remove('pbx', 'credential');
    await page.getByText('No credentials yet.').waitFor();
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
