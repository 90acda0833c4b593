/**
 * An in-memory bucket over HTTP that verifies SigV4 signatures (AWS, "Create a signed request") independently of the
 * client.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const REGION = 'eu-test-1';
const KEYS = { accessKeyId: 'AKTEST', secretAccessKey: 'secret/of+the=test' };

export async function fakeS3() {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  /** Statuses returned for the next requests, before any processing. */
  const failing: number[] = [];
  const server = createServer(async (request, reply) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    requests.push(`${request.method} ${request.url}`);
    const fault = failing.shift() ?? (isSigned(request) ? undefined : 403);
    if (fault !== undefined) return refuse(reply, fault);
    answer(request, reply, objects, Buffer.concat(parts));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    objects,
    requests,
    failing,
    options: {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: 'calls',
      region: REGION,
      prefix: 'node-1',
      ...KEYS,
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function refuse(reply: ServerResponse, status: number): void {
  const code = status === 403 ? 'SignatureDoesNotMatch' : 'InternalError';
  reply.writeHead(status).end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}

function answer(
  { method, url = '', headers }: IncomingMessage,
  reply: ServerResponse,
  objects: Map<string, Buffer>,
  body: Buffer,
): void {
  const key = decodeURIComponent(url);
  const found = objects.get(key);
  if (method === 'PUT') {
    // S3 requires a length.
    const isMeasured = headers['content-length'] !== undefined;
    if (isMeasured) objects.set(key, body);
    reply.writeHead(isMeasured ? 200 : 411).end();
  } else if (method === 'DELETE') {
    objects.delete(key);
    reply.writeHead(204).end();
  } else if (found === undefined) {
    reply.writeHead(404).end();
  } else {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const part = first === undefined ? found : found.subarray(Number(first), Number(last) + 1);
    reply.writeHead(first === undefined ? 200 : 206, {
      'content-length': part.length,
      ...(first && { 'content-range': `bytes ${first}-${last}/${found.length}` }),
    });
    reply.end(method === 'HEAD' ? undefined : part);
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

function isSigned({ method, url = '', headers }: IncomingMessage): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, id, date = '', region, names = '', signature] =
    pattern.exec(headers.authorization ?? '') ?? [];
  if (id !== KEYS.accessKeyId || region !== REGION) return false;
  const [path = '', query = ''] = url.split('?');
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const payload = String(headers['x-amz-content-sha256']);
  const canonical = [method, path, query, lines.join(''), names, payload].join('\n');
  const scope = `${date}/${REGION}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [date, REGION, 's3', 'aws4_request'].reduce<string | Buffer>(
    (made, part) => hmac(made, part),
    `AWS4${KEYS.secretAccessKey}`,
  );
  return hmac(key, toSign).toString('hex') === signature;
}
