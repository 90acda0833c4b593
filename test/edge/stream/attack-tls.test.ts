import type { TLSSocket, TlsOptions } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../eventually.ts';
import {
  acceptance,
  byteByByte,
  frame,
  pem,
  readPem,
  secureAttacker,
  text,
} from './attack-server.ts';
import { another, openStream } from './fixture.ts';

const cleanups: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const CHAIN = `${readPem('leaf')}${readPem('intermediate')}`;
const GOOD: TlsOptions = { key: readPem('leaf-key'), cert: CHAIN };
const CLEAR = text({ event: 'clearAudio' });

const open = (socket: TLSSocket, request: string): void => {
  socket.write(Buffer.concat([Buffer.from(acceptance(request)), CLEAR]));
};

async function attacked(options: TlsOptions, greet = open, host = '127.0.0.1', name?: string) {
  const server = await secureAttacker(options, greet, host);
  cleanups.push(() => server.stop());
  const url = name === undefined ? server.url : server.url.replace(host, name);
  const stream = openStream(url, {}, { caFile: pem('root') });
  cleanups.push(() => stream.streams.stop());
  return { ...stream, server };
}

describe('certificates', () => {
  it.each([
    ['an intermediate is missing', { cert: readPem('leaf') }, /UNABLE_TO_(VERIFY_LEAF|GET_ISSUER)/],
    ['it has expired', { cert: readPem('expired') }, /CERT_HAS_EXPIRED/],
    ['it is a client certificate', { cert: readPem('client-only') }, /INVALID_PURPOSE/],
  ])('%s: the connect failure names it', async (_what, more, words) => {
    const { reported } = await attacked({ ...GOOD, ...more });
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toEqual([
      { kind: 'connectFailed', detail: expect.stringMatching(words) },
    ]);
  });

  it.each([
    ['127.0.0.1', undefined, false],
    ['127.0.0.1', 'localhost', 'localhost'],
    ['127.0.0.1', 'localhost.', 'localhost'],
    ['::1', undefined, false],
  ])(
    '%s as %s is verified and sent as SNI only if it is a name (RFC 6066 §3)',
    async (host, name, sni) => {
      const requested: unknown[] = [];
      const { reported } = await attacked(
        GOOD,
        (socket, request) => {
          requested.push(socket.servername || false);
          open(socket, request);
        },
        host,
        name,
      );
      await until(() => reported.log.includes('cleared'), 'clear');
      expect(requested).toEqual([sni]);
    },
  );
});

describe('TLS versions and server behavior', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('connects with only %s', async (version) => {
    const { reported } = await attacked({ ...GOOD, minVersion: version, maxVersion: version });
    await until(() => reported.log.includes('cleared'), 'clear');
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'offers no client certificate; if one is required, the connection fails (%s)',
    async (version) => {
      const options = { ...GOOD, maxVersion: version, requestCert: true, ca: readPem('root') };
      const requested = await attacked({ ...options, rejectUnauthorized: false });
      await until(() => requested.reported.log.includes('cleared'), 'clear');
      const demanded = await attacked({ ...options, rejectUnauthorized: true });
      await until(() => demanded.reported.ends.length === 1, 'end');
      expect(demanded.reported.ends).toMatchObject([{ kind: 'connectFailed' }]);
    },
  );

  it('accepts records that arrive byte by byte', async () => {
    const { reported, server } = await attacked(GOOD);
    await until(() => reported.log.includes('cleared'), 'clear');
    const slow = await byteByByte(server.url);
    cleanups.push(() => slow.stop());
    const stream = openStream(slow.url, {}, { caFile: pem('root') });
    await until(() => stream.reported.log.includes('cleared'), 'clear');
    stream.streams.stop();
  });

  it('refuses renegotiation without affecting other sockets', async () => {
    let renegotiated = 0;
    const { reported, streams, server } = await attacked(
      { ...GOOD, maxVersion: 'TLSv1.2' },
      (socket, request) => {
        open(socket, request);
        socket.on('secure', () => {
          renegotiated += 1;
        });
        socket.renegotiate({}, (error) => {
          if (error === null) renegotiated += 1;
        });
        socket.write(CLEAR);
      },
    );
    await until(() => reported.ends.length === 1, 'the end of the connection');
    expect(reported.ends).toMatchObject([{ kind: 'dropped' }]);
    expect(reported.log).toEqual(expect.arrayContaining(['started', 'cleared']));
    const other = another(streams, { url: server.url });
    await until(() => other.log.includes('cleared'), 'another');
    expect(renegotiated).toBe(0);
  });

  it.each([
    ['close_notify, and TCP stays open', (socket: TLSSocket) => socket.end()],
    ['TCP ends without close_notify', (socket: TLSSocket) => socket.destroy()],
    [
      'TCP ends in the middle of a frame',
      (socket: TLSSocket) =>
        socket.write(frame(1, 'x'.repeat(100_000)).subarray(0, 50_000), () => socket.destroy()),
    ],
  ])('%s: dropped, once', async (_what, leave) => {
    const opened: TLSSocket[] = [];
    const { reported } = await attacked(GOOD, (socket, request) => {
      open(socket, request);
      opened.push(socket);
    });
    await until(() => reported.log.includes('cleared'), 'clear');
    for (const socket of opened) leave(socket);
    await until(() => reported.ends.length === 1, 'end');
    expect(reported.ends).toMatchObject([{ kind: 'dropped' }]);
  });
});
