/** Callbacks over real sockets: the service's client and guard, and a customer's server that uses the plivo SDK. */

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemRandom } from '../../../src/base/system-random.ts';
import {
  type CallbackClient,
  createCallbackClient,
} from '../../../src/domain/callback/callback.ts';
import type { CallbackTarget } from '../../../src/domain/callback/types.ts';
import { systemClock } from '../../../src/edge/clock/system-clock.ts';
import { createEgressGuard } from '../../../src/edge/egress/egress.ts';
import { type CustomerHttp, createHttpCaller } from '../../../src/edge/webhook/http-caller.ts';

const sdk = createRequire(import.meta.url)('plivo') as {
  validateV3Signature(
    method: string,
    url: string,
    nonce: string,
    token: string,
    signature: string,
    parameters?: Record<string, string>,
  ): boolean;
};
const tls = (name: string): string =>
  readFileSync(new URL(`../../../fixtures/tls/${name}`, import.meta.url), 'utf8');

const TOKEN = 'account-token';
const parameters = [
  ['CallUUID', 'u-1'],
  ['From', 'sip:alice@reg.example'],
  ['CallerName', 'Ann & Bob é'],
  ['Event', 'StartApp'],
] as const;

const open: Array<{ close(): unknown }> = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(server);
  return (server.address() as AddressInfo).port;
};

/** Returns XML if the SDK accepts the signature, otherwise 403. */
const customer =
  (scheme: string) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
      const header = (name: string): string => String(request.headers[name] ?? '');
      const valid = sdk.validateV3Signature(
        request.method ?? '',
        `${scheme}://${request.headers.host}${request.url}`,
        header('x-plivo-signature-v3-nonce'),
        TOKEN,
        header('x-plivo-signature-v3'),
        body,
      );
      response.statusCode = valid ? 200 : 403;
      response.setHeader('Content-Type', 'text/xml');
      response.end(valid ? '<Response><Hangup/></Response>' : 'forged');
    });
  };

const clientWith = (ca?: string): CallbackClient => {
  const egress = createEgressGuard({ allow: [], allowLoopback: true, allowInsecure: true });
  const http: CustomerHttp = createHttpCaller({
    egress,
    connectionsPerHost: 4,
    ...(ca === undefined ? {} : { ca }),
  });
  open.push(http);
  return createCallbackClient({
    http,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    tokens: { tokensOf: async () => ({ own: TOKEN, parent: undefined }) },
    settings: {
      userAgent: 'Test/1',
      signatureHeaders: ['X-Vobiz-Signature', 'X-Plivo-Signature'],
      firstByteMs: 5000,
    },
    notifications: {
      put: async () => undefined,
      adopt: async () => 0,
      listPending: async () => [],
      recordAttempt: async () => undefined,
      remove: async () => undefined,
      removeUntil: async () => 0,
    },
    onAttempt: () => undefined,
  });
};

const fetchWith = (client: CallbackClient, target: CallbackTarget) =>
  client.fetchDocument(target, parameters, {
    kind: 'answer',
    accountId: asAccountId('MA_X'),
    callUuid: asCallUuid('u-1'),
    signal: AbortSignal.timeout(10_000),
  });

describe("a customer's server that validates with the plivo SDK", () => {
  it.each([
    ['POST', '/answer'],
    ['POST', '/answer?tenant=7&x=%C3%A9+y'],
    ['POST', ''],
    ['POST', '/caf\u00e9 menu?q=\u00e9'],
    ['GET', '/answer'],
    ['GET', '/answer?b=2&a=1'],
    ['POST', '/answer#rc=0&ct=500'],
  ] as const)('accepts %s %s', async (method, path) => {
    const port = await listen(createServer(customer('http')));
    const result = await fetchWith(clientWith(), {
      url: `http://127.0.0.1:${port}${path}`,
      method,
    });
    expect(result).toMatchObject({
      ok: true,
      value: { body: '<Response><Hangup/></Response>', contentType: 'text/xml' },
    });
  });

  it('is reached over https with its configured authority', async () => {
    const options = { cert: tls('localhost.pem'), key: tls('localhost-key.pem') };
    const port = await listen(createTlsServer(options, customer('https')));
    const target = { url: `https://localhost:${port}/answer#rc=0`, method: 'POST' } as const;
    expect(await fetchWith(clientWith(tls('ca.pem')), target)).toMatchObject({ ok: true });
    expect(await fetchWith(clientWith(), target)).toMatchObject({
      ok: false,
      error: { kind: 'unreachable', detail: expect.stringMatching(/certificate/) },
    });
  });
});
