/** The first session of an operator: start the service, place a call, check its record and bill, and stop. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer, echoBot, streamXml } from './customer.ts';
import { callFor, makeUser } from './phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  Program,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

/** Limit for the second start, ms. The target on an idle machine is 2 s; other tests run in parallel. */
const SECOND_START_LIMIT_MS = 15_000;
const START_CREDIT = 10;

let place: ServicePlace;
let service: Service;
let customer: Customer;
/** Output of all processes of this file, and the secrets that it must not contain. */
const written: string[] = [];

beforeAll(async () => {
  place = await newPlace({ CARILLON_LOG_LEVEL: 'debug' });
  service = await Service.start(place);
  customer = await Customer.listen();
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  removePlace(place);
});

const run = async (script: string, args: readonly string[], more = {}) => {
  const program = new Program(script, args, { ...place.environment, ...more });
  const status = await program.exited;
  return { status, stdout: program.stdout, stderr: program.stderr };
};

describe('the first start', () => {
  it('prints all data needed for a first call', async () => {
    const { demo } = service;
    const text = await service.banner();
    for (const needed of [
      demo.baseUrl,
      demo.authId,
      demo.authToken,
      demo.username,
      demo.password,
      demo.dial,
    ]) {
      expect(text).toContain(needed);
    }
    expect(text).toMatch(/curl .*balance\/USD/);
    expect(text).toContain(`127.0.0.1:${service.sipPort}`);
  });

  it('restricts the data folder to its owner', () => {
    const modes = readdirSync(service.dataDir, { recursive: true, withFileTypes: true }).map(
      (entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path, statSync(path).mode & 0o077];
      },
    );
    expect(modes.length).toBeGreaterThan(5);
    expect(modes.filter(([, others]) => others !== 0)).toEqual([]);
    expect(statSync(service.dataDir).mode & 0o777).toBe(0o700);
  });

  it('prints a working curl command', async () => {
    const line = /curl .*/.exec(await service.banner())?.[0] ?? '';
    const headers = Object.fromEntries(
      [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
    const response = await fetch(/http\S+$/.exec(line)?.[0] ?? '', { headers });
    expect(response.status).toBe(200);
    expect(JSON.stringify(await response.json())).toContain('10');
  });
});

describe('health and metrics', () => {
  it('is alive and ready while SIP, media and store are up', async () => {
    expect((await service.get('/healthz')).status).toBe(200);
    const ready = await service.get('/readyz');
    expect([ready.status, ready.body['status']]).toEqual([200, 'ready']);
  });

  it('exports metrics in the Prometheus text format', async () => {
    const { status, text } = await service.get('/metrics');
    expect(status).toBe(200);
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(
      samples.filter((line) => !/^[a-z_:][\w:]*(\{.*\})? [-+.\dENaIinf]+$/i.test(line)),
    ).toEqual([]);
    expect(text).toMatch(/^# TYPE voice_calls_active gauge$/m);
  });
});

describe('a call of the bundled phone', () => {
  let report: Awaited<ReturnType<typeof run>>;
  const files = mkdtempSync(join(tmpdir(), 'carillon-e2e-wav-'));
  const received = join(files, 'heard.wav');
  beforeAll(async () => {
    report = await run('src/phone/main.ts', ['--record', received]);
  });
  afterAll(() => rmSync(files, { recursive: true, force: true }));

  it('ends with status 0 after the echo was heard', () => {
    expect(report.status, report.stdout + report.stderr).toBe(0);
    expect(existsSync(received)).toBe(true);
  });

  it('has one timeline with SIP messages, elements with line numbers, callbacks and media', async () => {
    const recent = (await service.api('GET', 'cdr?per_page=1')).body['data'] as { uuid: string }[];
    const { body } = await service.api('GET', `Call/${recent[0]?.uuid}/log`);
    const log = body['log'] as { kind: string; text: string }[];
    const texts = log.map(({ kind, text }) => `${kind}: ${text}`);
    for (const expected of [
      /^sip: INVITE sip:/,
      /^sip: SIP\/2\.0 200/,
      /^sip: BYE /,
      /^xml: stream/,
      /^callback: StartApp/,
      /^media: media settled/,
    ]) {
      expect(texts.some((text) => expected.test(text))).toBe(true);
    }
  });

  it('counts documents and notifications in the metrics', async () => {
    await eventually('the hangup notification', async () => {
      const { text } = await service.get('/metrics');
      const reported = (event: string): boolean =>
        new RegExp(`voice_webhook_seconds_count\\{event="${event}",code="200"\\} [1-9]`).test(text);
      return reported('StartApp') && reported('Hangup') ? true : undefined;
    });
  });

  it('shows the measured call, its CDR and its ledger entries', () => {
    for (const row of [/setup/i, /delay/i, /jitter/i, /MOS/i, /Normal Hangup/]) {
      expect(report.stdout).toMatch(row);
    }
  });

  it('costs exactly one pulse of voice and one of the stream', async () => {
    const balance = await service.balance();
    // config/rates.json: sip 0.002 and stream 0.003 USD a minute, 60 s pulse.
    expect(Math.round(Number(balance['balance']) * 1e6)).toBe(START_CREDIT * 1e6 - 2000 - 3000);
    expect(Number(balance['reserved_funds'])).toBe(0);
  });

  it('leaves a CDR with separate entries for voice and stream', async () => {
    const { body } = await service.api('GET', 'cdr?per_page=20');
    const [line] = body['data'] as Json[];
    expect(line).toMatchObject({
      hangup_cause_code: 4000,
      hangup_source: 'Caller',
      cost: 0.002,
      streaming_cost: 0.003,
      total_cost: 0.005,
      codec: 'PCMU',
    });
    expect(Number(line?.['mos'])).toBeGreaterThan(3.5);
  });

  it('fails with status 1 and a message when the password is wrong', async () => {
    const { status, stderr } = await run('src/phone/main.ts', ['--password', 'not-the-password-1']);
    expect([status, stderr.trim().split('\n').length]).toEqual([1, 1]);
    expect(stderr).toMatch(/refused with 40[13]/);
  });
});

describe('operator API', () => {
  it("refuses requests without the operator token, or with an account's token", async () => {
    for (const headers of [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: `Bearer ${service.demo.authToken}` },
    ]) {
      expect((await fetch(`${service.baseUrl}/admin/v1/calls`, { headers })).status).toBe(401);
    }
  });

  it('creates and credits an account whose endpoint calls its own bot', async () => {
    const made = await service.admin('POST', '/accounts', {
      name: 'Second',
      currency: 'USD',
      concurrent_calls_limit: 5,
      cps_limit: 5,
    });
    expect(made.status).toBe(201);
    const as = { authId: String(made.body['auth_id']), authToken: String(made.body['auth_token']) };
    written.push(as.authToken);
    const credited = await service.admin('POST', `/accounts/${as.authId}/credit`, {
      amount: 1,
      currency: 'USD',
      description: 'first',
    });
    expect(credited.status).toBe(201);

    const bot = customer.bot('/second-bot', echoBot);
    const user = await makeUser(
      service,
      'bob',
      {
        answer_url: customer.xml('/second', streamXml(bot)),
        hangup_url: `http://${customer.authority}/second-hangup`,
      },
      as,
    );
    const report = await callFor(service, user, 1);
    expect(report.setupMs).toBeDefined();

    const cdr = await service.cdrOf(report.sipCallId, as);
    expect(cdr).toMatchObject({ hangup_cause_code: 4000, total_cost: 0.005 });
    expect((await service.balance(as))['balance']).toBe(0.995);
    const [hangup] = await eventually('the hangup notification', () =>
      customer.at('/second-hangup').length > 0 ? customer.at('/second-hangup') : undefined,
    );
    expect(hangup?.form).toMatchObject({
      Event: 'Hangup',
      HangupCauseCode: '4000',
      CallUUID: cdr['uuid'],
    });
    expect(hangup?.headers).toHaveProperty('x-vobiz-signature-v3');
  });

  it('lists a live call for the operator until the call ends', async () => {
    const running = callFor(service, service.demo, 1);
    const [call] = await eventually('a live call', async () => {
      const calls = (await service.admin('GET', '/calls')).body['calls'] as Json[];
      return calls.length > 0 ? calls : undefined;
    });
    expect(call?.['account_id']).toBe(service.demo.authId);
    await running;
    await eventually('no live call', async () =>
      (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
    );
  });

  it('supports operation from the command line', async () => {
    const status = await run('bin/carillon.mjs', ['status']);
    expect(status.status, status.stderr).toBe(0);
    const listed = await run('bin/carillon.mjs', ['--json', 'accounts', 'list']);
    expect(listed.status, listed.stderr).toBe(0);
    expect(listed.stdout).toContain(service.demo.authId);
    const wrong = await run('bin/carillon.mjs', ['--token', 'nonsense', 'accounts', 'list']);
    expect(wrong.status).toBe(1);
    expect(wrong.stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('stop and second start', () => {
  it('stops on SIGTERM with status 0, and keeps all data for the next start', async () => {
    const before = await service.balance();
    const records = (await service.api('GET', 'cdr')).body['data'];
    expect(records).not.toEqual([]);
    const first = service.demo;
    expect(await service.stop()).toBe(0);
    written.push(
      service.program.output.replace(/\n {2}Carillon \S+ is running[\s\S]*?\n {2}Stop .*\n/, ''),
    );

    service = await Service.start(place);
    expect(service.startedInMs).toBeLessThan(SECOND_START_LIMIT_MS);
    const text = await service.banner();
    expect(text).toMatch(/Browser phone +\S+\/phone\n/);
    expect(text).toMatch(/Console +\S+\/console\n/);
    expect(text).not.toContain(first.authToken);
    expect({ ...service.demo, baseUrl: '' }).toEqual({ ...first, baseUrl: '' });
    expect(await service.balance()).toEqual(before);
    // Housekeeping runs at every start. With the default retention it deletes no record.
    await eventually('the first run of housekeeping', async () =>
      (await service.get('/readyz')).status === 200 ? true : undefined,
    );
    expect((await service.api('GET', 'cdr')).body['data']).toEqual(records);
    expect((await callFor(service, service.demo, 1)).setupMs).toBeDefined();
  });

  it('writes no token, password or key to its log at log level debug', () => {
    const log = written.at(-1) ?? '';
    expect(log.split('\n').length).toBeGreaterThan(5);
    const { authToken, password } = service.demo;
    for (const secret of [
      authToken,
      password,
      service.adminToken,
      'correct-horse-9',
      ...written.slice(0, -1),
    ]) {
      expect(log.includes(secret), `a secret that begins with ${secret.slice(0, 3)}`).toBe(false);
    }
    expect(log).not.toMatch(/digest .*response=|x-auth-token["']?:/i);
  });
});
