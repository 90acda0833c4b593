import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examineSettings } from '../../src/config/load.ts';
import { isSetting, listSettings, SETTINGS } from '../../src/config/schema.ts';
import { settingsAsJson, settingsAsYaml } from '../../src/config/show.ts';
import { loadSettings } from './load-settings.ts';

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
  it("contains every setting with the schema's default in config/default.json", () => {
    const defaultsOf = (node: object): unknown =>
      Object.fromEntries(
        Object.entries(node).map(([key, child]) => [
          key,
          isSetting(child) ? child.default : defaultsOf(child),
        ]),
      );
    expect(JSON.parse(readFileSync(DEFAULTS, 'utf8'))).toEqual(defaultsOf(SETTINGS));
  });

  it('maps the key sip.publicHost to CARILLON_SIP_PUBLIC_HOST', () => {
    const settings = loadSettings({ CARILLON_SIP_PUBLIC_HOST: 'sip.example' }, DEFAULTS);
    expect(settings.sip.publicHost).toBe('sip.example');
  });

  it('maps every setting to a unique environment variable', () => {
    const names = listSettings().map((place) => place.environment);
    expect(new Set(names).size).toBe(names.length);
  });

  it('prefers the environment to the file in CARILLON_CONFIG, and the file to the defaults', () => {
    const file = fileWith({ http: { port: 9000 }, sip: { port: 5070 } });
    const settings = loadSettings({ CARILLON_CONFIG: file, CARILLON_HTTP_PORT: '9001' }, DEFAULTS);
    expect([settings.http.port, settings.sip.port]).toEqual([9001, 5070]);
  });

  it('parses lists with commas, and switches as on or off', () => {
    const environment = { CARILLON_EGRESS_ALLOW: '10.0.0.0/8, bots.lan', CARILLON_DEMO: 'off' };
    const settings = loadSettings(environment, DEFAULTS);
    expect(settings.egress.allow).toEqual(['10.0.0.0/8', 'bots.lan']);
    expect(settings.demo).toBe(false);
  });

  it.each(['CARILLON_URL', 'CARILLON_AUTH_ID', 'CARILLON_AUTH_TOKEN', 'CARILLON_MCP_TOKEN'])(
    'accepts %s, which is for the command line',
    (name) => {
      expect(examineSettings({ [name]: 'x' }, DEFAULTS).problems).toEqual([]);
    },
  );

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
  ])('fails the start with one clear line for %o', (environment, line) => {
    const load = (): unknown => loadSettings(environment, DEFAULTS);
    expect(load).toThrow(line);
    expect(load).toThrow(/^settings: [^\n]+$/);
  });

  it.each([
    [{ sip: { prt: 1 } }, 'unknown key sip.prt'],
    [{ sip: 5060 }, 'sip in'],
    [{ http: { port: '8080' } }, 'http.port in'],
    ['{', 'cannot read'],
    [[], 'must contain one object'],
    // A key of Object's own is not a setting either.
    ['{"__proto__": {"port": 1}}', 'unknown key __proto__'],
  ])('fails the start with one clear line for a file with %j', (content, line) => {
    const environment = { CARILLON_CONFIG: fileWith(content) };
    expect(() => loadSettings(environment, DEFAULTS)).toThrow(line);
  });

  it('never includes a secret in an error', () => {
    const environment = { CARILLON_CONFIG: fileWith({ adminToken: ['s3cret'] }) };
    expect(() => loadSettings(environment, DEFAULTS)).toThrow(/^(?!.*s3cret)/);
  });
});

describe('a settings file in YAML', () => {
  const yaml = (content: string): string => {
    const path = join(folder, 'settings.yaml');
    writeFileSync(path, content);
    return path;
  };

  it('is parsed as JSON is, with comments', () => {
    const file = yaml('# ours\nsip:\n  port: 5070 # not 5060\negress: { allow: [bots.lan] }\n');
    const settings = loadSettings({ CARILLON_CONFIG: file }, DEFAULTS);
    expect([settings.sip.port, settings.egress.allow]).toEqual([5070, ['bots.lan']]);
  });

  it('reports all problems together, with line numbers', () => {
    const file = yaml('sip:\n  port: 70000\n  prt: 1\nhttp: 8080\ndemo: no\n');
    const environment = { CARILLON_CONFIG: file, CARILLON_LOG_LEVEL: 'loud' };
    const { problems } = examineSettings(environment, DEFAULTS);
    expect(problems).toEqual([
      `sip.port in ${file}:2 must be a whole number from 1 to 65535, not 70000`,
      expect.stringContaining(`unknown key sip.prt in ${file}:3; known here: host, port`),
      expect.stringContaining(`http in ${file}:4 must be an object with host, port`),
      // YAML 1.2 accepts only true and false as booleans.
      `demo in ${file}:5 must be true or false, not "no"`,
      expect.stringContaining('CARILLON_LOG_LEVEL must be one of debug'),
    ]);
    expect(() => loadSettings(environment, DEFAULTS)).toThrow(
      /^settings: sip\.port .*\(and 4 more: --check-config shows them\)$/,
    );
  });

  it.each([
    ['sip: {port: 1}\nsip: {port: 2}', 'settings.yaml:2: sip: is set twice'],
    ['sip: !!js/function x', 'Unresolved tag'],
    ['a: b: c', 'settings.yaml:1: '],
    ['just text', 'must contain one object'],
  ])('refuses %j', (content, why) => {
    const { problems } = examineSettings({ CARILLON_CONFIG: yaml(content) }, DEFAULTS);
    expect(problems.join()).toContain(why);
  });

  it('may be in a variable, but not together with a file', () => {
    const body = 'sip: { port: 5070 }';
    expect(loadSettings({ CARILLON_CONFIG_BODY: body }, DEFAULTS).sip.port).toBe(5070);
    const both = { CARILLON_CONFIG: yaml(body), CARILLON_CONFIG_BODY: body };
    expect(() => loadSettings(both, DEFAULTS)).toThrow('exclude each other');
  });
});

describe('the effective settings', () => {
  const SECRETS = {
    adminToken: 'admin-s3cret',
    publicUrl: 'https://user:url-s3cret@voice.example',
    mail: { smtpUrl: 'smtp://mailer:mail-s3cret@mx.example' },
    carriers: [{ name: 'main', host: 'gw.example', password: 'sip-s3cret' }],
  };

  it('contain no secret, and name the source of each value', () => {
    const file = fileWith(SECRETS);
    const environment = {
      CARILLON_CONFIG: file,
      CARILLON_SIP_PORT: '5070',
      CARILLON_HTTP_METRICS_TOKEN: 'metrics-s3cret',
    };
    const examined = examineSettings(environment, DEFAULTS);
    expect(examined.problems).toEqual([]);
    const shown = settingsAsYaml(examined);
    expect(shown).not.toContain('s3cret');
    expect(shown).toMatch(/^ {2}port: 5070 # CARILLON_SIP_PORT$/m);
    expect(shown).toContain(`adminToken: "***" # ${file}:1`);
    const json = settingsAsJson(examined);
    expect(json).not.toContain('s3cret');
    expect(JSON.parse(json)).toMatchObject({
      settings: { sip: { port: 5070 }, carriers: '(1 in the file)', mail: { smtpUrl: '***' } },
      origins: { 'sip.port': 'CARILLON_SIP_PORT' },
    });
  });

  it('can be loaded as settings', () => {
    const first = examineSettings({ CARILLON_SIP_PORT: '5070' }, DEFAULTS);
    const again = { CARILLON_CONFIG_BODY: settingsAsYaml(first) };
    expect(loadSettings(again, DEFAULTS)).toEqual(first.settings);
  });
});
