import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { storedName, storedSecret } from '../../src/service/data-folder.ts';
import { trialCertificate } from '../../src/service/sip-certificate.ts';
import { changesOf, powerLossMissing } from '../crash/power-loss.ts';
import { seededRandom } from '../edge/store/open.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a stored secret', () => {
  it('is created once', () => {
    const random = seededRandom();
    const secret = storedSecret(folder, 'keys/a', random);
    expect(secret.length).toBeGreaterThan(20);
    expect(storedSecret(folder, 'keys/a', random)).toBe(secret);
  });

  it.each([
    ['empty', ''],
    ['blank', '\n'],
    ['filled with zeros', '\0'.repeat(40)],
  ])('that is %s is refused, because any client could use it', (_, text) => {
    mkdirSync(join(folder, 'keys'));
    writeFileSync(join(folder, 'keys/a'), text);
    expect(() => storedSecret(folder, 'keys/a', seededRandom())).toThrow(/keys\/a is empty/);
    expect(() => storedName(folder, 'keys/a', seededRandom())).toThrow(/keys\/a is empty/);
  });

  it.skipIf(powerLossMissing !== undefined)('is on the disk before it is used (needs cc)', () => {
    const data = join(folder, 'data');
    const program = `
      import { loadKey } from './src/edge/store/vault.ts';
      import { storedSecret } from './src/service/data-folder.ts';
      loadKey('${data}/keys/store.key');
      storedSecret('${data}', 'keys/admin.token', { integer: () => 1, bytes: (n) => new Uint8Array(n) });`;
    const changes = changesOf(program, join(data, 'keys'), folder);
    expect(changes.map((line) => line.replace(/\.[0-9a-f]{16}\./, '.'))).toEqual([
      ...['write /store.key.new', 'sync /store.key.new', 'sync'],
      ...['write /admin.token.new', 'sync /admin.token.new', 'rename /admin.token.new', 'sync'],
    ]);
  });
});

describe('the certificate for trials', () => {
  const at = (nowMs: number) =>
    trialCertificate(folder, ['127.0.0.1'], { name: 'sip', nowMs, logger: silentLogger });
  const validFrom = ({ certFile }: { readonly certFile: string }): number =>
    Date.parse(new X509Certificate(readFileSync(certFile)).validFrom);

  it('is retained', async () => {
    await at(NOW_MS);
    expect(validFrom(await at(NOW_MS + 10 * DAY_MS))).toBe(NOW_MS - DAY_MS);
  });

  it('is replaced if the clock was ahead when it was created', async () => {
    await at(NOW_MS + 300 * DAY_MS);
    expect(validFrom(await at(NOW_MS))).toBe(NOW_MS - DAY_MS);
  });

  it('is replaced if its key is empty or of another certificate', async () => {
    const { keyFile } = await at(NOW_MS);
    const key = readFileSync(keyFile, 'utf8');
    for (const damaged of ['', 'damaged']) {
      writeFileSync(keyFile, damaged);
      expect(validFrom(await at(NOW_MS + DAY_MS))).toBe(NOW_MS);
    }
    writeFileSync(keyFile, key);
    expect(validFrom(await at(NOW_MS + 2 * DAY_MS))).toBe(NOW_MS + DAY_MS);
  });
});
