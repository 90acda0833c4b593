/** The listener: sockets, TLS, slow clients, proxies. */
import { copyFileSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import type { LogFields, Logger } from '../../../src/base/logger.ts';
import { type Service, type ServiceOptions, startService } from '../../spec/service.ts';

const FIXTURES = new URL('../../../fixtures/tls/', import.meta.url);
const running: Service[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
});

async function start(options: ServiceOptions = {}) {
  const service = await startService(options);
  running.push(service);
  const { url } = await service.server.start();
  return { service, url, port: Number(new URL(url).port) };
}

function logging() {
  const lines: LogFields[] = [];
  const write = (fields: LogFields) => lines.push(fields);
  const logger: Logger = {
    debug: write,
    info: write,
    warn: write,
    error: write,
    child: () => logger,
  };
  return { logger, lines };
}

describe('listener', () => {
  it('reports a port in use as PORT_IN_USE in one line', async () => {
    const { port } = await start();
    const second = await startService({ settings: { port } });
    running.push(second);
    await expect(second.server.start()).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringMatching(/^HTTP address 127\.0\.0\.1:\d+ is in use/),
    });
  });

  it('reports an unreadable certificate as CONFIG_INVALID', async () => {
    const tls = { certFile: '/nonexistent/cert.pem', keyFile: '/nonexistent/key.pem' };
    await expect(startService({ settings: { tls } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it('refuses headers above 16 KiB with 431', async () => {
    const { url } = await start();
    const reply = await fetch(`${url}/healthz`, { headers: { 'x-large': 'x'.repeat(17_000) } });
    expect(reply.status).toBe(431);
  });

  it('answers invalid HTTP with 400 without affecting other requests', async () => {
    const { url, port } = await start();
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('\u0000\u0001 nonsense\r\n\r\n'),
      );
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('limits the arrival time of a request', async () => {
    const { service } = await start();
    const { server } = service.server.app;
    expect(server.headersTimeout).toBeLessThanOrEqual(10_000);
    expect(server.requestTimeout).toBeLessThanOrEqual(900_000);
    expect(server.timeout).toBeLessThanOrEqual(60_000);
  });

  it('ends a slow body after 30 s and gives a list upload more time', async () => {
    const { service, port } = await start();
    const { authId, authToken } = service.account;
    const ask = (path: string, type: string) => {
      const socket = connect(port, '127.0.0.1');
      const answer = { text: '' };
      socket.on('data', (chunk) => {
        answer.text += chunk.toString();
      });
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nx-auth-id: ${authId}\r\nx-auth-token: ${authToken}\r\ncontent-type: ${type}\r\ncontent-length: 20\r\n\r\n{`,
      );
      return { socket, answer };
    };
    const calls = ask(`${service.root}/Call/`, 'application/json');
    const agent = { name: 'Desk', answer_url: 'https://a.example/x' };
    const { body } = await service.post(`${service.root}/campaign/agents`, agent);
    const plan = { name: 'x', max_concurrent: 1, timezone: 'UTC', caller_id_strategy: 'pool' };
    const made = await service.post(`${service.root}/campaigns`, { ...plan, agent_id: body.id });
    const upload = ask(`${service.root}/campaigns/${made.body.id}/upload`, 'text/csv');
    await expect.poll(() => service.store.campaigns.strayLists()).toHaveLength(1);
    await service.clock.advance(29_000);
    expect(calls.answer.text).toBe('');
    await service.clock.advance(1000);
    await expect.poll(() => calls.answer.text).toMatch(/^HTTP\/1\.1 408 /);
    expect(upload.answer.text).toBe('');
    calls.socket.destroy();
    upload.socket.destroy();
  });

  it('does not execute a request that is read after its 408, as after a pause of the machine', async () => {
    const { service, port } = await start();
    const { authId, authToken } = service.account;
    const { server } = service.server.app;
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    // The time limit has passed when the connection is accepted; the request waits in the buffer of the operating system.
    server.once('connection', (accepted) => server.emit('clientError', late, accepted));
    const body = JSON.stringify({ app_name: 'late', answer_url: 'https://a.example/x' });
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined); // the server may reset the connection
    socket.resume();
    socket.end(
      `POST ${service.root}/Application/ HTTP/1.1\r\nhost: x\r\nx-auth-id: ${authId}\r\nx-auth-token: ${authToken}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await new Promise((resolve) => socket.on('close', resolve));
    const listed = await service.get(`${service.root}/Application/`);
    expect(JSON.stringify(listed.body)).not.toContain('late');
  });

  it('finishes running requests on stop and ends those that take longer than 5 s', async () => {
    const { service, url } = await start();
    const requested = new Promise<void>((resolve) => {
      service.store.ledger.balance = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const { authId, authToken } = service.account;
    const answer = fetch(`${url}${service.root}/balance/USD`, {
      headers: { 'x-auth-id': authId, 'x-auth-token': authToken },
    }).catch(() => 'cut off');
    await requested;
    let stopped = false;
    const stopping = service.server.stop().then(() => {
      stopped = true;
    });
    await service.clock.advance(4999);
    expect(stopped).toBe(false);
    await service.clock.advance(1);
    await stopping;
    expect(await answer).toBe('cut off');
  });

  it.each([
    ['STORE_BUSY', 503, '1'],
    ['STORE_FULL', 507, '60'],
    ['STORE_CLOSED', 503, '5'],
    ['CONFLICT', 409, undefined],
  ] as const)(
    'returns %s of the store as %i, with Retry-After for temporary failures',
    async (code, status, retryAfter) => {
      const service = await startService();
      running.push(service);
      service.store.ledger.balance = () => Promise.reject(new ServiceError(code, 'detail of ours'));
      const reply = await service.get(`${service.root}/balance/USD`);
      expect([reply.status, reply.headers['retry-after']]).toEqual([status, retryAfter]);
      expect(reply.text).not.toContain('detail of ours');
    },
  );

  it('forbids caches to store replies', async () => {
    const { url } = await start();
    expect((await fetch(`${url}/healthz`)).headers.get('cache-control')).toBe('no-store');
  });

  it('logs the client address of X-Forwarded-For only from a trusted proxy', async () => {
    const seen = async (trustProxy: string[]) => {
      const { logger, lines } = logging();
      const { url } = await start({ logger, settings: { trustProxy } });
      await fetch(`${url}/healthz`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
      return lines.find((line) => line['path'] === '/healthz')?.['client'];
    };
    expect(await seen([])).toBe('127.0.0.1');
    expect(await seen(['127.0.0.1'])).toBe('203.0.113.9');
    expect(await seen(['10.0.0.0/8'])).toBe('127.0.0.1');
  });
});

describe('TLS', () => {
  const commonName = (port: number) =>
    new Promise<string>((resolve, reject) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      });
      socket.on('error', reject);
    });

  it('serves HTTPS and uses a renewed certificate without a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-tls-'));
    const tls = { certFile: join(folder, 'live.pem'), keyFile: join(folder, 'live.key') };
    const install = (name: string): void => {
      copyFileSync(new URL(`${name}.key`, FIXTURES), tls.keyFile);
      copyFileSync(new URL(`${name}.pem`, FIXTURES), tls.certFile);
    };
    install('first');
    const { lines, logger } = logging();
    const { url, port } = await start({ logger, settings: { tls } });
    expect(url).toMatch(/^https:/);
    expect(await commonName(port)).toBe('first.carillon.test');
    install('second');
    utimesSync(tls.certFile, new Date(), new Date(Date.now() + 1000));
    await expect
      .poll(() => commonName(port), { timeout: 15_000, interval: 250 })
      .toBe('second.carillon.test');
    expect(JSON.stringify(lines)).not.toContain('PRIVATE KEY');
    rmSync(folder, { recursive: true });
  });
});
