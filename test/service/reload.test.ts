import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { micros } from '../../src/base/money.ts';
import { examineSettings } from '../../src/config/load.ts';
import { createDomainServices } from '../../src/service/join/domain-services.ts';
import { checked, Reloader } from '../../src/service/reload.ts';
import { openInMemory } from '../edge/store/open.ts';

const ROOT = join(import.meta.dirname, '../..');
const ACCOUNT = asAccountId('MA0000000001');
let folder: string;
let close: () => Promise<void>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-reload-'));
});
afterEach(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

const BEGIN = `
logLevel: info
rates:
  - { direction: outbound, prefix: '1', per_minute: 0.01, currency: USD }
  - { direction: outbound, prefix: '44', per_minute: 0.02, currency: USD }
carriers:
  - { name: main, host: sip.carrier.example }
`;

async function running() {
  const file = join(folder, 'carillon.yaml');
  const write = (text: string): void => writeFileSync(file, text);
  write(BEGIN);
  const examine = () =>
    examineSettings({ CARILLON_CONFIG: file }, join(ROOT, 'config', 'default.json'));
  const { store, clock, random } = await openInMemory();
  close = () => store.close();
  const facts = createDomainServices(store, {
    clock,
    random,
    logger: silentLogger,
    accounts: { concurrentCallsLimit: 10, cpsLimit: 5, currency: 'USD', country: 'US' },
    provisioning: { realm: 'carillon', usernameSuffix: 'always', releaseCooldownMs: 0 },
    recordingFiles: { remove: async () => undefined },
  });
  const reported: string[] = [];
  const levels: string[] = [];
  const note =
    (level: string) =>
    (fields: object, message: string): void => {
      reported.push(`${level} ${message} ${JSON.stringify(fields)}`);
    };
  const logger = {
    ...silentLogger,
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
    setLevel: (level: string) => void levels.push(level),
  };
  let certificates = 0;
  const { ledger, provisioning } = facts;
  const reloader = new Reloader({
    settings: examine().settings,
    root: ROOT,
    logger,
    ledger,
    carriers: provisioning.carriers,
    examine,
  });
  reloader.onCertificates(() => {
    certificates += 1;
  });
  await reloader.reload();
  const price = (number: string): number | undefined =>
    ledger.rateBook.quote('outbound', number, ACCOUNT, 'USD')?.perMinute;
  return {
    write,
    reloader,
    reported,
    levels,
    price,
    ledger,
    provisioning,
    read: () => certificates,
  };
}

describe('a reload', () => {
  it('applies new rates, carriers and the log level, and reads certificates again', async () => {
    const { write, reloader, levels, price, provisioning, read } = await running();
    expect([price('14155550100'), price('442079460000')]).toEqual([10_000, 20_000]);
    write(
      BEGIN.replace('0.01', '0.03')
        .replace(/.*'44'.*\n/, '')
        .replace('info', 'debug'),
    );
    const done = await reloader.reload();
    expect(done).toMatchObject({ ok: true, value: { changed: ['logLevel', 'rates'], rates: 1 } });
    // Prefixes missing from the list are no longer sold.
    expect([price('14155550100'), price('442079460000')]).toEqual([30_000, undefined]);
    expect(levels.at(-1)).toBe('debug');
    expect(read()).toBe(2);
    write(BEGIN.replace('sip.carrier', 'gw2.carrier'));
    await reloader.reload();
    expect(provisioning.carriers.get('main')?.host).toBe('gw2.carrier.example');
  });

  it('keeps a rate that overrides the list', async () => {
    const { write, reloader, price, ledger } = await running();
    const [listed] = ledger.listRates().filter(({ prefix }) => prefix === '1');
    if (listed === undefined) throw new Error('the rate of the list is missing');
    const own = { ...listed, perMinute: micros(5) };
    await ledger.putRate(own);
    write(BEGIN.replace('0.01', '0.03'));
    await reloader.reload();
    expect(price('14155550100')).toBe(5);
    await ledger.removeRate(own);
    expect(price('14155550100')).toBe(30_000);
  });

  it('lists the settings that need a restart, each time until then', async () => {
    const { write, reloader, reported } = await running();
    write(`${BEGIN}sip: { port: 5070 }\nhttp: { port: 9000 }\n`);
    for (const _ of [1, 2]) {
      const done = await reloader.reload();
      expect(done.ok && done.value.needsRestart).toEqual(['http.port', 'sip.port']);
    }
    expect(reported.at(-1)).toMatch(/^warn these settings take effect after a restart .*sip\.port/);
  });

  it.each([
    ['an unknown key', `${BEGIN}sipp: {}\n`, 'unknown key sipp'],
    ['broken YAML', `${BEGIN}  - x: [`, 'cannot read'],
    ['a wrong rate', BEGIN.replace('0.02', '-1'), 'rates[1]: per_minute'],
    ['a wrong carrier', BEGIN.replace('host:', 'hst:'), '/carriers/0'],
    [
      'an address that the API refuses',
      BEGIN.replace('example }', 'example, source_addresses: [10.0.0.300] }'),
      'carriers[0]: source_addresses has 10.0.0.300',
    ],
    [
      'a header that the API refuses',
      BEGIN.replace('example }', 'example, add_headers: { Via: x } }'),
      'carriers[0]: add_headers holds Via',
    ],
    ['a file that is not there', `${BEGIN}streams: { caFile: /nowhere.pem }\n`, 'streams.caFile'],
  ])('refuses a file with %s, logs it and changes nothing', async (_, text, why) => {
    const { write, reloader, reported, levels, price } = await running();
    const before = levels.length;
    write(text.replace('0.01', '0.5').replace('info', 'debug'));
    const refused = await reloader.reload();
    expect(refused.ok || refused.error.join('\n')).toContain(why);
    expect(reported.at(-1)).toContain('error new settings refused');
    expect(price('14155550100')).toBe(10_000);
    expect(levels).toHaveLength(before);
    write(BEGIN);
    expect((await reloader.reload()).ok).toBe(true);
  });
});

describe('checks before a start', () => {
  it('report all problems of settings, lists and files together', () => {
    close = async () => undefined;
    const environment = {
      CARILLON_CONFIG_BODY: 'rates: [{ direction: up }]\nsip: { port: 0 }',
      CARILLON_STREAMS_CA_FILE: join(folder, 'none.pem'),
    };
    const examined = examineSettings(environment, join(ROOT, 'config', 'default.json'));
    expect(checked(examined, ROOT).problems).toEqual([
      expect.stringContaining('sip.port in CARILLON_CONFIG_BODY:2 must be a whole number'),
      expect.stringContaining('the settings file: rates[0]: direction must be one of'),
      expect.stringContaining('streams.caFile names a file that cannot be read'),
    ]);
  });
});
