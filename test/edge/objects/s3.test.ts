import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createS3Store } from '../../../src/edge/objects/s3.ts';
import { fakeS3 } from './fake-s3.ts';

let s3: Awaited<ReturnType<typeof fakeS3>>;
let folder: string;
beforeEach(async () => {
  s3 = await fakeS3();
  folder = mkdtempSync(join(tmpdir(), 'carillon-s3-'));
});
afterEach(async () => {
  await s3.close();
  rmSync(folder, { recursive: true });
});

const fileOf = (content: string): string => {
  const file = join(folder, 'file');
  writeFileSync(file, content);
  return file;
};

describe('objects', () => {
  it('are stored, measured, read completely or by range, and deleted with signed requests', async () => {
    const store = createS3Store(s3.options);
    const key = "MA1/it's (a) *name*! ü.mp3";
    await store.put(key, fileOf('0123456789'));
    expect([...s3.objects.keys()]).toEqual([`/calls/node-1/${key}`]);
    expect(await store.size(key)).toBe(10);
    const whole = await store.get(key);
    expect([whole?.totalBytes, String(await buffer(whole?.body ?? Readable.from([])))]).toEqual([
      10,
      '0123456789',
    ]);
    const part = await store.get(key, { first: 2, last: 4 });
    expect([part?.bytes, part?.totalBytes]).toEqual([3, 10]);
    expect(String(await buffer(part?.body ?? Readable.from([])))).toBe('234');
    await store.remove(key);
    expect([await store.size(key), await store.get(key)]).toEqual([undefined, undefined]);
    await store.remove(key);
  });

  it('may use a bucket in the host name', async () => {
    const store = createS3Store({ ...s3.options, bucket: '', prefix: '' });
    await store.put('a/b', fileOf('x'));
    expect([...s3.objects.keys()]).toEqual(['/a/b']);
  });
});

describe('storage failures', () => {
  it('are retried, and are not reported if a retry succeeds', async () => {
    s3.failing.push(503, 500);
    await createS3Store(s3.options).put('a', fileOf('x'));
    expect(s3.requests).toHaveLength(3);
  });

  it("are reported with the storage's error code, without a key or secret", async () => {
    const store = createS3Store({ ...s3.options, secretAccessKey: 'wr0ng' });
    const refused = await store.put('a', fileOf('x')).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'OBJECTS_UNAVAILABLE' });
    expect(String(refused)).toContain('PUT of an object was answered 403 SignatureDoesNotMatch');
    expect(String(refused)).not.toMatch(/wr0ng|AKTEST/);
  });

  it('include an unreachable storage', async () => {
    const store = createS3Store({ ...s3.options, endpoint: 'http://127.0.0.1:9' });
    await expect(store.size('a')).rejects.toMatchObject({ code: 'OBJECTS_UNAVAILABLE' });
  });
});
