/** Cluster libraries are loaded only when configured: SQLite loads no PostgreSQL and no Redis client. */
import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { postgresMissing, sharedCluster } from '../postgres.ts';
import { newPlace, removePlace, Service, type ServicePlace } from './service.ts';

/** Prints the PostgreSQL and Redis client modules that any thread loads. */
const SAYS = `--import ${`data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    if (/@redis|edge.store.postgres/.test(url)) process.stderr.write('LOADED ' + url + '\\n');
    return next(url, context);
  } });`)}`}`;

let place: ServicePlace | undefined;
let service: Service | undefined;
afterEach(async () => {
  await service?.kill();
  if (place !== undefined) removePlace(place);
});

const isMapped = ({ program }: Service): boolean =>
  readFileSync(`/proc/${program.child.pid}/maps`, 'utf8').includes('libpq');

it.skipIf(process.platform !== 'linux')('loads no client library on SQLite', async () => {
  place = await newPlace({ NODE_OPTIONS: SAYS });
  service = await Service.start(place);
  expect(service.program.output).not.toContain('LOADED');
  expect(isMapped(service)).toBe(false);
});

it.skipIf(process.platform !== 'linux' || postgresMissing !== undefined)(
  `loads only the PostgreSQL client on PostgreSQL ${postgresMissing ?? ''}`,
  async () => {
    const url = (await sharedCluster()).database('loads');
    place = await newPlace({ NODE_OPTIONS: SAYS, CARILLON_STORE_URL: url });
    service = await Service.start(place);
    expect(service.program.output).toMatch(/LOADED \S+store\/postgres/);
    expect(service.program.output).not.toMatch(/LOADED \S+@redis/);
    expect(isMapped(service)).toBe(true);
  },
);
