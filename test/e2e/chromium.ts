/** Opens pages in Debian's Chromium. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';

export const hasChromium = existsSync(PROGRAM);

/** Starts Chromium with `args` in addition to the default arguments. */
export const openChromium = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: PROGRAM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--no-first-run',
      ...args,
    ],
  });

/** Arguments that provide a beeping microphone with permission to use it, and allow media over loopback. */
export const WITH_MICROPHONE = [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
  '--disable-features=WebRtcHideLocalIpsWithMdns',
  '--allow-loopback-in-peer-connection',
] as const;

/** Collects page errors: script errors and violations of the content security policy. */
export function faultsOf(page: Page): readonly string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // Expected responses: a 401 before sign-in and a 404 for a call without a record.
    const isAnswer = message.text().includes('Failed to load resource');
    // Messages without a URL come from scripts that the test runs in the page.
    if (message.type() === 'error' && !isAnswer && message.location().url !== '') {
      faults.push(message.text());
    }
  });
  return faults;
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Returns the WCAG 2.2 AA and best-practice violations that axe-core finds on the current page. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  // Skips running color transitions, during which the contrast differs.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => undefined)',
  );
  // Evaluates the script through the debugger, because the page's content security policy would block it.
  await page.evaluate(readFileSync(AXE, 'utf8'));
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html.slice(0, 120) + ' ' + (any[0]?.message ?? '')).join(' | ')))`);
}
