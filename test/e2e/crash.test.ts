/** Kills, stops and misconfigures the service, and verifies the state it leaves. */

import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bot, Customer, echoBot, streamXml } from './customer.ts';
import { callFor, makeUser, type SipUser, startCall } from './phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  Program,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

const HEARTBEAT_MS = 200;
const FRAME_MS = 20;

let place: ServicePlace;
let service: Service;
let customer: Customer;
let user: SipUser;
let botReceivedMs = 0;

beforeAll(async () => {
  customer = await Customer.listen();
  place = await newPlace({
    CARILLON_CALLS_HEARTBEAT_MS: String(HEARTBEAT_MS),
    CARILLON_CALLS_DRAIN_MS: '1500',
  });
  service = await Service.start(place);
  user = await makeUser(service, 'carol', {
    answer_url: customer.xml('/answer', streamXml(customer.bot('/bot', countingBot))),
    hangup_url: `http://${customer.authority}/hangup`,
  });
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  removePlace(place);
});

/** An echo bot that counts the audio it has received. */
const countingBot: Bot = (socket, request) => {
  echoBot(socket, request);
  socket.on('message', (data) => {
    if (JSON.parse(String(data)).event === 'media') botReceivedMs += FRAME_MS;
  });
};

const hangups = (count: number) =>
  eventually(`${count} hangup notifications`, () =>
    customer.at('/hangup').length >= count ? customer.at('/hangup') : undefined,
  );

describe('kill -9 during an answered call', () => {
  const LIVED_MS = 1500;
  let cdrs: Json[];
  beforeAll(async () => {
    const call = await startCall(service, user);
    await call.answered;
    await eventually('enough audio at the bot', () => botReceivedMs >= LIVED_MS || undefined);
    expect(Number((await service.balance())['reserved_funds'])).toBeGreaterThan(0);
    await service.kill();
    call.hangUp();
    await call.report;
    service = await Service.start(place);
    cdrs = (await service.api('GET', 'cdr?per_page=20')).body['data'] as Json[];
  });

  it('leaves one closed CDR, billed up to the last heartbeat', async () => {
    expect(cdrs).toHaveLength(1);
    const [cdr] = cdrs;
    expect(cdr).toMatchObject({
      hangup_cause_code: 5010,
      hangup_source: 'Error',
      total_cost: 0.005,
    });
    const answeredMs =
      Date.parse(String(cdr?.['end_time'])) - Date.parse(String(cdr?.['answer_time']));
    expect(answeredMs).toBeGreaterThan(LIVED_MS - 4 * HEARTBEAT_MS);
    expect(answeredMs).toBeLessThan(LIVED_MS + 2000);
  });

  it('releases the reservation and debits exactly the amount in the CDR', async () => {
    expect(await service.balance()).toMatchObject({ balance: 9.995, reserved_funds: 0 });
  });

  it('delivers the hangup notification once, after the restart', async () => {
    const [hangup] = await hangups(1);
    expect(hangup?.form).toMatchObject({
      Event: 'Hangup',
      CallUUID: cdrs[0]?.['uuid'],
      HangupCauseCode: '5010',
    });
    expect(customer.at('/hangup')).toHaveLength(1);
  });

  it('accepts calls immediately after the restart', async () => {
    expect((await callFor(service, user, 1)).setupMs).toBeDefined();
    await hangups(2);
  });
});

describe('SIGTERM', () => {
  it('refuses new calls with 503, ends a running call at the drain limit, and exits with 0', async () => {
    const running = await startCall(service, user);
    await running.answered;
    const { baseUrl } = service;
    const stopped = service.stop();
    await eventually('not ready', async () =>
      (await fetch(`${baseUrl}/readyz`)).status === 503 ? true : undefined,
    );
    const refused = await callFor(service, user, 1);
    expect([refused.setupMs, refused.end.status]).toEqual([undefined, 503]);
    const { end, talkedMs } = await running.report;
    expect(end).toMatchObject({ by: 'remote', how: 'bye' });
    expect(talkedMs).toBeGreaterThan(1000);
    expect(await stopped).toBe(0);
    const last = (await hangups(3)).at(-1);
    expect(last?.form).toMatchObject({ HangupCauseCode: '4000' });

    service = await Service.start(place);
    expect(Number((await service.balance())['reserved_funds'])).toBe(0);
  });

  it('during the start stops the service after the start, with 0', async () => {
    const other = await newPlace();
    const program = new Program('src/main.ts', [], other.environment);
    const database = join(other.dataDir, 'carillon.db');
    await eventually('the database', () => existsSync(database) || undefined);
    program.child.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    removePlace(other);
  });
});

describe('a failing start prints one clear line', () => {
  /** Starts the service with these variables. Returns its exit status and output lines. */
  async function failedStart(more: Readonly<Record<string, string>>) {
    const other = await newPlace();
    const program = new Program('src/main.ts', [], { ...other.environment, ...more });
    const status = await program.exited;
    removePlace(other);
    const lines = program.stderr.trim().split('\n');
    return { status, lines, text: program.output };
  }

  it('SIP port in use', async () => {
    const { status, lines } = await failedStart({ CARILLON_SIP_PORT: String(service.sipPort) });
    expect(status).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`127.0.0.1:${service.sipPort}`);
  });

  it('HTTP port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number };
    const { status, lines } = await failedStart({ CARILLON_HTTP_PORT: String(port) });
    server.close();
    expect(status).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`127.0.0.1:${port}`);
  });

  it('data folder in use by another service', async () => {
    const { status, lines } = await failedStart({ CARILLON_DATA_DIR: service.dataDir });
    expect(status).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(service.dataDir);
  });

  it.each([
    ['an unknown variable', { CARILLON_HTPP_PORT: '8080' }, 'CARILLON_HTPP_PORT'],
    [
      'a value that is not a number',
      { CARILLON_CALLS_DRAIN_MS: 'soon' },
      'CARILLON_CALLS_DRAIN_MS',
    ],
    ['a missing file', { CARILLON_CONFIG: '/nowhere/settings.json' }, '/nowhere/settings.json'],
  ])('%s', async (_, more, named) => {
    const { status, lines } = await failedStart(more);
    expect(status).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(named);
  });

  it('an unknown key in a settings file', async () => {
    const file = join(place.dataDir, '..', 'settings.json');
    writeFileSync(file, JSON.stringify({ sip: { prot: 5060 } }));
    const { status, lines } = await failedStart({ CARILLON_CONFIG: file });
    expect([status, lines.length]).toEqual([1, 1]);
    expect(lines[0]).toContain('sip.prot');
  });
});
