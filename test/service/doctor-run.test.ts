import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { DoctorRun } from '../../src/service/doctor-run.ts';
import { SimClock } from '../sim/clock.ts';

const FINDINGS = [{ check: 'dns', verdict: 'problem', found: 'no answer', advice: 'Add one.' }];

function doctorWith(output: string) {
  const runs: (readonly string[])[] = [];
  const doctor = new DoctorRun({
    root: '/opt/carillon',
    dataDir: '/nowhere',
    adminToken: 'operator-token',
    environment: {},
    clock: new SimClock(),
    logger: silentLogger,
    execute: async (args, env) => {
      runs.push([...args, String(env['CARILLON_ADMIN_TOKEN'])]);
      return output;
    },
  });
  return { doctor, runs };
}

describe('a doctor run', () => {
  it('starts one process for concurrent requests, and keeps its findings', async () => {
    const { doctor, runs } = doctorWith(JSON.stringify({ ok: false, findings: FINDINGS }));
    expect(doctor.last).toBeUndefined();
    const [one, other] = await Promise.all([doctor.run(), doctor.run()]);
    expect(one).toMatchObject({ ok: true, value: { findings: FINDINGS } });
    expect(other).toBe(one);
    expect(runs).toEqual([
      [
        ...['/opt/carillon/bin/carillon.mjs', '--json', '--data-dir', '/nowhere', 'doctor'],
        'operator-token',
      ],
    ]);
    expect(doctor.last).toMatchObject({ findings: FINDINGS });
  });

  it('fails if the output is not JSON', async () => {
    const { doctor } = doctorWith('carillon: cannot find module');
    expect(await doctor.run()).toMatchObject({ ok: false });
    expect(doctor.last).toBeUndefined();
  });
});
