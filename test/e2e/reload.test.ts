/** Reloads settings with SIGHUP on a running service. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

let place: ServicePlace;
let service: Service | undefined;
afterEach(async () => {
  await service?.stop();
  removePlace(place);
});

const settingsWith = (perMinute: number, more = ''): string => `
rates: [{ direction: outbound, prefix: '1', per_minute: ${perMinute}, currency: USD }]
${more}`;

it('SIGHUP applies new rates, rejects an invalid file, and keeps the service running', async () => {
  place = await newPlace();
  const file = join(place.dataDir, '..', 'carillon.yaml');
  writeFileSync(file, settingsWith(0.01));
  const environment = { ...place.environment, CARILLON_CONFIG: file };
  service = await Service.start({ ...place, environment });
  const running = service;
  const price = async (): Promise<unknown> =>
    ((await running.admin('GET', '/rates')).body['rates'] as { per_minute: number }[])[0]
      ?.per_minute;
  expect(await price()).toBe(0.01);
  const says = (words: string) =>
    eventually(words, () => running.program.stdout.includes(words) || undefined);

  writeFileSync(file, settingsWith(0.02, 'sip: { userAgent: Other }'));
  running.program.child.kill('SIGHUP');
  await says('these settings take effect after a restart');
  expect(running.program.stdout).toMatch(
    /"needsRestart":\["sip\.userAgent"\]|"settings":\["sip\.userAgent"\]/,
  );
  expect(await price()).toBe(0.02);

  writeFileSync(file, settingsWith(0.03, 'sip: { prt: 1 }'));
  running.program.child.kill('SIGHUP');
  await says('new settings refused, the current ones stay in force');
  expect(await price()).toBe(0.02);
  const refused = await running.admin('POST', '/reload');
  expect([refused.status, refused.text]).toEqual([
    409,
    expect.stringContaining(`unknown key sip.prt in ${file}:3`),
  ]);
});
