import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/config/load.ts';
import { settingsPage } from '../../src/config/page.ts';
import { isSetting, listSettings, SETTINGS } from '../../src/config/schema.ts';

const DEFAULTS = join(import.meta.dirname, '../../config/default.json');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const fileWith = (content: unknown): string => {
  const path = join(folder, 'settings.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

describe('settings', () => {
  it('config/default.json holds every setting with the default of the schema', () => {
    const defaultsOf = (node: object): unknown =>
      Object.fromEntries(
        Object.entries(node).map(([key, child]) => [
          key,
          isSetting(child) ? child.default : defaultsOf(child),
        ]),
      );
    expect(JSON.parse(readFileSync(DEFAULTS, 'utf8'))).toEqual(defaultsOf(SETTINGS));
  });

  it('a key sip.publicHost is CARILLON_SIP_PUBLIC_HOST (decisions.md, names)', () => {
    const settings = loadSettings({ CARILLON_SIP_PUBLIC_HOST: 'sip.example' }, DEFAULTS);
    expect(settings.sip.publicHost).toBe('sip.example');
  });

  it('config/README.md is what the schema says', () => {
    expect(readFileSync(join(import.meta.dirname, '../../config/README.md'), 'utf8')).toBe(
      settingsPage(),
    );
  });

  it('every setting has an environment name of its own', () => {
    const names = listSettings().map((place) => place.environment);
    expect(new Set(names).size).toBe(names.length);
  });

  it('the environment beats the file of CARILLON_CONFIG, which beats the defaults', () => {
    const file = fileWith({ http: { port: 9000 }, sip: { port: 5070 } });
    const settings = loadSettings({ CARILLON_CONFIG: file, CARILLON_HTTP_PORT: '9001' }, DEFAULTS);
    expect([settings.http.port, settings.sip.port]).toEqual([9001, 5070]);
  });

  it('a list is written with commas, a switch as on or off', () => {
    const environment = { CARILLON_EGRESS_ALLOW: '10.0.0.0/8, bots.lan', CARILLON_DEMO: 'off' };
    const settings = loadSettings(environment, DEFAULTS);
    expect(settings.egress.allow).toEqual(['10.0.0.0/8', 'bots.lan']);
    expect(settings.demo).toBe(false);
  });

  it.each([
    [{ CARILLON_SIP_PRT: '5060' }, 'unknown environment variable CARILLON_SIP_PRT'],
    [
      { CARILLON_SIP_PORT: '70000' },
      'CARILLON_SIP_PORT must be a whole number from 1 to 65535, not 70000',
    ],
    [{ CARILLON_SIP_PORT: '' }, 'CARILLON_SIP_PORT must be a whole number'],
    [{ CARILLON_DEMO: 'maybe' }, 'CARILLON_DEMO must be on or off, not "maybe"'],
    [{ CARILLON_LOG_LEVEL: 'loud' }, 'CARILLON_LOG_LEVEL must be one of debug, info'],
    [{ CARILLON_RTP_PORT_MIN: '30000' }, 'rtp.portMin must be below rtp.portMax'],
    [{ CARILLON_HTTP_TLS_CERT_FILE: 'a.pem' }, 'belong together'],
    [{ CARILLON_CONFIG: '/nowhere.json' }, 'cannot read /nowhere.json'],
  ])('%o stops the start with one clear line', (environment, line) => {
    const load = (): unknown => loadSettings(environment, DEFAULTS);
    expect(load).toThrow(line);
    expect(load).toThrow(/^settings: [^\n]+$/);
  });

  it.each([
    [{ sip: { prt: 1 } }, 'unknown key sip.prt'],
    [{ sip: 5060 }, 'sip in'],
    [{ http: { port: '8080' } }, 'http.port in'],
    ['{', 'cannot read'],
    [[], 'must hold one JSON object'],
    // A key of Object's own is no setting either.
    ['{"__proto__": {"port": 1}}', 'unknown key __proto__'],
  ])('a file with %j stops the start with one clear line', (content, line) => {
    const environment = { CARILLON_CONFIG: fileWith(content) };
    expect(() => loadSettings(environment, DEFAULTS)).toThrow(line);
  });

  it('a secret is never part of an error', () => {
    const environment = { CARILLON_CONFIG: fileWith({ adminToken: ['s3cret'] }) };
    expect(() => loadSettings(environment, DEFAULTS)).toThrow(/^(?!.*s3cret)/);
  });
});
