import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { openEgressGuard } from '../../src/edge/egress/egress.ts';
import { StreamTests } from '../../src/service/stream-tests.ts';

const SPEECH = 'fixtures/audio/speech.wav';

it('reads the speech again if that failed in an earlier test', async () => {
  const root = mkdtempSync(join(tmpdir(), 'carillon-stream-tests-'));
  const signUpgrade = async () => ({});
  const egress = openEgressGuard();
  const tests = new StreamTests({ root, egress, signUpgrade, caFile: '', clock, random });
  const run = () =>
    tests.run(asAccountId('MA_1'), {
      url: 'ws://127.0.0.1:9',
      seconds: 1,
      rate: 8000,
      encoding: 'audio/x-l16',
    });
  await expect(run()).rejects.toMatchObject({ code: 'ENOENT' });
  mkdirSync(dirname(join(root, SPEECH)), { recursive: true });
  cpSync(join(import.meta.dirname, '../..', SPEECH), join(root, SPEECH));
  expect(await run()).toMatchObject({
    ok: true,
    value: { faults: [expect.stringContaining('ECONNREFUSED')] },
  });
  rmSync(root, { recursive: true });
});
