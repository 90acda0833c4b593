/** A campaign over the public API: created, uploaded and started over REST, and verified against the carrier's own log. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Carrier, type Fate } from './carrier.ts';
import { Customer } from './customer.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

const FROM = '14155550100';
const CONTACTS = 24;
const numberOf = (row: number): string => `1415556${String(row).padStart(4, '0')}`;

/** Carrier behavior by the last digit of the number: answered, busy, not answered or unknown. */
const fateOf = (number: string): Fate => {
  switch (Number(number.slice(-1)) % 4) {
    case 0:
      return { kind: 'answered', talkMs: 1200 };
    case 1:
      return { kind: 'refused', status: '486 Busy Here' };
    case 2:
      return { kind: 'rings' };
    default:
      return { kind: 'refused', status: '404 Not Found' };
  }
};
const EXPECTED: Readonly<Record<number, readonly [status: string, cause: string]>> = {
  0: ['answered', 'NORMAL_CLEARING'],
  1: ['busy', 'USER_BUSY'],
  2: ['no_answer', 'NO_ANSWER'],
  3: ['failed', 'UNALLOCATED_NUMBER'],
};

let place: ServicePlace;
let service: Service;
let customer: Customer;
let carrier: Carrier;
let reported: Server;
/** Requests that `notify_url` received, unmodified. */
const events: { readonly body: string; readonly signature: string }[] = [];

beforeAll(async () => {
  place = await newPlace();
  [service, customer, carrier] = await Promise.all([
    Service.start(place),
    Customer.listen(),
    Carrier.listen(fateOf),
  ]);
  reported = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      events.push({ body, signature: String(request.headers['x-vobiz-signature']) });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(reported, 'listening');
  const account = `/accounts/${service.demo.authId}`;
  await service.admin('POST', `${account}/caller-ids`, { number: `+${FROM}` });
  await service.admin('PATCH', account, { concurrent_calls_limit: 40, cps_limit: 50 });
  const made = await service.admin('POST', '/carriers', {
    name: 'north',
    host: '127.0.0.1',
    port: carrier.port,
    transport: 'udp',
    prefixes: [''],
  });
  expect(made.status, made.text).toBe(201);
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  carrier.close();
  reported.close();
  removePlace(place);
});

/** Parses a CSV without quotes into one object per line, keyed by column name. */
const tableOf = (text: string): Readonly<Record<string, string>>[] => {
  const [head = '', ...lines] = text.trimEnd().split('\r\n');
  const names = head.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']));
  });
};

async function upload(id: string, csv: string): Promise<Json> {
  const { authId, authToken } = service.demo;
  const form = new FormData();
  form.append('file', new Blob([csv], { type: 'text/csv' }), 'contacts.csv');
  const reply = await fetch(`${service.baseUrl}/api/v1/account/${authId}/campaigns/${id}/upload`, {
    method: 'POST',
    headers: { 'x-auth-id': authId, 'x-auth-token': authToken },
    body: form,
  });
  expect(reply.status).toBe(200);
  return (await reply.json()) as Json;
}

it('calls every contact once and reports the same outcomes as the carrier', async () => {
  const hear = '<Response><Wait length="20"/></Response>';
  const agent = await service.api('POST', 'campaign/agents', {
    name: 'Reminders',
    answer_url: customer.xml('/answer', hear),
    hangup_url: `http://${customer.authority}/hangup`,
    sip_headers: { Kind: 'reminder' },
    ring_timeout: 2,
  });
  expect(agent.status, agent.text).toBe(201);
  const created = await service.api('POST', 'campaigns', {
    name: 'Spring',
    agent_id: agent.body['id'],
    max_concurrent: 8,
    timezone: 'UTC',
    caller_id_strategy: 'fixed',
    fixed_caller_id: FROM,
    notify_url: `http://127.0.0.1:${(reported.address() as AddressInfo).port}/told`,
  });
  expect(created.status, created.text).toBe(201);
  const id = String(created.body['id']);
  const rows = Array.from({ length: CONTACTS }, (_, i) => `+${numberOf(i + 1)},C${i + 1}`);
  const list = ['to,Customer', ...rows, 'nobody,C0', `+${numberOf(1)},twice`].join('\r\n');
  expect(await upload(id, list)).toMatchObject({
    valid_contacts: CONTACTS,
    invalid_rows: 2,
    custom_headers_detected: ['Customer'],
  });
  const started = await service.api('POST', `campaigns/${id}/start`);
  expect(started.body['status'], started.text).toBe('running');
  const done = await eventually(
    'the completion of the campaign',
    async () => {
      const { body } = await service.api('GET', `campaigns/${id}`);
      return body['status'] === 'completed' ? body : undefined;
    },
    60_000,
  );
  expect(done).toMatchObject({ total_contacts: CONTACTS, pending: 0, dialling: 0 });

  // Compares each result row with the carrier's log.
  const results = tableOf((await service.api('GET', `campaigns/${id}/results`)).text);
  expect(results).toHaveLength(CONTACTS);
  expect(carrier.calls).toHaveLength(CONTACTS);
  for (const result of results) {
    const number = result['to_number']?.slice(1) ?? '';
    const seen = carrier.calls.filter((call) => call.number === number);
    expect(seen, number).toHaveLength(1);
    const [call] = seen;
    const [status, cause] = EXPECTED[Number(number.slice(-1)) % 4] ?? [];
    expect(result, number).toMatchObject({
      status,
      hangup_cause: cause,
      attempt_number: '1',
      from_number_used: `+${call?.from}`,
    });
    expect(call?.headers, number).toMatchObject({
      'X-VH-Customer': `C${result['row_number']}`,
      'X-VH-Kind': 'reminder',
    });
    const talkedMs = (call?.endedMs ?? 0) - (call?.answeredMs ?? 0);
    const said = status === 'answered' ? talkedMs / 1000 : 0;
    expect(Math.abs(Number(result['duration']) - said), number).toBeLessThanOrEqual(1);
    const cdr = await service.api('GET', `cdr/${result['call_uuid']}`);
    expect(cdr.body['data'], number).toMatchObject({ campaign_id: id, hangup_cause: cause });
  }
  const counted = (status: string) => results.filter((one) => one['status'] === status).length;
  for (const status of ['answered', 'busy', 'no_answer', 'failed']) {
    expect(done[status], status).toBe(counted(status));
  }

  // Verifies the order and signatures of the webhooks.
  const last = await eventually('the last webhook', () =>
    events.find(({ body }) => body.includes('campaign.completed')),
  );
  expect(events.at(-1)).toBe(last);
  const { authToken } = service.demo;
  for (const { body, signature } of events) {
    const hmac = createHmac('sha256', authToken).update(body).digest('hex');
    expect(signature).toBe(`sha256=${hmac}`);
  }
  const names = events.map(({ body }) => (JSON.parse(body) as Json)['event']);
  expect(names[0]).toBe('campaign.started');
  for (const outcome of ['answered', 'no_answer']) {
    expect(names.filter((one) => one === `contact.${outcome}`)).toHaveLength(counted(outcome));
  }
});
