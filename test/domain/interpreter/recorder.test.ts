import { beforeEach, describe, expect, it } from 'vitest';
import type { MediaRoom } from '../../../src/domain/call/needs.ts';
import type { CallRecordRequest } from '../../../src/domain/interpreter/recorder.ts';
import type { Recording } from '../../../src/domain/recording/types.ts';
import { settle } from '../../sim/clock.ts';
import { ListeningScene, RECORDING_RATE, ScriptedRecording } from './listening-scene.ts';

const CALLBACK = { url: 'https://app.test/record-stop', method: 'POST' } as const;
const REQUEST: CallRecordRequest = {
  format: 'mp3',
  channels: 'stereo',
  maxMs: 60_000,
  callback: CALLBACK,
};

const BUSY = { kind: 'busy', detail: 'too many' } as const;

let scene: ListeningScene;

beforeEach(() => {
  scene = new ListeningScene();
});

/** A call that is answered and waits. */
const answered = () => scene.caller('<Speak>.</Speak><Wait length="3600"/>');

describe('recordings of a call, on demand (dialect §3.4)', () => {
  it('answers the id and the link, and stops by id', async () => {
    const { call } = await answered();
    const first = await scene.recorder.start(call, REQUEST);
    const second = await scene.recorder.start(call, { ...REQUEST, format: 'wav' });
    if (!first.ok || !second.ok) throw new Error('not started');
    expect(first.value.url).toBe(`https://media.test/${first.value.recordingId}.mp3?sig=s`);
    expect(scene.recorder.recordingsOf(call)).toHaveLength(2);
    expect(scene.recorder.stop(call, second.value.recordingId)).toBe(true);
    await settle();
    expect(scene.recorder.recordingsOf(call)).toEqual([first.value]);
    expect(scene.told(CALLBACK.url)).toMatchObject([
      { RecordingID: second.value.recordingId, RecordingEndReason: 'API request' },
    ]);
  });

  it('stops all without an id, and nothing a second time', async () => {
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.recorder.start(call, REQUEST);
    expect(scene.recorder.stop(call)).toBe(true);
    await settle();
    expect(scene.told(CALLBACK.url)).toHaveLength(2);
    expect(scene.recorder.stop(call)).toBe(false);
  });

  it('ends a message of Record too: the document goes on', async () => {
    const { call } = await scene.caller(
      '<Record playBeep="false" maxLength="9"/><Speak>Hi</Speak>',
    );
    scene.recorder.stop(call);
    await settle();
    expect(scene.spoken).toHaveLength(1);
  });

  it('refuses a fifth at a time, started together or one after the other', async () => {
    const { call } = await answered();
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => scene.recorder.start(call, REQUEST)),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(4);
    expect(outcomes.at(-1)).toEqual({ ok: false, error: { kind: 'tooMany', limit: 4 } });
    scene.recorder.stop(call);
    await settle();
    expect(await scene.recorder.start(call, REQUEST)).toMatchObject({ ok: true });
  });

  it('refuses a call that is not answered yet, or has ended', async () => {
    const { call, ends, running } = await scene.caller('<Wait length="60"/>');
    const refusal = { ok: false, error: { kind: 'wrongState' } };
    expect(await scene.recorder.start(call, REQUEST)).toMatchObject(refusal);
    ends('cancel');
    await running;
    expect(await scene.recorder.start(call, REQUEST)).toMatchObject(refusal);
    expect(scene.rows.size).toBe(0);
  });

  it('a call that ends while its recording begins leaves no record that waits for ever', async () => {
    const { call, ends } = await answered();
    const starting = scene.recorder.start(call, REQUEST);
    ends('bye');
    expect(await starting).toMatchObject({ ok: false, error: { kind: 'wrongState' } });
    expect(scene.row()).toMatchObject({ status: 'failed' });
  });

  it('refuses where the record cannot be kept', async () => {
    const { call } = await answered();
    scene.isStoreDown = true;
    expect(await scene.recorder.start(call, REQUEST)).toMatchObject({
      ok: false,
      error: { kind: 'notAvailable' },
    });
  });

  it('resolves idle() once everything is a file', async () => {
    const { call } = await answered();
    scene.encoderProblems.push(BUSY);
    await scene.recorder.start(call, REQUEST);
    scene.recorder.stop(call);
    let isIdle = false;
    const idle = scene.recorder.idle(60_000).then(() => {
      isIdle = true;
    });
    await settle();
    expect(isIdle).toBe(false);
    await scene.clock.advance(1_000);
    await idle;
    expect(scene.row().status).toBe('ready');
    expect(scene.clock.nextMs()).toBeUndefined();
  });

  it('does not keep the end of the process waiting for longer than idle() is granted', async () => {
    const { call } = await answered();
    scene.encoderProblems.push(...Array.from({ length: 3 }, () => BUSY));
    await scene.recorder.start(call, REQUEST);
    scene.recorder.stop(call);
    let isIdle = false;
    void scene.recorder.idle(2_000).then(() => {
      isIdle = true;
    });
    await scene.clock.advance(1_999);
    expect(isIdle).toBe(false);
    await scene.clock.advance(1);
    expect(isIdle).toBe(true);
    expect(scene.row().status).toBe('recording');
  });
});

describe('the price of a recording', () => {
  it('is posted once per recording, by its rate and pulse, whether it is covered or not', async () => {
    scene.rateBook.put(RECORDING_RATE);
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.clock.advance(61_000);
    scene.recorder.stop(call);
    await settle();
    const reference = `recording:${scene.row().recordingId}`;
    expect(scene.postings).toEqual([
      { amount: -20_000, referenceType: 'recording', reference, key: reference },
    ]);
    // So that a balance that is low now is told of.
    expect(scene.charged).toEqual(['MA_ONE USD']);
  });

  it('that the ledger does not take leaves the recording to the customer all the same', async () => {
    scene.rateBook.put(RECORDING_RATE);
    scene.isLedgerClosed = true;
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.clock.advance(1_000);
    scene.recorder.stop(call);
    await settle();
    expect(scene.row().status).toBe('ready');
    expect(scene.charged).toEqual([]);
    expect(scene.errors).toHaveLength(1);
  });

  it('is nothing without a rate', async () => {
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.clock.advance(61_000);
    scene.recorder.stop(call);
    await settle();
    expect(scene.postings).toEqual([]);
  });
});

describe('recordings of a room (dialect §3.5)', () => {
  let media: ScriptedRecording | undefined;
  let filed: Array<Record<string, string>>;
  const room = {
    record: (path: string) => {
      const options = { path, channels: 'both', stereo: false, silenceEndMs: 0, maxMs: 0 } as const;
      media = new ScriptedRecording(options, () => scene.clock.monotonicMs());
      return media;
    },
  } as unknown as MediaRoom;

  beforeEach(() => {
    filed = [];
  });

  const startRoom = (maxMs: number) =>
    scene.recorder.startRoom(room, {
      accountId: 'MA_ONE',
      currency: 'USD',
      conferenceName: 'Room',
      conferenceUuid: 'u1',
      format: 'mp3',
      maxMs,
      filed: (parameters) => filed.push(Object.fromEntries(parameters)),
    });

  it('end with their time, and tell their file with the parameters of the recording', async () => {
    expect(await startRoom(30_000)).toMatchObject({ ok: true });
    await scene.clock.advance(29_999);
    expect(media?.isOver).toBe(false);
    await scene.clock.advance(1);
    expect(scene.row()).toMatchObject({
      status: 'ready',
      type: 'conference',
      conferenceName: 'Room',
      conferenceUuid: 'u1',
      callUuid: undefined,
      durationMs: 30_000,
    });
    expect(filed).toMatchObject([
      { RecordingID: scene.row().recordingId, RecordingEndReason: 'maxLength' },
    ]);
  });

  it('end when they are stopped, or with the room; nothing waits for their time then', async () => {
    const started = await startRoom(30_000);
    if (started.ok) started.value.stop('API request');
    await settle();
    expect(filed).toMatchObject([{ RecordingEndReason: 'API request' }]);
    expect(scene.clock.nextMs()).toBeUndefined();
    await startRoom(0);
    media?.end('legEnded');
    await settle();
    expect(filed).toMatchObject([{}, { RecordingEndReason: 'HungUp' }]);
  });

  it('tell nothing where there is no file', async () => {
    await startRoom(0);
    media?.end('failed', 'EIO');
    await settle();
    expect(filed).toEqual([]);
    expect(scene.row().status).toBe('failed');
  });
});

describe('recordings that a crash interrupted', () => {
  const interrupted = (recordingId: string): Recording => ({
    recordingId,
    accountId: 'MA_ONE',
    subAccount: undefined,
    callUuid: 'c1',
    conferenceName: undefined,
    conferenceUuid: undefined,
    fromNumber: '14155550100',
    toNumber: '14155550199',
    format: 'mp3',
    type: 'call',
    status: 'recording',
    file: `MA_ONE/${recordingId}.mp3`,
    bytes: 0,
    durationMs: 0,
    startUs: 5_000_000,
    endUs: undefined,
    addedUs: 5_000_000,
  });

  it('become files as far as they were written, or failed where nothing was; nothing is charged', async () => {
    scene.rateBook.put(RECORDING_RATE);
    scene.rows.set('r1', interrupted('r1'));
    scene.rows.set('r2', interrupted('r2'));
    scene.files.set('MA_ONE/r1.wav', 16_044);
    expect(await scene.recorder.recover()).toBe(2);
    await scene.recorder.idle(1_000);
    expect(scene.rows.get('r1')).toMatchObject({
      status: 'ready',
      durationMs: 1000,
      endUs: 6_000_000,
    });
    expect(scene.rows.get('r2')).toMatchObject({ status: 'failed' });
    expect(scene.postings).toEqual([]);
  });
});
