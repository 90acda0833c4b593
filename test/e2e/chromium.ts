/** Debian's Chromium, for tests that open pages as people do. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';

export const hasChromium = existsSync(PROGRAM);

/** `args`: beside the usual. */
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

/** A microphone that beeps, and leave to use it; media over loopback. */
export const WITH_MICROPHONE = [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
  '--disable-features=WebRtcHideLocalIpsWithMdns',
  '--allow-loopback-in-peer-connection',
] as const;

/** What the page says is wrong: errors of scripts, and whatever the content policy refused. */
export function faultsOf(page: Page): readonly string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // A 401 before signing in, and a 404 of a call without a record, are answers and no faults.
    const isAnswer = message.text().includes('Failed to load resource');
    // What the test itself runs in the page has no address.
    if (message.type() === 'error' && !isAnswer && message.location().url !== '') {
      faults.push(message.text());
    }
  });
  return faults;
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Violations of WCAG 2.2 AA and of good practice that axe-core finds on the page as it is. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  // A change of colours takes a moment, in which they have another contrast.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => undefined)',
  );
  // Past the content policy of the page: it is the test that brings the script.
  await page.evaluate(readFileSync(AXE, 'utf8'));
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html.slice(0, 120) + ' ' + (any[0]?.message ?? '')).join(' | ')))`);
}
