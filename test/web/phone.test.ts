/** Parts of the browser phone that need no browser. */
import { afterEach, expect, it, vi } from 'vitest';

/** Not a literal: the phone is checked with the types of browsers, the tests with those of Node. */
const PHONE: string = new URL('../../web/phone/phone.ts', import.meta.url).href;

afterEach(() => vi.unstubAllGlobals());

it('an unused phone has no listener in the page, which would keep it in memory', async () => {
  const { Phone } = await import(PHONE);
  const listeners = new Set<unknown>();
  const add = (_name: string, listener: unknown) => listeners.add(listener);
  const remove = (_name: string, listener: unknown) => listeners.delete(listener);
  const mediaDevices = { addEventListener: add, removeEventListener: remove };
  vi.stubGlobal('addEventListener', add);
  vi.stubGlobal('removeEventListener', remove);
  vi.stubGlobal('navigator', { mediaDevices });
  const phone = new Phone({ audio: {}, server: 'wss://voice.test/sip' });
  expect(listeners.size).toBe(0);
  const off = phone.on('devices', () => undefined);
  expect(listeners.size).toBe(1);
  off();
  expect(listeners.size).toBe(0);
});
