/**
 * Connects WhatsApp Business Calling: creates the carrier, its codec, and the business number with its application.
 *
 * `ADMIN_TOKEN=… AUTH_ID=… AUTH_TOKEN=… NUMBER=14155550199 PASSWORD=… SOURCES=… ANSWER_URL=https://… node examples/whatsapp/setup.ts`
 */
import { readFileSync } from 'node:fs';
import { Client } from '../../packages/client/src/client.ts';

const {
  CARILLON_URL: url = 'http://127.0.0.1:8080',
  ADMIN_TOKEN: adminToken = '',
  AUTH_ID: authId = '',
  AUTH_TOKEN: authToken = '',
  NUMBER = '',
  PASSWORD = '',
  SOURCES = '',
  ANSWER_URL = '',
  COUNTRY = 'US',
  CURRENCY = 'USD',
  WHATSAPP_HOST,
  WHATSAPP_PORT,
} = process.env;
const carillon = new Client({ url, adminToken, authId, authToken });
const carrier = JSON.parse(readFileSync(new URL('carrier.json', import.meta.url), 'utf8'));

const { name } = await carillon.post('/admin/v1/carriers', {
  body: {
    ...carrier,
    auth: { username: NUMBER, password: PASSWORD },
    source_addresses: SOURCES.split(',').filter((source) => source !== ''),
    ...(WHATSAPP_HOST && { host: WHATSAPP_HOST }),
    ...(WHATSAPP_PORT && { port: Number(WHATSAPP_PORT) }),
  },
});
await carillon.put('/admin/v1/media-policies/{subject}/{name}', {
  path: { subject: 'carrier', name },
  body: { codecs: ['OPUS'] },
});
await carillon.post('/admin/v1/numbers', {
  body: { e164: NUMBER, country: COUNTRY, currency: CURRENCY, account_id: authId },
});
const { app_id } = await carillon.post('/api/v1/Account/{auth_id}/Application/', {
  body: { app_name: 'whatsapp', answer_url: ANSWER_URL },
});
await carillon.post('/api/v1/Account/{auth_id}/numbers/{e164_number}/application', {
  path: { e164_number: NUMBER },
  body: { application_id: Number(app_id) },
});
console.log(`carrier ${name} and number ${NUMBER} are ready`);
