/** The recordings' disk fills during calls: the calls continue, and the recording reports why it ended. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { openWav } from '../../src/protocol/audio-file/audio-file.ts';
import { Customer } from './customer.ts';
import { babble, callFor, makeUser, startCall } from './phone.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from './service.ts';

/** Size of the disk, bytes. Two channels at 8 kHz need 32,000 bytes per second, so it holds two seconds. */
const DISK_BYTES = 64 * 1024;

let place: ServicePlace;
let folder: string;
let disk: { unmount(): void } | undefined;
let service: Service;
let customer: Customer;

beforeAll(async () => {
  place = await newPlace();
  folder = join(place.dataDir, 'recordings');
  mkdirSync(folder, { recursive: true });
  disk = mounted(folder);
  service = await Service.start(place);
  customer = await Customer.listen();
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  disk?.unmount();
  removePlace(place);
});

/** Mounts a small disk at `path`. Returns undefined if mounting is not possible. */
function mounted(path: string): { unmount(): void } | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', path], {
      stdio: 'ignore',
    });
  } catch {
    return undefined;
  }
  return { unmount: () => execFileSync('umount', ['-l', path]) };
}

const reported = (path: string, event: string) =>
  eventually(`${event} at ${path}`, () =>
    customer.at(path).find(({ form }) => form['Event'] === event),
  );

const bytesOnDisk = (): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.wav'))
    .reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

/** A document that records in two channels, plays a 3 s sound twice, and waits. */
function documentOf(name: string): { readonly answer: string; readonly events: string } {
  const events = `http://${customer.authority}/${name}-events`;
  const sound = writeWav({ rate: 8000, samples: babble(3) });
  const play = customer.page('/sound.wav', (response) => {
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(sound);
  });
  const record = `<Record recordSession="true" fileFormat="wav" playBeep="false" callbackUrl="${events}"/>`;
  const xml = `<Response>${record}<Play loop="2">${play}</Play><Wait length="30"/></Response>`;
  return { answer: customer.xml(`/${name}`, xml), events };
}

const loud = (received: Int16Array): number =>
  received.filter((sample) => Math.abs(sample) > 500).length;
/** Minimum number of loud samples. Two thirds of the sound are loud, and nearly every sample there counts. */
const LEAST_LOUD = 6 * 8000 * 0.55;

describe('a full recordings disk', () => {
  it('keeps this call and other calls playing; the recording is marked as failed and keeps the audio that fit', async ({
    skip,
  }) => {
    if (disk === undefined) return skip('cannot mount a separate disk on this machine');
    const { answer, events } = documentOf('full');
    const user = await makeUser(service, 'full', { answer_url: answer, hangup_url: events });
    const call = await startCall(service, user, { seconds: 8, voice: babble(8) });
    await call.answered;
    const withRecords = callFor(service, service.demo, 3, babble(3));
    const { form } = await reported('/full-events', 'RecordStop');
    expect(form).toMatchObject({ RecordingEndReason: 'Failed', CallStatus: 'in-progress' });
    expect(Number(form['RecordingDurationMs'])).toBeGreaterThan(1000);
    const wav = openWav(
      new Uint8Array(await (await fetch(form['RecordFile'] ?? '')).arrayBuffer()),
    );
    if (!wav.ok) throw new Error(wav.error);
    expect(wav.value).toMatchObject({ rate: 8000, channels: 2 });
    expect((await service.get('/readyz')).status).toBe(200);

    const { sipCallId, received, end } = await call.report;
    expect(end).toMatchObject({ by: 'local', how: 'bye' });
    expect(loud(received)).toBeGreaterThan(LEAST_LOUD);
    const record = await service.cdrOf(sipCallId);
    expect(record).toMatchObject({ hangup_cause: 'NORMAL_CLEARING' });
    const { body } = await service.api('GET', `Call/${String(record['uuid'])}/log`);
    expect(body['log']).toContainEqual(
      expect.objectContaining({
        text: 'recording ended',
        facts: expect.objectContaining({ reason: 'Failed', error: 'ENOSPC' }),
      }),
    );
    expect((await withRecords).packetsSent).toBeGreaterThan(100);
  });

  it('without any free space, does not record the call, plays all audio, and logs the reason', async ({
    skip,
  }) => {
    if (disk === undefined) return skip('cannot mount a separate disk on this machine');
    const { answer, events } = documentOf('none');
    writeFileSync(join(folder, 'rest'), '');
    try {
      expect(() => appendFileSync(join(folder, 'rest'), Buffer.alloc(2 * DISK_BYTES))).toThrow(
        'ENOSPC',
      );
      const before = bytesOnDisk();
      const user = await makeUser(service, 'none', { answer_url: answer, hangup_url: events });
      const { sipCallId, received, end } = await callFor(service, user, 7, babble(1));
      expect(end).toMatchObject({ by: 'local', how: 'bye' });
      expect(loud(received)).toBeGreaterThan(LEAST_LOUD);
      expect(bytesOnDisk()).toBe(before);
      const record = await service.cdrOf(sipCallId);
      const { body } = await service.api('GET', `Call/${String(record['uuid'])}/log`);
      expect(JSON.stringify(body['log'])).toContain('ENOSPC');
    } finally {
      rmSync(join(folder, 'rest'));
    }
  });
});
