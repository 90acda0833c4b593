/**
 * Appointment campaign: calls each contact of a CSV file and asks for a confirmation with 1 or a new date with 2.
 *
 * `AUTH_ID=… AUTH_TOKEN=… CALLER_ID=14155550100 node examples/appointment-campaign/app.ts [port] [contacts.csv]`
 */
import { readFileSync } from 'node:fs';
import { Client, isSigned, isSignedBody } from '../../packages/client/src/client.ts';
import { type Callback, serveReplies, xml } from '../answer-server.ts';
import { portOr, publicUrl } from '../bot-server.ts';

const PORT = portOr(9022);
const BASE = publicUrl(PORT);
const CSV = process.argv[3] ?? new URL('contacts.csv', import.meta.url);
const {
  CARILLON_URL: url = 'http://127.0.0.1:8080',
  AUTH_ID: authId = '',
  AUTH_TOKEN: authToken = '',
  CALLER_ID = '14155550100',
} = process.env;
const carillon = new Client({ url, authId, authToken });

const response = (elements: string): string => `<Response>${elements}</Response>`;

/** Refuses requests that the service has not signed. */
async function checked({ headers, url: requested, body }: Callback): Promise<void> {
  const form = new URLSearchParams(body);
  if (!(await isSigned(headers, requested, authToken, form))) throw new Error('wrong signature');
}

async function answer(callback: Callback): Promise<string> {
  await checked(callback);
  // Columns of the contact list arrive as SIP headers.
  const name = callback.parameters.get('X-VH-Name') ?? '';
  const date = callback.parameters.get('X-VH-Date') ?? 'tomorrow';
  return response(
    `<GetDigits action="${BASE}/choice" numDigits="1" timeout="8" retries="2" validDigits="12">` +
      `<Speak>Hello ${xml(name)}. You have an appointment ${xml(date)}. ` +
      'Press 1 to confirm, or 2 if you need another date.</Speak></GetDigits>' +
      '<Speak>We will call again. Goodbye.</Speak>',
  );
}

async function choice(callback: Callback): Promise<string> {
  await checked(callback);
  const { parameters } = callback;
  const confirmed = parameters.get('Digits') === '1';
  console.log(`${parameters.get('To')}: ${confirmed ? 'confirmed' : 'needs another date'}`);
  return response(
    confirmed
      ? '<Speak>Thank you. Goodbye.</Speak>'
      : '<Speak>We will send you new dates. Goodbye.</Speak>',
  );
}

/** Prints the events of the campaign, which are signed over their body. */
async function event({ headers, body }: Callback): Promise<undefined> {
  if (!(await isSignedBody(headers, body, authToken))) throw new Error('wrong signature');
  console.log(`event: ${(JSON.parse(body) as { readonly event: string }).event}`);
}

async function start(): Promise<void> {
  const agent = await carillon.post('/api/v1/account/{auth_id}/campaign/agents', {
    body: { name: 'Appointments', answer_url: `${BASE}/answer` },
  });
  const { id } = await carillon.post('/api/v1/account/{auth_id}/campaigns', {
    body: {
      name: `Appointments ${new Date().toISOString().slice(0, 19)}`,
      agent_id: agent.id,
      max_concurrent: 2,
      timezone: 'UTC',
      caller_id_strategy: 'fixed',
      fixed_caller_id: `+${CALLER_ID}`,
      retry_attempts: 1,
      retry_delays: [60],
      notify_url: `${BASE}/event`,
    },
  });
  const path = { campaign_id: id };
  const contacts = { type: 'text/csv', body: readFileSync(CSV) };
  await carillon.upload('/api/v1/account/{auth_id}/campaigns/{campaign_id}/upload', contacts, {
    path,
  });
  await carillon.post('/api/v1/account/{auth_id}/campaigns/{campaign_id}/start', { path });
  console.log(`campaign ${id} started`);
}

serveReplies(PORT, { '/answer': answer, '/choice': choice, '/event': event });
await start();
