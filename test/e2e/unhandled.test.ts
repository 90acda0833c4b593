/** Bugs outside of the boundaries of calls and requests: rejections without a handler, and uncaught exceptions. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

/** Plants a bug at each SIGUSR2: two rejections, then an exception. */
const BUGS = `
  import { isMainThread } from 'node:worker_threads';
  const bugs = [
    () => void Promise.reject(new TypeError('planted rejection')),
    () => void Promise.reject('planted text'),
    () => { throw new Error('planted exception'); },
  ];
  if (isMainThread) process.on('SIGUSR2', () => bugs.shift()?.());
`;

let place: ServicePlace;
let service: Service;

beforeAll(async () => {
  place = await newPlace();
  const file = join(place.dataDir, '..', 'bugs.mjs');
  writeFileSync(file, BUGS);
  const environment = { ...place.environment, NODE_OPTIONS: `--import=${file}` };
  service = await Service.start({ ...place, environment });
  await service.banner();
});

afterAll(async () => {
  await service.kill();
  removePlace(place);
});

/** Sends the signal and waits for the log line with this text. */
const planted = (text: string) => {
  service.program.child.kill('SIGUSR2');
  return eventually(text, () => service.program.stdout.split('\n').find((l) => l.includes(text)));
};

it('an unhandled rejection is logged as a bug and counted, and the service continues', async () => {
  const line = await planted('planted rejection');
  expect(JSON.parse(line)).toMatchObject({ level: 'error', bug: true });
  expect(line).toContain('bugs.mjs');
  expect(JSON.parse(await planted('planted text'))).toMatchObject({ level: 'error', bug: true });
  expect((await service.get('/metrics')).text).toContain('voice_unhandled_rejections_total 2');
  expect((await service.get('/readyz')).status).toBe(200);
});

it('an uncaught exception ends the process with its stack and status 1', async () => {
  service.program.child.kill('SIGUSR2');
  expect(await service.program.exited).toBe(1);
  expect(service.program.stderr).toContain('Error: planted exception');
  expect(service.program.stderr).toContain('bugs.mjs');
});
