/** Opens the console in a real browser with the link of the first start, and checks its size. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations, faultsOf, hasChromium, openChromium } from './chromium.ts';
import { callFor } from './phone.ts';
import { newPlace, ROOT, removePlace, Service, type ServicePlace } from './service.ts';

/** Limit for all files, bytes after gzip. */
const WEIGHT_MAX = 250 * 1024;

it('stays within the size limit and loads no third-party resources', () => {
  const folder = join(ROOT, 'build/web/console');
  const files = ['index.html', 'console.js', 'console.css'].map((name) =>
    readFileSync(join(folder, name)),
  );
  // All parts, including those that are loaded on demand.
  const weight = readdirSync(folder)
    .map((name) => gzipSync(readFileSync(join(folder, name))).length)
    .reduce((sum, size) => sum + size, 0);
  expect(weight).toBeLessThan(WEIGHT_MAX);
  const [page = '', , css = ''] = files.map(String);
  expect(page).not.toMatch(/https?:/);
  expect(css).not.toMatch(/url\(["']?https?:|@import/);
});

describe.skipIf(!hasChromium)('the console', () => {
  let place: ServicePlace;
  let service: Service;
  beforeAll(async () => {
    place = await newPlace();
    service = await Service.start(place);
  });
  afterAll(async () => {
    await service.kill();
    removePlace(place);
  });

  it('opens with the link that the first start prints, and shows a call', async () => {
    const [link = ''] = /http:\S+\/console#\/welcome\/\w+/.exec(await service.banner()) ?? [];
    await callFor(service, service.demo, 1);
    const browser = await openChromium();
    const page = await browser.newPage({ reducedMotion: 'reduce' });
    const faults = faultsOf(page);
    await page.goto(link);
    await page.getByLabel('E-mail').fill('owner@example.test');
    await page.getByLabel('Choose a password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    const calls = page.getByRole('region', { name: 'Calls' });
    await calls.getByRole('link').first().click();
    await page.getByText('The caller hung up.').waitFor();
    await page.getByRole('img', { name: /SIP messages between/ }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.goto(link);
    await page.reload();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await browser.close();
  });
});
