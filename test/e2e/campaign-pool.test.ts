/** Runs a campaign with a caller pool on a real service; the carrier counts the calls per caller number. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Carrier } from './carrier.ts';
import { Customer } from './customer.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

const NUMBERS = ['14155550100', '14155550101'];

let place: ServicePlace;
let service: Service;
let customer: Customer;
let carrier: Carrier;
let receiver: Server;
/** Names of the events that `notify_url` received. */
const events: string[] = [];

beforeAll(async () => {
  place = await newPlace();
  [service, customer, carrier] = await Promise.all([
    Service.start(place),
    Customer.listen(),
    Carrier.listen(() => ({ kind: 'answered', talkMs: 200 })),
  ]);
  receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const { event, reason } = JSON.parse(body) as Json;
      events.push(reason === undefined ? String(event) : `${event}:${reason}`);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const account = `/accounts/${service.demo.authId}`;
  for (const number of NUMBERS) {
    await service.admin('POST', `${account}/caller-ids`, { number: `+${number}` });
  }
  await service.admin('PATCH', account, { concurrent_calls_limit: 40, cps_limit: 100 });
  await service.admin('POST', '/carriers', {
    name: 'north',
    host: '127.0.0.1',
    port: carrier.port,
    transport: 'udp',
    prefixes: [''],
  });
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  carrier.close();
  receiver.close();
  removePlace(place);
});

/** Runs a campaign with two pool numbers until it pauses or completes. Returns its record. */
async function run(limits: Json, contacts: number, prefix: string): Promise<Json> {
  events.length = 0;
  carrier.calls.length = 0;
  const agent = await service.api('POST', 'campaign/agents', {
    name: 'Reminders',
    answer_url: customer.xml('/answer', '<Response><Wait length="20"/></Response>'),
  });
  const created = await service.api('POST', 'campaigns', {
    name: 'Pool',
    agent_id: agent.body['id'],
    max_concurrent: 10,
    timezone: 'UTC',
    caller_id_strategy: 'pool',
    ...limits,
    notify_url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`,
  });
  expect(created.status, created.text).toBe(201);
  const id = String(created.body['id']);
  const numbers = NUMBERS.map((number) => ({ from_number: number, label: '' }));
  const added = await service.api('POST', `campaigns/${id}/pool`, { numbers });
  expect(added.status, added.text).toBe(201);
  const rows = Array.from(
    { length: contacts },
    (_, index) => `+${prefix}${String(index).padStart(4, '0')}`,
  );
  const { authId, authToken } = service.demo;
  const form = new FormData();
  form.append('file', new Blob([['to', ...rows].join('\n')], { type: 'text/csv' }), 'list.csv');
  const uploaded = await fetch(
    `${service.baseUrl}/api/v1/account/${authId}/campaigns/${id}/upload`,
    {
      method: 'POST',
      headers: { 'x-auth-id': authId, 'x-auth-token': authToken },
      body: form,
    },
  );
  expect(uploaded.status).toBe(200);
  await service.api('POST', `campaigns/${id}/start`);
  return eventually(
    'the pause or completion of the campaign',
    async () => {
      const { body } = await service.api('GET', `campaigns/${id}`);
      const isOver = body['status'] === 'paused' || body['status'] === 'completed';
      return isOver && body['dialling'] === 0 ? body : undefined;
    },
    60_000,
  );
}

it.each([
  ['pool_max_calls_per_number', 'caller_pool_exhausted', 2, 6],
  ['pool_max_calls_per_number', 'caller_pool_exhausted', 4, 12],
  ['pool_max_calls_per_number', 'caller_pool_exhausted', 13, 30],
  ['pool_max_calls_per_day', 'caller_pool_daily_limit_reached', 2, 6],
  ['pool_max_calls_per_day', 'caller_pool_daily_limit_reached', 13, 30],
])(
  '%s pauses as %s after every number placed its %i calls',
  async (field, reason, limit, contacts) => {
    const turn = field === 'pool_max_calls_per_day' ? 5 : 6;
    const prefix = `14155${turn}${String(limit).padStart(1, '0').slice(-1)}`;
    const campaign = await run({ [field]: limit }, contacts, prefix);
    const dialled = NUMBERS.map((number) => carrier.calls.filter(({ from }) => from === number));
    expect(campaign).toMatchObject({
      status: 'paused',
      pause_reason: reason,
      consecutive_failures: 0,
    });
    expect(dialled.map(({ length }) => length)).toEqual([limit, limit]);
    expect(campaign).toMatchObject({ answered: 2 * limit, pending: contacts - 2 * limit });
    await eventually('the event of the pause', () =>
      events.find((event) => event.startsWith('campaign.paused')),
    );
    expect(events.filter((event) => event.startsWith('campaign.'))).toEqual([
      'campaign.started',
      `campaign.paused:${reason}`,
    ]);
  },
);
