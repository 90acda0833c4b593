import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../../src/domain/callback/needs.ts';
import { createEgressGuard } from '../../../src/edge/egress/egress.ts';
import { type CustomerHttp, createHttpCaller } from '../../../src/edge/webhook/http-caller.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let server: Server;
let base: string;
let handler: Handler;
let http: CustomerHttp;
let connections: number;
const spare: TcpServer[] = [];

const egress = createEgressGuard({
  allow: [],
  allowLoopback: true,
  allowInsecure: true,
  resolver: async (name) => [
    { address: name === 'inside.example' ? '10.0.0.1' : '127.0.0.1', family: 4 },
  ],
});

beforeEach(async () => {
  connections = 0;
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handler(request, response, Buffer.concat(chunks).toString('utf8')));
  });
  server.on('connection', () => {
    connections += 1;
  });
  base = await listen(server);
  http = createHttpCaller({ egress, connectionsPerHost: 2 });
});

afterEach(async () => {
  await http.close();
  server.closeAllConnections();
  server.close();
  for (const extra of spare.splice(0)) extra.close();
});

const listen = async (target: Server | TcpServer): Promise<string> => {
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
};

const post = (path: string, changes: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'POST',
  url: /^[a-z]+:/.test(path) ? path : base + path,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: 'CallUUID=abc&To=1',
  connectTimeoutMs: 500,
  readTimeoutMs: 500,
  maxResponseBytes: 1000,
  maxRedirects: 3,
  ...changes,
});

describe('HttpCaller: one request', () => {
  it('sends method, headers and body, and returns status, content type and text', async () => {
    handler = (request, response, body) => {
      response.setHeader('Content-Type', 'application/xml');
      response.statusCode = 201;
      response.end(`${request.method} ${request.headers['x-test']} ${body}`);
    };
    const result = await http.send(post('/answer', { headers: { 'X-Test': 'yes' } }));
    expect(result).toMatchObject({
      ok: true,
      value: { status: 201, contentType: 'application/xml', body: 'POST yes CallUUID=abc&To=1' },
    });
  });

  it('keeps connections open for the next request', async () => {
    handler = (_request, response) => response.end('ok');
    for (let i = 0; i < 10; i += 1) expect((await http.send(post('/'))).ok).toBe(true);
    // The second connection opens while the first one is still finishing its response.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('retries on a new connection if a kept-alive one was closed', async () => {
    let seen = 0;
    const odd = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => {
        seen += 1;
        if (seen === 2) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
    });
    spare.push(odd);
    const url = await listen(odd);
    expect((await http.send(post(url))).ok).toBe(true);
    expect((await http.send(post(url))).ok).toBe(true);
    expect(seen).toBe(3);
  });

  it.each([
    ['text/xml; charset=iso-8859-1', Buffer.from([0xe9]), 'é'],
    ['text/xml; charset="UTF-8"', Buffer.from('é', 'utf8'), 'é'],
    ['text/xml; charset=no-such-thing', Buffer.from('é', 'utf8'), 'é'],
    ['text/xml', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>\xe9', 'latin1'), 'é'],
    ['text/xml', Buffer.from('\uFEFFé', 'utf16le'), 'é'],
    ['text/xml; charset=utf-16', Buffer.from('\uFEFFé', 'utf16le').swap16(), 'é'],
    ['text/xml; charset=iso-8859-1', Buffer.from('\uFEFFé', 'utf8'), 'é'],
  ])('decodes %s', async (type, bytes, last) => {
    handler = (_request, response) => {
      response.setHeader('Content-Type', type);
      response.end(bytes);
    };
    const result = await http.send(post('/'));
    expect(result.ok && result.value.body.endsWith(last)).toBe(true);
  });
});

describe('HttpCaller: misbehaving servers', () => {
  it('reports a server that is down as connect', async () => {
    const closed = createTcpServer();
    const url = await listen(closed);
    await new Promise((resolve) => closed.close(resolve));
    expect(await http.send(post(url))).toMatchObject({ ok: false, error: { kind: 'connect' } });
  });

  it('reports a server that never responds as timeout', async () => {
    handler = () => undefined;
    const result = await http.send(post('/', { readTimeoutMs: 60 }));
    expect(result).toMatchObject({ ok: false, error: { kind: 'timeout' } });
  });

  it('applies the read timeout to the whole response of a server that sends single bytes', async () => {
    handler = (_request, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    };
    const result = await http.send(post('/', { readTimeoutMs: 150 }));
    expect(result).toMatchObject({ ok: false, error: { kind: 'timeout' } });
  });

  it.each([
    ['before its first byte', 0],
    ['within the body', 3],
  ])('abandons a server that stalls %s long before the read timeout', async (_when, bytes) => {
    handler = (_request, response) => {
      if (bytes > 0) response.write('x'.repeat(bytes));
    };
    const result = await http.send(post('/', { readTimeoutMs: 60_000, stallTimeoutMs: 60 }));
    expect(result).toMatchObject({
      ok: false,
      error: { kind: 'timeout', detail: 'nothing came for 60 ms' },
    });
  });

  it('accepts a slow server that keeps sending', async () => {
    handler = (_request, response) => {
      let left = 6;
      const timer = setInterval(() => {
        response.write('x');
        left -= 1;
        if (left > 0) return;
        clearInterval(timer);
        response.end();
      }, 40);
    };
    const result = await http.send(post('/', { readTimeoutMs: 60_000, stallTimeoutMs: 200 }));
    expect(result).toMatchObject({ ok: true, value: { body: 'xxxxxx' } });
  });

  it('cuts off a gigabyte at the limit, with or without Content-Length', async () => {
    let written = 0;
    handler = (request, response) => {
      if (request.url === '/announced') {
        response.setHeader('Content-Length', 1_000_000_000);
        response.write('x');
        return;
      }
      const pump = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(10_000))) written += 10_000;
      };
      response.on('drain', pump);
      pump();
    };
    for (const path of ['/announced', '/chunked']) {
      const result = await http.send(post(path));
      expect(result).toMatchObject({ ok: false, error: { kind: 'tooLarge' } });
    }
    expect(written).toBeLessThan(50_000_000);
  });

  it('reports a non-HTTP response as protocol', async () => {
    const odd = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('SIP/2.0 200 OK\r\n\r\n');
    });
    spare.push(odd);
    const result = await http.send(post(await listen(odd)));
    expect(result).toMatchObject({ ok: false, error: { kind: 'protocol' } });
  });

  it('ends the request immediately when the signal aborts', async () => {
    handler = () => undefined;
    const abort = new AbortController();
    const pending = http.send(post('/'), abort.signal);
    abort.abort();
    expect(await pending).toMatchObject({ ok: false, error: { kind: 'aborted' } });
  });

  it('reports that an aborted request was sent', async () => {
    const abort = new AbortController();
    handler = () => abort.abort();
    const { error } = (await http.send(post('/'), abort.signal)) as { readonly error?: object };
    expect(error).toMatchObject({ kind: 'aborted' });
    expect(error).not.toMatchObject({ isUnsent: true });
  });

  it('reports that an aborted request was not sent, because its host has no free connection', async () => {
    handler = () => undefined;
    const busy = [http.send(post('/')), http.send(post('/'))];
    const abort = new AbortController();
    const pending = http.send(post('/'), abort.signal);
    abort.abort();
    expect(await pending).toMatchObject({ error: { kind: 'aborted', isUnsent: true } });
    server.closeAllConnections();
    await Promise.all(busy);
  });

  it('reports that an aborted request was not sent, because there is no connection yet', async () => {
    handler = (_request, response) => response.end();
    const abort = new AbortController();
    const pending = http.send(post('/'), abort.signal);
    queueMicrotask(() => abort.abort());
    expect(await pending).toMatchObject({ error: { kind: 'aborted', isUnsent: true } });
  });

  it('never throws for an invalid URL', async () => {
    for (const url of ['', 'nonsense', 'http://', 'ftp://127.0.0.1/', 'http://a b/']) {
      expect((await http.send({ ...post('/'), url })).ok).toBe(false);
    }
  });
});

describe('HttpCaller: redirects', () => {
  it('follows up to the limit and keeps method and body on 301, 302, 307 and 308', async () => {
    for (const status of [301, 302, 307, 308]) {
      handler = (request, response, body) => {
        if (request.url === '/new') response.end(`${request.method} ${body}`);
        else response.writeHead(status, { Location: '/new' }).end();
      };
      const result = await http.send(post('/old'));
      expect(result).toMatchObject({ ok: true, value: { body: 'POST CallUUID=abc&To=1' } });
    }
  });

  it('303 becomes a GET without a body', async () => {
    handler = (request, response, body) => {
      if (request.url === '/new') response.end(`${request.method}[${body}]`);
      else response.writeHead(303, { Location: '/new' }).end();
    };
    expect(await http.send(post('/old'))).toMatchObject({ ok: true, value: { body: 'GET[]' } });
  });

  it('reports endless redirects as tooManyRedirects after three', async () => {
    let requests = 0;
    handler = (_request, response) => {
      requests += 1;
      response.writeHead(302, { Location: `/${requests}` }).end();
    };
    expect(await http.send(post('/'))).toMatchObject({
      ok: false,
      error: { kind: 'tooManyRedirects' },
    });
    expect(requests).toBe(4);
  });

  it.each([
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://inside.example/',
    'file:///etc/passwd',
  ])('refuses a redirect to %s like a direct request', async (location) => {
    handler = (_request, response) => response.writeHead(302, { Location: location }).end();
    expect(await http.send(post('/'))).toMatchObject({
      ok: false,
      error: { kind: 'refusedAddress' },
    });
    expect(await http.send(post(location))).toMatchObject({
      ok: false,
      error: { kind: 'refusedAddress' },
    });
  });

  it('sends credentials only to their configured origin', async () => {
    const seen: Array<string | undefined> = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end('ok');
    });
    spare.push(other);
    const elsewhere = await listen(other);
    handler = (request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(302, { Location: elsewhere }).end();
    };
    await http.send(post('/', { headers: { Authorization: 'Basic eDp5' } }));
    expect(seen).toEqual(['Basic eDp5', undefined]);
  });
});

describe('HttpCaller: an unresponsive host delays no other host', () => {
  it('limits its connections, queues the rest, and serves another host during that time', async () => {
    const waiting: ServerResponse[] = [];
    let arrived = (): void => undefined;
    const both = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    handler = (_request, response) => {
      waiting.push(response);
      if (waiting.length === 2) arrived();
    };
    const stuck = [1, 2, 3].map(() => http.send(post('/', { readTimeoutMs: 5000 })));
    await both;
    expect(http.counts()).toEqual({ hosts: 1, running: 2, waiting: 1 });

    const healthy = createServer((_request, response) => response.end('fine'));
    spare.push(healthy);
    expect(await http.send(post(await listen(healthy)))).toMatchObject({ ok: true });
    expect(waiting).toHaveLength(2);

    handler = (_request, response) => response.end('late');
    for (const response of waiting) response.end('late');
    expect((await Promise.all(stuck)).every((result) => result.ok)).toBe(true);
    expect(http.counts()).toEqual({ hosts: 0, running: 0, waiting: 0 });
  });

  it('fails a request that waits too long for a connection with timeout', async () => {
    handler = () => undefined;
    const stuck = [1, 2].map(() => http.send(post('/', { readTimeoutMs: 400 })));
    const late = await http.send(post('/', { connectTimeoutMs: 20, readTimeoutMs: 30 }));
    expect(late).toMatchObject({ ok: false, error: { kind: 'timeout' } });
    await Promise.all(stuck);
  });
});

describe('getBytes: audio files', () => {
  it('returns bytes, content type and etag', async () => {
    handler = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'audio/wav', ETag: '"1"' });
      response.end(Buffer.from([0, 255, 1]));
    };
    const limits = { maxBytes: 10, connectTimeoutMs: 500, readTimeoutMs: 500, maxRedirects: 3 };
    const result = await http.getBytes(`${base}/a.wav`, limits);
    expect(result).toMatchObject({
      ok: true,
      value: { status: 200, contentType: 'audio/wav', etag: '"1"' },
    });
    expect(result.ok && [...result.value.bytes]).toEqual([0, 255, 1]);
    expect(await http.getBytes(`${base}/a.wav`, { ...limits, maxBytes: 2 })).toMatchObject({
      ok: false,
      error: { kind: 'tooLarge' },
    });
  });
});
