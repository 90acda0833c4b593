/** A running service, and users of its console in Chromium, each in a separate browser context. */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { axeViolations, faultsOf, openChromium } from '../e2e/chromium.ts';
import {
  type Environment,
  newPlace,
  ROOT,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';

const PASSWORD = 'correct horse battery';
const NARROW = { width: 360, height: 640 };
const WIDE = { width: 1100, height: 760 };

export interface Person {
  readonly page: Page;
  /** Page errors in order of occurrence. */
  readonly faults: readonly string[];
  go(hash: string): Promise<unknown>;
  leave(): Promise<void>;
}

export class ConsoleStage {
  service: Service;
  readonly #place: ServicePlace;
  readonly #browser: Browser;

  private constructor(place: ServicePlace, service: Service, browser: Browser) {
    this.#place = place;
    this.service = service;
    this.#browser = browser;
  }

  /** Starts the service with additional environment variables, and Chromium with additional arguments. */
  static async open(
    environment: Environment = {},
    args: readonly string[] = [],
  ): Promise<ConsoleStage> {
    const place = await newPlace(environment);
    return new ConsoleStage(place, await Service.start(place), await openChromium(args));
  }

  /** Stops the service and starts it again with the same data. */
  async restart(): Promise<void> {
    await this.service.stop();
    this.service = await Service.start(this.#place);
  }

  /** Invites a user and signs in. Without an account the user is one of the operator's staff. */
  async person(email: string, role: string, account?: string): Promise<Person> {
    const { body } = await this.service.admin('POST', '/users', {
      email,
      role,
      ...(account !== undefined && { account_id: account }),
    });
    const context = await this.#browser.newContext({
      viewport: WIDE,
      colorScheme: 'light',
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'UTC',
      permissions: ['microphone', 'clipboard-write'],
    });
    const page = await context.newPage();
    const faults = faultsOf(page);
    const console = `${this.service.baseUrl}/console`;
    await page.goto(`${console}#${String(body['link']).split('#')[1]}`);
    await page.getByLabel('Choose a password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return {
      page,
      faults,
      go: (hash) => page.goto(`${console}#${hash}`),
      leave: () => context.close(),
    };
  }

  /** Opens a page without a session. */
  async guest(): Promise<Page> {
    return (await this.#browser.newContext()).newPage();
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.service.kill();
    removePlace(this.#place);
  }
}

/** Verifies the current page: no accessibility violation in either color scheme, and no content wider than a phone. */
export async function expectAccessible({ page, faults }: Person): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeViolations(page), colorScheme).toEqual([]);
  }
  await page.setViewportSize(NARROW);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
    NARROW.width,
  );
  await page.setViewportSize(WIDE);
  expect(faults).toEqual([]);
}

const PICTURES = join(ROOT, process.env['PICTURES'] ?? 'build/pictures');

/** Writes a screenshot of the current page for the documentation. */
export const picture = (person: Person, name: string): Promise<void> =>
  pictureAt(person, name, { width: 1280, height: 800 }).then(() =>
    person.page.setViewportSize(WIDE),
  );

/** Writes a screenshot of a size, which the page keeps. */
export async function pictureAt(
  { page }: Person,
  name: string,
  size: { readonly width: number; readonly height: number },
): Promise<void> {
  await page.setViewportSize(size);
  await page.locator('main').waitFor();
  await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
  // Messages about earlier actions would hide a part of the page.
  await page.evaluate("document.querySelectorAll('.toast button').forEach((one) => one.click())");
  await page.locator('.toast').first().waitFor({ state: 'detached' });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}
