/**
 * Validation of callbacks: `AUTH_TOKEN=… node examples/webhooks/verify.ts [port]`
 *
 * `/answer` and `/hangup` are callbacks with a form, `/event` gets JSON events, for example of campaigns. Requests with
 * a wrong signature get 403.
 */
import { createServer } from 'node:http';
import { isSigned, isSignedBody } from '../../packages/client/src/client.ts';
import { portOr, publicUrl } from '../bot-server.ts';

const PORT = portOr(9026);
const { AUTH_TOKEN = '' } = process.env;
const MAX_BODY = 1 << 20;

createServer(async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) {
    body += part;
    if (body.length > MAX_BODY) return request.destroy();
  }
  // The URL as configured: behind a proxy, PUBLIC_URL has the public scheme and host.
  const url = publicUrl(PORT) + request.url;
  const isEvent = request.headers['content-type']?.startsWith('application/json') === true;
  const isValid = isEvent
    ? await isSignedBody(request.headers, body, AUTH_TOKEN)
    : await isSigned(request.headers, url, AUTH_TOKEN, new URLSearchParams(body));
  console.log(`${request.url}: ${isValid ? 'signed by the service' : 'REFUSED'}`);
  response.writeHead(isValid ? 200 : 403, { 'Content-Type': 'application/xml' });
  return response.end(isValid ? '<Response><Speak>Hello.</Speak></Response>' : '');
}).listen(PORT, '127.0.0.1', () => console.log(`serving ${publicUrl(PORT)}`));
