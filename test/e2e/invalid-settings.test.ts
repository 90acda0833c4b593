/** Settings that no service can run with: `--check-config` and a start refuse them alike, with a line that names the setting. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineSettings } from '../../src/config/load.ts';
import { checkedForStart } from '../../src/service/checks/start.ts';
import { certificate } from '../edge/sip/certificates.ts';
import { type Environment, Program, ROOT } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-invalid-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const [one, other] = [await certificate(['one.test']), await certificate(['other.test'])];
  writeFileSync(at('one.crt'), one.cert);
  writeFileSync(at('one.key'), one.key);
  writeFileSync(at('other.key'), other.key);
  writeFileSync(at('text'), 'no certificate');
  writeFileSync(at('damaged.crt'), one.cert.replace(/\n[^\n]{10}/, '\n'));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(at('rsa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  mkdirSync(at('data'));
});

/** A settings file as text, and words that the refusal has. */
type Row = readonly [settings: string, ...words: readonly string[]];

const BOTH = (one: string, other: string): string => `${one} and ${other} are both`;

const PORTS: readonly Row[] = [
  ['sip: {tlsPort: 5060}', BOTH('sip.port', 'sip.tlsPort')],
  ['sip: {wsPort: 5060}', BOTH('sip.port', 'sip.wsPort')],
  ['sip: {wssPort: 5061}', BOTH('sip.tlsPort', 'sip.wssPort')],
  ['sip: {port: 8080}', BOTH('http.port', 'sip.port')],
  ['http: {port: 5066}', BOTH('http.port', 'sip.wsPort')],
  ['http: {host: localhost, port: 5060}', BOTH('http.port', 'sip.port')],
  ['http: {host: 0.0.0.0, port: 7443}', BOTH('http.port', 'sip.wssPort')],
  ['http: {port: 20000}', BOTH('http.port', 'rtp.portMin')],
  ['rtp: {icePort: 8080}', BOTH('http.port', 'rtp.icePort')],
  ['rtp: {icePort: 5061}', BOTH('sip.tlsPort', 'rtp.icePort')],
  ['rtp: {portMin: 5000, portMax: 6001}', 'sip.port', 'rtp.portMin'],
  ['sip: {tlsPort: 20002}', 'sip.tlsPort', 'rtp.portMax'],
  ['rtp: {portMin: 20001}', 'rtp.portMin must be even'],
  ['rtp: {portMin: 20000, portMax: 20001}', 'rtp.portMax', 'rtp.icePort'],
  ['rtp: {portMin: 20000, portMax: 20000}', 'rtp.portMin must be below rtp.portMax'],
  ['sip: {port: 65536}', 'sip.port'],
  ['http: {port: -1}', 'http.port'],
];

const COMBINATIONS: readonly Row[] = [
  ['http: {tlsCertFile: one.crt}', 'http.tlsCertFile', 'http.tlsKeyFile'],
  ['sip: {tlsKeyFile: one.key}', 'sip.tlsCertFile', 'sip.tlsKeyFile'],
  ['sip: {tlsClientCertificates: required}', 'sip.tlsCaFile'],
  ['cluster: {redis: "redis://127.0.0.1"}', 'cluster.redis needs store.url'],
  ['cluster: {withoutRedisPercent: 50}', 'cluster.withoutRedisPercent needs cluster.redis'],
  [
    'sip: {publicHost: 203.0.113.7, publicHost6: "2001:db8::7"}',
    'sip.publicHost6 needs sip.host ::',
  ],
  ['sip: {host: "::", publicHost6: "2001:db8::7"}', 'sip.publicHost6 needs sip.publicHost'],
  [
    'sip: {host: "::", publicHost: "2001:db8::1", publicHost6: "2001:db8::7"}',
    'sip.publicHost6 needs sip.publicHost, an IPv4 address or a host name',
  ],
  ['rtp: {publicHost: 203.0.113.7, publicHost6: "2001:db8::7"}', 'rtp.publicHost6 needs rtp.host'],
  ['sip: {backend: drachtio}', 'drachtio.servers'],
  ['sip: {backend: drachtio}\ndrachtio: {servers: [127.0.0.1]}', 'drachtio.secret'],
  [
    'sip: {backend: drachtio, edges: [10.0.0.5], outboundEdges: [10.0.0.5]}\ndrachtio: {servers: [127.0.0.1], secret: x}',
    'sip.outboundEdges needs sip.backend own',
  ],
  ['drachtio: {servers: [127.0.0.1], secret: x}', 'drachtio.servers', 'sip.backend'],
  ['sip: {outboundEdges: [10.0.0.5]}', 'sip.edges lacks 10.0.0.5'],
  ['recordings: {storage: s3}', 's3.endpoint'],
  ['s3: {endpoint: "https://s3.example.com"}', 's3.accessKeyId'],
  ['s3: {bucket: recordings}', 's3.endpoint'],
  ['recognition: {engine: http}', 'recognition.httpUrl'],
  ['recognition: {engine: websocket}', 'recognition.webSocketUrl'],
  ['stir: {policy: require}', 'stir.trustAnchorsFile'],
  ['hep: {password: secret}', 'hep.host'],
  ['telemetry: {headers: [a=b]}', 'telemetry.tracesUrl'],
  ['sip: {registerExpiresMinS: 7300}', 'sip.registerExpiresMinS', 'sip.registerExpiresMaxS'],
  ['rtp: {codecs: [CN]}', 'rtp.codecs must name a codec'],
  ['rtp: {codecs: [G729]}', 'rtp.codecs: G729'],
];

const KEYS: readonly Row[] = [
  ['sip: {prot: 5060}', 'unknown key sip.prot'],
  ['sips: {port: 5060}', 'unknown key sips'],
  ['http: {port: "8080"}', 'http.port'],
  ['http: 8080', 'http in'],
  ['sip: {edges: 10.0.0.1}', 'sip.edges'],
  ['demo: "yes"', 'demo'],
  ['sip: {host: ""}', 'sip.host', 'must not be empty'],
  ['dataDir: ""', 'dataDir', 'must not be empty'],
  ['accounts: {currency: ""}', 'accounts.currency', 'must not be empty'],
  ['sip: {userAgent: "a\\nb"}', 'sip.userAgent', 'control characters'],
  ['logLevel: loud', 'logLevel'],
  ['accounts: {country: XY}', 'accounts.country'],
  ['mail: {from: nobody}', 'mail.from'],
];

const SCHEMES: readonly Row[] = [
  ['publicUrl: voice.example.com', 'publicUrl'],
  ['publicUrl: "ftp://voice.example.com"', 'publicUrl'],
  ['store: {url: "mysql://db.example/carillon"}', 'store.url', 'must be a URL postgres'],
  ['store: {url: "postgres://db.example/c?sslmode=always"}', 'store.url: sslmode'],
  ['cluster: {redis: "http://127.0.0.1"}\nstore: {url: "postgres://db/c"}', 'cluster.redis'],
  ['s3: {endpoint: "s3://bucket", accessKeyId: a, secretAccessKey: b}', 's3.endpoint'],
  ['mail: {smtpUrl: "https://mail.example.com"}', 'mail.smtpUrl'],
  ['hep: {host: "udp://127.0.0.1"}', 'hep.host'],
  ['telemetry: {tracesUrl: "grpc://127.0.0.1:4317"}', 'telemetry.tracesUrl'],
  ['recognition: {webSocketUrl: "http://127.0.0.1:2700"}', 'recognition.webSocketUrl'],
  ['speech: {url: "127.0.0.1:8000"}', 'speech.url'],
  ['alarms: {webhookUrl: "hooks.example.com"}', 'alarms.webhookUrl'],
  ['sip: {wsOrigins: [phone.example.com]}', 'sip.wsOrigins'],
];

const ADDRESSES: readonly Row[] = [
  ['sip: {host: 256.1.1.1}', 'sip.host'],
  ['http: {host: 192.0.2.99}', 'http.host', 'is not an address of this machine'],
  ['http: {host: nowhere.invalid}', 'http.host', 'name servers'],
  ['rtp: {host: localhost}', 'rtp.host', 'must be an IP address'],
  ['rtp: {publicHost: 0.0.0.0}', 'rtp.publicHost'],
  ['sip: {publicHost: "sip:voice.example.com"}', 'sip.publicHost'],
  ['sip: {publicHost6: 203.0.113.7}', 'sip.publicHost6', 'an IPv6 address'],
  ['sip: {publicHost6: "::"}', 'sip.publicHost6', 'that peers can reach'],
  ['sip: {publicHost6: "::ffff:203.0.113.7"}', 'sip.publicHost6', 'an IPv6 address'],
  ['sip: {publicHost6: "fe80::7%eth0"}', 'sip.publicHost6', 'an IPv6 address'],
  ['sip: {publicHost6: "[2001:db8::7"}', 'sip.publicHost6', 'an IPv6 address'],
  ['rtp: {publicHost6: voice.example.com}', 'rtp.publicHost6', 'an IPv6 address'],
  ['http: {trustProxy: [10.0.0.0/33]}', 'http.trustProxy'],
  ['sip: {edges: [proxy.example.com]}', 'sip.edges'],
  ['sip: {edges: [10.0.0.0/8], outboundEdges: ["10.0.0.5:99999"]}', 'sip.outboundEdges'],
  ['egress: {allow: ["10.0.0.0/8/8"]}', 'egress.allow'],
];

const DUPLICATES: readonly Row[] = [
  ['egress: {allow: [bots.lan, Bots.lan]}', 'egress.allow', 'twice'],
  ['rtp: {codecs: [PCMU, PCMU]}', 'rtp.codecs', 'twice'],
  ['sip: {edges: [10.0.0.1, 10.0.0.1]}', 'sip.edges', 'twice'],
  ['speech: {voices: [WOMAN=a, WOMAN=b]}', 'speech.voices', 'twice'],
  ['egress: {allow: [""]}', 'egress.allow', 'empty entry'],
  ['sip: {port: 5070}\nsip: {port: 5071}', 'set twice'],
  ['carriers: [{name: a, host: a.example}, {name: a, host: b.example}]', 'carriers', 'twice'],
  [
    'rates: [{direction: inbound, per_minute: 1, currency: USD}, {direction: inbound, per_minute: 2, currency: USD}]',
    'rates[1]',
    'the same as rates[0]',
  ],
];

const FILES: readonly Row[] = [
  ['http: {tlsCertFile: one.crt, tlsKeyFile: other.key}', 'http.tlsKeyFile', 'does not belong'],
  ['sip: {tlsCertFile: one.crt, tlsKeyFile: other.key}', 'sip.tlsKeyFile', 'does not belong'],
  ['sip: {tlsCertFile: text, tlsKeyFile: one.key}', 'sip.tlsCertFile'],
  ['sip: {tlsCertFile: damaged.crt, tlsKeyFile: one.key}', 'sip.tlsCertFile'],
  ['http: {tlsCertFile: one.crt, tlsKeyFile: one.crt}', 'http.tlsKeyFile'],
  ['http: {tlsCertFile: data, tlsKeyFile: one.key}', 'http.tlsCertFile', 'is not a file'],
  ['sip: {tlsCaFile: missing.pem}', 'sip.tlsCaFile', 'cannot be read'],
  ['streams: {caFile: text}', 'streams.caFile'],
  ['stir: {keyFile: rsa.key, certificateUrl: "https://a.example/c"}', 'stir.keyFile', 'P-256'],
  ['calls: {holdMusic: missing.wav}', 'calls.holdMusic'],
  ['invoices: {font: missing.ttf}', 'invoices.font'],
  ['dataExport: {folder: missing}', 'dataExport.folder'],
  ['carriers: missing.json', 'carriers'],
  ['dataDir: text', 'dataDir', 'it is a file'],
  ['dataDir: text/below', 'dataDir', 'it is a file'],
  ['dataDir: /proc/carillon', 'dataDir'],
];

/** File names of the table, which are in the folder of this test. */
const NAMES =
  /(?<=[ {])(?:\w+\.(?:crt|key|pem|wav|ttf|json)|text(?:\/below)?|data|missing)(?=[,}]|$)/g;

function environmentOf(settings: string): Environment {
  const body = settings.replace(NAMES, (name) => at(name));
  const isOwnFolder = /^dataDir/m.test(body);
  return {
    CARILLON_CONFIG_BODY: body,
    ...(isOwnFolder ? {} : { CARILLON_DATA_DIR: at('data') }),
  };
}

async function run(settings: string, ...flags: readonly string[]) {
  const program = new Program('src/main.ts', flags, environmentOf(settings));
  const late = setTimeout(() => program.child.kill('SIGKILL'), 100_000);
  const status = await program.exited;
  clearTimeout(late);
  return { status, said: program.stderr.trim(), output: program.output };
}

/** Returns the output of `--check-config` without starting a process. */
async function problemsOf(settings: string): Promise<readonly string[]> {
  const examined = examineSettings(environmentOf(settings), join(ROOT, 'config', 'default.json'));
  return (await checkedForStart(examined, ROOT)).problems;
}

const GROUPS = [
  ['ports', PORTS],
  ['combinations', COMBINATIONS],
  ['keys and types', KEYS],
  ['URLs', SCHEMES],
  ['addresses', ADDRESSES],
  ['duplicates', DUPLICATES],
  ['files and folders', FILES],
] as const;

describe.each(GROUPS)('the check refuses %s', (_, rows) => {
  it.each(rows)('%s', async (settings, ...words) => {
    const problems = await problemsOf(settings);
    for (const word of words) expect(problems.join('\n')).toContain(word);
    for (const problem of problems) expect(problem).toMatch(/^[^\n]+$/);
  });

  it('as --check-config', async () => {
    const [settings = '', word = ''] = rows[0] ?? [];
    const { status, said } = await run(settings, '--check-config');
    expect(status).toBe(1);
    expect(said).toMatch(/^settings: /);
    expect(said).toContain(word);
  });
});

/** A start uses the same check, so one per group suffices. */
describe.concurrent.each(GROUPS)('a start refuses %s', (_, rows) => {
  it.each(rows.slice(0, 1))('%s', async (settings, ...words) => {
    const { status, said, output } = await run(settings);
    expect(status).toBe(1);
    // The first problem is shown, and how many more there are.
    const [first = ''] = await problemsOf(settings);
    expect(said).toContain(first);
    if (!said.includes('more: --check-config'))
      for (const word of words) expect(said).toContain(word);
    expect(said.split('\n')).toHaveLength(1);
    expect(output).not.toMatch(/\n\s+at /);
  });
});

it.each(['"[2001:db8::7]"', '"2001:db8::7"', 'six.example.com'])(
  'accepts sip.publicHost6 %s',
  async (host) => {
    const settings = `sip: {host: "::", publicHost: 203.0.113.7, publicHost6: ${host}}`;
    expect(await problemsOf(settings)).toEqual([]);
  },
);

it('the defaults pass', async () => {
  const { status, output } = await run('{}', '--check-config');
  expect(status).toBe(0);
  expect(output).toContain('settings are valid');
});
