/** Recordings and daily exports in OpenStack Swift, an independent S3 storage that verifies every signature. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../src/base/duration.ts';
import { checkObjects } from '../../src/cli/doctor/objects.ts';
import { createS3Store } from '../../src/edge/objects/s3.ts';
import { Customer } from '../e2e/customer.ts';
import { accountWithHistory } from '../e2e/history.ts';
import { babble, makeUser, startCall } from '../e2e/phone.ts';
import {
  type AccountKey,
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { testSettings } from '../foundation.ts';
import { KEYS, REGION, type Swift, startSwift } from './swift.ts';
import { missing } from './tools.ts';

const BUCKET = 'calls';
/** Time limit for moving a recording, ms. The service checks every 30 s. */
const MOVED_WITHIN_MS = 60_000;

const isAbsent = missing('swift-proxy-server', 'swift-object-server', 'swift-ring-builder');

describe.skipIf(isAbsent)('S3 storage', () => {
  let folder: string;
  let swift: Swift;
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let account: AccountKey;
  const options = () => ({
    endpoint: swift.endpoint,
    bucket: BUCKET,
    region: REGION,
    prefix: 'node-1',
    ...KEYS,
  });
  /** Sends a request with an independent client. `path` is below the endpoint. */
  const ask = async (method: string, path: string): Promise<Response> =>
    new AwsClient({ ...KEYS, region: REGION, service: 's3' }).fetch(`${swift.endpoint}${path}`, {
      method,
    });
  const keys = async (): Promise<readonly string[]> => {
    const text = await (await ask('GET', `/${BUCKET}?list-type=2`)).text();
    return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
  };

  // Starts four Python programs and the service.
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-swift-'));
    swift = await startSwift(folder);
    expect((await ask('PUT', `/${BUCKET}`)).status).toBe(200);
    place = await newPlace({
      CARILLON_S3_ENDPOINT: swift.endpoint,
      CARILLON_S3_BUCKET: BUCKET,
      CARILLON_S3_REGION: REGION,
      CARILLON_S3_PREFIX: 'node-1',
      CARILLON_S3_ACCESS_KEY_ID: KEYS.accessKeyId,
      CARILLON_S3_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      CARILLON_RECORDINGS_STORAGE: 's3',
      CARILLON_DATA_EXPORT_TO_S3: 'true',
      CARILLON_DATA_EXPORT_HOUR_UTC: '0',
    });
    account = await accountWithHistory(place.dataDir, { days: 1 });
    [service, customer] = await Promise.all([Service.start(place), Customer.listen()]);
  }, 120_000);
  afterAll(async () => {
    await service?.kill();
    await customer?.close();
    await swift?.stop();
    if (place !== undefined) removePlace(place);
    rmSync(folder, { recursive: true, force: true });
  });

  it('stores objects of several megabytes and with unusual names, complete and by range', async () => {
    const store = createS3Store(options());
    const bytes = randomBytes(24_000_000);
    const file = join(folder, 'large');
    writeFileSync(file, bytes);
    const key = "MA1/it's (a) *name*! ü+&=.mp3";
    await store.put(key, file);
    expect(await store.size(key)).toBe(bytes.length);
    const whole = await store.get(key);
    expect(whole && sha256(await buffer(whole.body))).toBe(sha256(bytes));
    const part = await store.get(key, { first: 1_000_000, last: 1_000_099 });
    expect(part && { bytes: part.bytes, of: part.totalBytes }).toEqual({
      bytes: 100,
      of: bytes.length,
    });
    expect(part && (await buffer(part.body)).equals(bytes.subarray(1_000_000, 1_000_100))).toBe(
      true,
    );
    await store.remove(key);
    expect(await store.size(key)).toBeUndefined();
    await store.remove(key);
  });

  it('reports the reason for refusals (wrong key, wrong region, no bucket), and the doctor suggests a fix', async () => {
    const file = join(folder, 'small');
    writeFileSync(file, 'x');
    const put = (over: object) => createS3Store({ ...options(), ...over }).put('a', file);
    await expect(put({ secretAccessKey: 'wrong' })).rejects.toThrow('403 SignatureDoesNotMatch');
    await expect(put({ accessKeyId: 'nobody' })).rejects.toThrow(/403 \w+/);
    await expect(put({ region: 'elsewhere-1' })).rejects.toThrow(/40[03] \w+/);
    await expect(put({ bucket: 'absent' })).rejects.toThrow('there is no such bucket');

    const settings = (secret: string, bucket = BUCKET) =>
      testSettings({
        ...place.environment,
        CARILLON_S3_BUCKET: bucket,
        CARILLON_S3_SECRET_ACCESS_KEY: secret,
      });
    expect(await checkObjects(settings(KEYS.secretAccessKey))).toMatchObject({ verdict: 'ok' });
    const wrong = await checkObjects(settings('not-the-key'));
    expect(wrong).toMatchObject({
      verdict: 'problem',
      advice: expect.stringContaining('s3.secretAccessKey'),
    });
    expect(JSON.stringify(wrong)).not.toContain('not-the-key');
    expect(await checkObjects(settings(KEYS.secretAccessKey, 'absent'))).toMatchObject({
      advice: expect.stringContaining('Create the bucket'),
    });
    expect((await keys()).filter((key) => key.includes('doctor'))).toEqual([]);
  });

  it('stores finished recordings; the signed link stays valid, and deletion is permanent', async () => {
    const stop = `http://${customer.authority}/stop`;
    const answer = customer.xml(
      '/record',
      `<Response><Record maxLength="1" fileFormat="wav" playBeep="false" callbackUrl="${stop}"/></Response>`,
    );
    const user = await makeUser(service, 'recorded', { answer_url: answer }, account);
    const call = await startCall(service, user, { seconds: 5, voice: babble(3) });
    const { form } = await eventually('the recording', () => customer.at('/stop')[0]);
    call.hangUp();
    await call.report;
    const link = form['RecordUrl'] ?? '';
    const recordings = join(place.dataDir, 'recordings');
    const files = (): readonly string[] =>
      readdirSync(recordings, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.wav'),
      );
    const [name = ''] = files();
    const local = readFileSync(join(recordings, name));
    await eventually(
      'the move of the file',
      () => files().length === 0 || undefined,
      MOVED_WITHIN_MS,
    );
    const key = `node-1/recordings/${name}`;
    expect(await keys()).toContain(key);

    const whole = await fetch(link);
    expect([whole.status, sha256(new Uint8Array(await whole.arrayBuffer()))]).toEqual([
      200,
      sha256(local),
    ]);
    const part = await fetch(link, { headers: { range: 'bytes=44-143' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(local.subarray(44, 144))).toBe(true);
    expect((await fetch(link.replace(/(\w)$/, (last) => (last === '0' ? '1' : '0')))).status).toBe(
      401,
    );

    const deleted = await service.api(
      'DELETE',
      `Recording/${form['RecordingID']}/`,
      undefined,
      account,
    );
    expect(deleted.status).toBe(204);
    await eventually(
      'the deletion of the object',
      async () => !(await keys()).includes(key) || undefined,
    );
    expect((await fetch(link)).status).toBe(404);
  });

  it('receives the records and ledgers of each day', async () => {
    const day = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
    const done = `node-1/exports/${day}/done.json`;
    const listing = await eventually('the day', async () => {
      const reply = await ask('GET', `/${BUCKET}/${done}`);
      return reply.ok ? ((await reply.json()) as Json) : undefined;
    });
    expect(listing).toEqual({
      day,
      files: [{ file: `${day}/${account.authId}/ledger.csv.gz`, rows: 2 }],
    });
    const [first] = listing['files'] as { readonly file: string }[];
    const reply = await ask('GET', `/${BUCKET}/node-1/exports/${first?.file}`);
    const rows = gunzipSync(Buffer.from(await reply.arrayBuffer())).toString();
    expect(rows).toMatch(/(^|,)0\.24(,|$)/m);
  });
});

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
