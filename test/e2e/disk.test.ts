/**
 * Removes or fills the data folder, or stops PostgreSQL, during a call: new calls are refused, and no data of the call
 * is lost.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { buildWriteLog, powerLossMissing } from '../crash/power-loss.ts';
import { Cluster, postgresMissing } from '../postgres.ts';
import { startCall } from './phone.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

let place: ServicePlace;
let service: Service;
let leave = (): void => undefined;

afterEach(async () => {
  await service.kill();
  leave();
  removePlace(place);
});

const readyz = async (expected: number): Promise<unknown> =>
  eventually(`readyz ${expected}`, async () => {
    const { status, text } = await service.get('/readyz');
    return status === expected ? text : undefined;
  });

/** Makes the storage unavailable during a call, restores it after the call has ended, and returns the readiness problem. */
async function during(
  take: () => void,
  giveBack: () => void,
  causes: readonly string[] = ['NORMAL_CLEARING'],
): Promise<string> {
  service = await Service.start(place);
  // Reads the demo data first, because the files become unavailable later.
  const { demo } = service;
  const call = await startCall(service, demo, { seconds: 30 });
  await call.answered;
  take();
  const problem = String(await readyz(503));
  const refused = await service.api('POST', 'Call/', REQUEST, demo);
  expect(refused.status).toBe(503);
  const second = await startCall(service, demo, { seconds: 5 }).then(({ report }) => report);
  expect(second.end).toMatchObject({ how: 'refused', status: 503 });
  call.hangUp();
  const { sipCallId } = await call.report;
  giveBack();
  await readyz(200);
  const { hangup_cause } = await service.cdrOf(sipCallId, demo);
  expect(causes).toContain(hangup_cause);
  return problem;
}

const REQUEST = { from: '1', to: '14155550123', answer_url: 'http://127.0.0.1:9/' };

describe('readiness follows the storage', () => {
  it('reports a data folder that is moved away, and recovers when it returns', async () => {
    place = await newPlace();
    const away = `${place.dataDir}-away`;
    const problem = await during(
      () => renameSync(place.dataDir, away),
      () => renameSync(away, place.dataDir),
    );
    expect(problem).toContain('the data folder does not exist any more');
  });

  it('reports a full disk, and recovers', async ({ skip }) => {
    place = await newPlace();
    const disk = join(place.dataDir, 'disk');
    try {
      execFileSync('mkdir', ['-p', disk]);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      service = await Service.start(place);
      skip('cannot mount a separate disk on this machine');
    }
    leave = () => execFileSync('umount', ['-l', disk]);
    const dataDir = join(disk, 'data');
    const whole = place;
    place = { dataDir, environment: { ...whole.environment, CARILLON_DATA_DIR: dataDir } };
    const fill = join(disk, 'fill');
    const problem = await during(
      () => {
        expect(() => writeFileSync(fill, Buffer.alloc(32_000_000))).toThrow('ENOSPC');
      },
      () => rmSync(fill),
    );
    expect(problem).toContain('the disk of the data folder is full');
    place = whole;
  });

  it.skipIf(powerLossMissing !== undefined)(
    `reports I/O errors, and recovers when they end ${powerLossMissing ?? ''}`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'carillon-disk-'));
      leave = () => rmSync(folder, { recursive: true, force: true });
      const fails = join(folder, 'fails');
      place = await newPlace({ LD_PRELOAD: buildWriteLog(folder), FAIL_FILE: fails });
      const environment = { ...place.environment, WRITE_LOG_FOLDER: place.dataDir };
      place = { ...place, environment };
      const problem = await during(
        () => writeFileSync(fails, 'EIO'),
        () => rmSync(fails),
        // A call whose answer could not be stored is ended.
        ['NORMAL_CLEARING', 'SERVER_ERROR'],
      );
      expect(problem).toMatch(/no file can be written|read or write failed/);
      const verified = await service.admin('POST', '/verify');
      expect(verified.body).toMatchObject({ ok: true });
    },
  );

  it.skipIf(postgresMissing !== undefined)(
    `PostgreSQL stopped ${postgresMissing ?? ''}`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'carillon-pg-'));
      const cluster = new Cluster(folder);
      leave = () => {
        cluster.stop();
        rmSync(folder, { recursive: true, force: true });
      };
      cluster.create();
      place = await newPlace({ CARILLON_STORE_URL: cluster.url('postgres') });
      const problem = await during(
        () => cluster.stop(),
        () => cluster.start(),
      );
      expect(problem).toContain('the database is unavailable');
      expect(service.program.output).not.toContain(cluster.url('postgres'));
    },
  );
});
