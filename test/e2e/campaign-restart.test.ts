/** Kills or stops the service while campaign calls ring: no contact loses an attempt, and no call counts as a failure. */
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

const FROM = '14155550100';
/** Number of contacts; exceeds the ten consecutive failures that pause a campaign. */
const CONTACTS = 12;

let place: ServicePlace;
let service: Service;
let customer: Customer;
let carrier: Carrier;

beforeAll(async () => {
  place = await newPlace({ CARILLON_CALLS_DRAIN_MS: '300' });
  [service, customer, carrier] = await Promise.all([
    Service.start(place),
    Customer.listen(),
    // The first call to a number rings until the caller cancels it; later ones are answered.
    Carrier.listen((_number, turn) =>
      turn === 0 ? { kind: 'rings' } : { kind: 'answered', talkMs: 100 },
    ),
  ]);
  const account = `/accounts/${service.demo.authId}`;
  await service.admin('POST', `${account}/caller-ids`, { number: `+${FROM}` });
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
  removePlace(place);
});

async function startCampaign(prefix: string): Promise<string> {
  const agent = await service.api('POST', 'campaign/agents', {
    name: 'Reminders',
    answer_url: customer.xml('/answer', '<Response><Wait length="20"/></Response>'),
    ring_timeout: 120,
  });
  const created = await service.api('POST', 'campaigns', {
    name: 'Restart',
    agent_id: agent.body['id'],
    max_concurrent: CONTACTS,
    timezone: 'UTC',
    caller_id_strategy: 'fixed',
    fixed_caller_id: FROM,
  });
  expect(created.status, created.text).toBe(201);
  const id = String(created.body['id']);
  const rows = Array.from({ length: CONTACTS }, (_, index) => `+${prefix}${1000 + index}`);
  const { authId, authToken } = service.demo;
  const form = new FormData();
  form.append('file', new Blob([['to', ...rows].join('\n')], { type: 'text/csv' }), 'list.csv');
  await fetch(`${service.baseUrl}/api/v1/account/${authId}/campaigns/${id}/upload`, {
    method: 'POST',
    headers: { 'x-auth-id': authId, 'x-auth-token': authToken },
    body: form,
  });
  await service.api('POST', `campaigns/${id}/start`);
  await eventually(
    'all calls to ring',
    () =>
      carrier.calls.filter(({ number }) => number.startsWith(prefix)).length === CONTACTS ||
      undefined,
    60_000,
  );
  return id;
}

it.each([
  ['kill -9', '1415561', () => service.kill()],
  ['a clean stop', '1415562', () => service.stop()],
] as const)('after %s calls every contact in flight again', async (_, prefix, end) => {
  const id = await startCampaign(prefix);
  await end();
  service = await Service.start(place);
  const done = await eventually(
    'the pause or completion of the campaign',
    async () => {
      const { body } = await service.api('GET', `campaigns/${id}`);
      return body['status'] === 'completed' || body['status'] === 'paused' ? body : undefined;
    },
    60_000,
  );
  expect(done).toMatchObject({
    status: 'completed',
    pause_reason: null,
    answered: CONTACTS,
    consecutive_failures: 0,
  });
  const calls = (await service.api('GET', `campaigns/${id}/contacts?limit=100`)).body['objects'];
  for (const contact of calls as Json[]) {
    expect(contact).toMatchObject({ status: 'answered', attempts: 1 });
  }
  for (const { number } of carrier.calls.filter((call) => call.number.startsWith(prefix))) {
    expect(carrier.calls.filter((call) => call.number === number)).toHaveLength(2);
  }
});
