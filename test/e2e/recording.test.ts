/** Recordings of real calls, from the phone's audio to the file that a customer downloads. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWav } from '../../src/protocol/audio-file/audio-file.ts';
import { Customer } from './customer.ts';
import { babble, makeUser, startCall } from './phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';

let place: ServicePlace;
let service: Service;
let customer: Customer;

beforeAll(async () => {
  place = await newPlace();
  service = await Service.start(place);
  customer = await Customer.listen();
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  removePlace(place);
});

const stopOf = (path: string) =>
  eventually(`RecordStop at ${path}`, () =>
    customer.at(path).find(({ form }) => form['Event'] === 'RecordStop'),
  );

/** Downloads a recording with its link only, without credentials. */
async function fetched(url: string | undefined): Promise<Uint8Array> {
  const response = await fetch(url ?? '');
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

const loudness = (samples: Float32Array): number =>
  Math.sqrt(
    samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length),
  );

describe('a message recording', () => {
  it('ends at maxLength as an MP3 that the RecordStop link opens while the call continues', async () => {
    const callback = `http://${customer.authority}/message-stop`;
    const answer = customer.xml(
      '/message',
      `<Response><Record maxLength="2" playBeep="false" callbackUrl="${callback}"/><Wait length="20"/></Response>`,
    );
    const user = await makeUser(service, 'message', { answer_url: answer });
    const call = await startCall(service, user, { voice: babble(5) });
    const { form } = await stopOf('/message-stop');
    expect(form).toMatchObject({ RecordingEndReason: 'maxLength', CallStatus: 'in-progress' });
    expect(Math.abs(Number(form['RecordingDurationMs']) - 2000)).toBeLessThanOrEqual(40);
    const mp3 = await fetched(form['RecordUrl']);
    // The frame sync of MPEG audio: eleven set bits.
    expect([mp3[0], (mp3[1] ?? 0) & 0xe0]).toEqual([0xff, 0xe0]);
    // Expected size of one recording at 32 kbit/s mono.
    expect(Math.abs(mp3.length - 8000)).toBeLessThan(1500);
    call.hangUp();
    await call.report;
  });
});

describe('a session recording', () => {
  it("is reported after the hangup; in stereo the caller is left, and its length equals the call's", async () => {
    const events = `http://${customer.authority}/session-events`;
    const answer = customer.xml(
      '/session',
      `<Response><Record recordSession="true" maxLength="600" fileFormat="wav" playBeep="false" callbackUrl="${events}"/><Wait length="60"/></Response>`,
    );
    const user = await makeUser(service, 'session', { answer_url: answer, hangup_url: events });
    const call = await startCall(service, user, { seconds: 3, voice: babble(3) });
    const { talkedMs } = await call.report;
    const { form } = await stopOf('/session-events');
    expect(customer.at('/session-events').map((posted) => posted.form['Event'])).toEqual([
      'Hangup',
      'RecordStop',
    ]);
    expect(form).toMatchObject({ RecordingEndReason: 'HungUp', CallStatus: 'completed' });
    const wav = openWav(await fetched(form['RecordFile']));
    if (!wav.ok) throw new Error(wav.error);
    expect(wav.value).toMatchObject({ rate: 8000, channels: 2 });
    expect(talkedMs).toBeGreaterThanOrEqual(3000);
    expect(Math.abs(wav.value.length / 8 - talkedMs)).toBeLessThan(300);
    const bytes = await fetched(form['RecordFile']);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const side = (channel: 0 | 1) =>
      Float32Array.from(
        { length: wav.value.length },
        (_, i) => view.getInt16(wav.value.dataOffset + i * 4 + channel * 2, true) / 32768,
      );
    expect(loudness(side(0))).toBeGreaterThan(0.05);
    expect(loudness(side(1))).toBeLessThan(0.001);
  });

  it('is listed with its metadata, and its link refuses requests without a signature', async () => {
    const { body } = await service.api('GET', 'Recording/');
    const [recording] = body['objects'] as Json[];
    expect(recording).toMatchObject({ recording_format: 'wav', recording_type: 'call' });
    expect((await fetch(String(recording?.['recording_url']))).status).toBe(401);
  });
});

describe('the price of a recording', () => {
  it('is a separate ledger entry, by the rate and pulse in config/rates.json', async () => {
    const { body } = await service.api('GET', 'transactions?reference_type=recording');
    const entries = body['transactions'] as Json[];
    expect(entries).toHaveLength(2);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        type: 'debit',
        amount: 0.0005,
        reference_type: 'recording',
        status: 'completed',
      });
      expect(entry['reference']).toMatch(/^recording:[0-9a-f-]{36}$/);
    }
  });
});

/** Sizes of a WAV header, and of one millisecond of two channels at 8 kHz. */
const WAV_HEAD_BYTES = 44;
const STEREO_MS_BYTES = 32;

/** Returns the length on disk of each two-channel recording, finished or not. */
const recordedMs = (): Array<readonly [file: string, ms: number]> => {
  const folder = join(place.dataDir, 'recordings');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.wav'))
    .map((file) => [file, (statSync(join(folder, file)).size - WAV_HEAD_BYTES) / STEREO_MS_BYTES]);
};

describe('a crash during a recording', () => {
  it('loses only the latest audio: the next start completes the file, reports it and charges it', async () => {
    const callback = `http://${customer.authority}/crash-stop`;
    const answer = customer.xml(
      '/crash',
      `<Response><Record recordSession="true" maxLength="600" playBeep="false" callbackUrl="${callback}"/><Wait length="60"/></Response>`,
    );
    const user = await makeUser(service, 'crash', { answer_url: answer });
    const earlier = new Set(recordedMs().map(([file]) => file));
    const calledAtMs = performance.now();
    const call = await startCall(service, user, { seconds: 6, voice: babble(6) });
    await call.answered;
    const writtenMs = await eventually('two seconds on disk', () =>
      recordedMs()
        .filter(([file]) => !earlier.has(file))
        .map(([, ms]) => ms)
        .find((ms) => ms >= 2000),
    );
    await service.kill();
    const killedAtMs = performance.now();
    call.hangUp();
    await call.report.catch(() => undefined);
    service = await Service.start(place);
    const recording = await eventually('the recording', async () => {
      const { body } = await service.api('GET', 'Recording/');
      return (body['objects'] as Json[]).find(
        ({ recording_format: format }, i) => i === 0 && format === 'mp3',
      );
    });
    const retentionMs = Number(recording['recording_duration_ms']);
    expect(retentionMs).toBeGreaterThanOrEqual(writtenMs);
    expect(retentionMs).toBeLessThan(killedAtMs - calledAtMs);
    const { form } = await stopOf('/crash-stop');
    expect(form).toMatchObject({
      RecordingID: recording['recording_id'],
      RecordingEndReason: 'Failed',
      CallStatus: 'completed',
    });
    expect((await fetched(form['RecordUrl'])).byteLength).toBeGreaterThan(1000);
    const charges = await service.api(
      'GET',
      `transactions?reference=recording:${form['RecordingID']}`,
    );
    expect(charges.body).toMatchObject({ total: 1 });
    expect(customer.at('/crash-stop')).toHaveLength(1);
  });
});
