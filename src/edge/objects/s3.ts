/** Objects in a bucket of Amazon S3 or a compatible service (MinIO, Ceph, R2, …), over HTTP requests signed with SigV4. */
import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AwsClient } from 'aws4fetch';
import { ServiceError } from '../../base/errors.ts';
import type { ObjectStore } from '../../base/object-store.ts';

export interface S3Options {
  /** Endpoint such as `https://s3.example`. Requests go to `<endpoint>/<bucket>/<key>`. */
  readonly endpoint: string;
  /** Bucket name. Empty if the endpoint's host name contains it. */
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Prefix of every key, without leading or trailing slashes. */
  readonly prefix: string;
}

/** Number of retries of an upload after network failures and 5xx, with increasing delays. */
const RETRIES = 3;
const SHORT_MS = 15_000;
/** Time limit for a transfer, ms; permits several hundred megabytes over a slow line. */
const TRANSFER_MS = 15 * 60_000;

export function createS3Store(options: S3Options): ObjectStore {
  const send = senderOf(options);
  return {
    async put(key, file) {
      // A file blob has a length, which S3 requires, and is read while it is sent.
      const body = await openAsBlob(file);
      const reply = await send(key, { method: 'PUT', body }, TRANSFER_MS);
      await reply.body?.cancel();
      if (reply.status === 404) throw unavailable('there is no such bucket');
    },
    async get(key, range) {
      const headers = range && { range: `bytes=${range.first}-${range.last}` };
      const reply = await send(key, { method: 'GET', ...(headers && { headers }) }, TRANSFER_MS);
      if (reply.status === 404 || reply.body === null) {
        await reply.body?.cancel();
        return undefined;
      }
      const bytes = Number(reply.headers.get('content-length'));
      const whole = /\/(\d+)$/.exec(reply.headers.get('content-range') ?? '')?.[1];
      return {
        body: Readable.fromWeb(reply.body as ReadableStream),
        bytes,
        totalBytes: whole === undefined ? bytes : Number(whole),
      };
    },
    async size(key) {
      const reply = await send(key, { method: 'HEAD' }, SHORT_MS);
      return reply.status === 404 ? undefined : Number(reply.headers.get('content-length'));
    },
    async remove(key) {
      const reply = await send(key, { method: 'DELETE' }, SHORT_MS);
      await reply.body?.cancel();
    },
  };
}

type Send = (
  key: string,
  init: NonNullable<Parameters<AwsClient['fetch']>[1]>,
  limitMs: number,
) => Promise<Response>;

/** Returns a function that sends a signed request. It resolves with a success or 404, and rejects otherwise. */
function senderOf(options: S3Options): Send {
  const { accessKeyId, secretAccessKey, region } = options;
  const aws = new AwsClient({
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    retries: RETRIES,
    initRetryMs: 200,
  });
  const urlOf = (key: string): string => {
    const parts = [options.bucket, options.prefix, ...key.split('/')].filter((part) => part !== '');
    return `${options.endpoint.replace(/\/+$/, '')}/${parts.map(encodePart).join('/')}`;
  };
  return async (key, init, limitMs) => {
    let reply: Response;
    try {
      reply = await aws.fetch(urlOf(key), { ...init, signal: AbortSignal.timeout(limitMs) });
    } catch (cause) {
      throw unavailable(`${init.method} of an object failed`, cause);
    }
    if (reply.ok || reply.status === 404) return reply;
    const text = await reply.text().catch(() => '');
    const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1] ?? '';
    throw unavailable(`${init.method} of an object was answered ${reply.status} ${code}`.trim());
  };
}

/** Encodes a path segment for SigV4: escapes everything but unreserved characters (RFC 3986 §2.3). */
const encodePart = (part: string): string =>
  encodeURIComponent(part).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const unavailable = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('OBJECTS_UNAVAILABLE', message, { cause });
