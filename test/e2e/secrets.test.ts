/**
 * A run with a distinctive value in every place where a secret enters. Afterwards none is in the logs, the files of the data
 * folder, its backup, the traces or the responses to an operator.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepAt, totpCode } from '../../src/domain/user/totp.ts';
import { Customer } from './customer.ts';
import { callFor, makeUser } from './phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

const canary = (name: string): string => `canary-${name}-7f3a9c51e2`;
const SETTINGS = {
  CARILLON_MAIL_SMTP_URL: `smtp://mailer:${canary('smtp')}@127.0.0.1:9`,
  CARILLON_ALARMS_WEBHOOK_URL: `http://ops:${canary('alarm-url')}@127.0.0.1:9/alarm`,
  CARILLON_ALARMS_WEBHOOK_SECRET: canary('alarm-secret'),
  CARILLON_HTTP_METRICS_TOKEN: canary('metrics'),
  CARILLON_HEP_HOST: '127.0.0.1',
  CARILLON_HEP_PASSWORD: canary('hep'),
  CARILLON_SPEECH_URL: 'http://127.0.0.1:9/speech',
  CARILLON_SPEECH_API_KEY: canary('speech'),
  CARILLON_RECOGNITION_HTTP_URL: 'http://127.0.0.1:9/recognize',
  CARILLON_RECOGNITION_API_KEY: canary('recognition'),
  CARILLON_S3_ENDPOINT: 'http://127.0.0.1:9',
  CARILLON_S3_BUCKET: 'recordings',
  CARILLON_S3_ACCESS_KEY_ID: 'id',
  CARILLON_S3_SECRET_ACCESS_KEY: canary('s3'),
} as const;

let place: ServicePlace;
let service: Service;
let customer: Customer;
/** Every secret of the run, by origin. */
const secrets = new Map<string, string>();
/** Texts that operators and customers receive, by origin. */
const shown = new Map<string, string>();

const own = (name: string): string => {
  secrets.set(name, canary(name));
  return canary(name);
};

beforeAll(async () => {
  for (const [name, value] of Object.entries(SETTINGS)) {
    const [secret] = /canary-[\w-]+/.exec(value) ?? [];
    if (secret !== undefined) secrets.set(name, secret);
  }
  place = await newPlace({ ...SETTINGS, CARILLON_LOG_LEVEL: 'debug' });
  service = await Service.start(place);
  customer = await Customer.listen();
  await useEverything();
  await collect();
  await service.stop();
});

afterAll(async () => {
  await service?.kill();
  await customer?.close();
  removePlace(place);
});

async function useEverything(): Promise<void> {
  const { demo } = service;
  secrets.set('token of the account', demo.authToken);
  secrets.set('SIP password', demo.password);
  secrets.set('admin token', service.adminToken);
  const url = new URL(customer.xml('/answer', '<Response><Wait length="1"/></Response>'));
  url.username = 'customer';
  url.password = own('answer-url');
  url.searchParams.set('token', own('answer-token'));
  const user = await makeUser(service, 'secretive', { answer_url: url.href });
  secrets.set('password of the endpoint', user.password);
  await callFor(service, user, 1);
  const wrong = own('wrong-password');
  await callFor(service, { ...user, password: wrong }, 1);
  await service.admin('POST', '/carriers', {
    name: 'canary',
    host: '127.0.0.1',
    port: 9,
    prefixes: ['999'],
    auth: { username: 'us', password: own('carrier'), register: true },
  });
  const guessed = own('guessed-token');
  await service.api('GET', 'cdr', undefined, { authId: demo.authId, authToken: guessed });
  const { body: sub } = await service.api('POST', 'Subaccount/', { name: 'sub', enabled: true });
  secrets.set('token of the sub-account', String(sub['auth_token']));
  await useConsole();
  await service.api('POST', 'Call/', {
    from: '14155550100',
    to: '14155550199',
    answer_url: `http://127.0.0.1:9/?key=${own('refused-url')}`,
  });
}

/** A user with a second factor, wrong passwords and a new password. */
async function useConsole(): Promise<void> {
  const email = 'boss@example.test';
  const { body: invited } = await service.admin('POST', '/users', { email, role: 'owner' });
  const token = String(invited['link']).split('/welcome/')[1] ?? '';
  secrets.set('invitation', token);
  const send = (method: string, path: string, body: Json, cookie = ''): Promise<Response> =>
    fetch(`${service.baseUrl}/console/api/${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-console': '1', cookie },
      body: JSON.stringify(body),
    });
  const password = own('console-password');
  const accepted = await send('POST', 'accept', { token, email, password });
  const cookie = String(accepted.headers.get('set-cookie')).split(';')[0] ?? '';
  secrets.set('session', cookie.split('=')[1] ?? 'no session');
  const { secret } = (await (await send('POST', 'totp', {}, cookie)).json()) as { secret: string };
  secrets.set('seed of the second factor', secret);
  const code = totpCode(secret, stepAt(Date.now()));
  const set = await send('PUT', 'totp', { secret, code, password }, cookie);
  expect(set.status).toBe(204);
  await send('POST', 'sign-in', { email, password: own('wrong-console-password') });
}

async function collect(): Promise<void> {
  const found = await eventually('the records', async () => {
    const { body } = await service.api('GET', 'cdr?per_page=10');
    const rows = body['data'] as Json[] | undefined;
    return rows !== undefined && rows.length > 0 ? rows : undefined;
  });
  const paths = [
    '/settings',
    '/doctor',
    '/log',
    '/status',
    '/audit',
    '/carriers',
    '/registrations',
    '/alarms',
  ];
  for (const { uuid } of found)
    for (const part of ['', '/messages']) paths.push(`/calls/${String(uuid)}${part}`);
  for (const path of paths) shown.set(path, (await service.admin('GET', path)).text);
  await service.admin('POST', '/backup');
}

/** Forms in which a secret may be written. */
const formsOf = (secret: string): readonly Buffer[] => [
  Buffer.from(secret),
  Buffer.from(encodeURIComponent(secret)),
  Buffer.from(Buffer.from(secret).toString('hex')),
  Buffer.from(secret, 'utf16le'),
  // The inner part of base64, whose ends depend on the neighbors.
  ...[0, 1, 2].map((shift) => {
    const text = Buffer.from(' '.repeat(shift) + secret).toString('base64');
    return Buffer.from(text.slice(4, -4));
  }),
];

function leaksIn(content: Buffer): readonly string[] {
  return [...secrets]
    .filter(([, secret]) =>
      formsOf(secret).some((form) => form.length > 8 && content.includes(form)),
    )
    .map(([name]) => name);
}

/** Lines of the log. The banner of the first start is not a log line: it shows how to place the first call. */
const logLines = (): string =>
  service.program.output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .join('\n');

describe('no secret leaves its place', () => {
  it('into the log of the process, also with debug messages', () => {
    expect(logLines()).toContain('"level":"debug"');
    expect(leaksIn(Buffer.from(logLines()))).toEqual([]);
  });

  it('into the files of the data folder, including the database and its backup', () => {
    const files = readdirSync(place.dataDir, { recursive: true, encoding: 'utf8' })
      .map((name) => ({ name, path: join(place.dataDir, name) }))
      .filter(({ path }) => statSync(path).isFile());
    expect(files.some(({ name }) => name.endsWith('.db'))).toBe(true);
    // keys/ and the file for the first call are what only the operator can read.
    const open = files.filter(({ name }) => !name.startsWith('keys/') && name !== 'demo.json');
    const leaks = open.flatMap(({ name, path }) =>
      leaksIn(readFileSync(path)).map((secret) => `${secret} in ${name}`),
    );
    // The database encrypts user and password of a URL, but not its query.
    expect(leaks.filter((leak) => !/^answer-token in .*\.db/.test(leak))).toEqual([]);
  });

  it('into what the operator sees: settings, log, doctor, traces, records', () => {
    expect(secrets.size).toBeGreaterThan(20);
    const leaks = [...shown].flatMap(([path, text]) =>
      leaksIn(Buffer.from(text)).map((secret) => `${secret} in ${path}`),
    );
    expect(leaks).toEqual([]);
  });
});
