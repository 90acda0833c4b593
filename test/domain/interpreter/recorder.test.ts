import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId, asCallUuid, asRecordingId, type RecordingId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
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

describe('recordings of a call through the REST API (dialect §3.4)', () => {
  it('return ID and link, and stop by ID', async () => {
    const { call } = await answered();
    const first = await scene.recorder.start(call, REQUEST);
    const second = await scene.recorder.start(call, { ...REQUEST, format: 'wav' });
    if (!first.ok || !second.ok) throw new Error('not started');
    expect(first.value.url).toBe(`https://media.test/${first.value.recordingId}.mp3?sig=s`);
    expect(scene.recorder.recordingsOf(call)).toHaveLength(2);
    expect(scene.recorder.stop(call, second.value.recordingId)).toBe(true);
    await settle();
    expect(scene.recorder.recordingsOf(call)).toEqual([first.value]);
    expect(scene.reported(CALLBACK.url)).toMatchObject([
      { RecordingID: second.value.recordingId, RecordingEndReason: 'API request' },
    ]);
  });

  it('stop all without an ID, and do nothing when repeated', async () => {
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.recorder.start(call, REQUEST);
    expect(scene.recorder.stop(call)).toBe(true);
    await settle();
    expect(scene.reported(CALLBACK.url)).toHaveLength(2);
    expect(scene.recorder.stop(call)).toBe(false);
  });

  it('pause and resume, by ID or all; a pause hides input from the timeline', async () => {
    const { call } = await answered();
    const first = await scene.recorder.start(call, REQUEST);
    const second = await scene.recorder.start(call, REQUEST);
    if (!first.ok || !second.ok) throw new Error('not started');
    const { recordingId } = second.value;
    expect(scene.recorder.pause(call, true, asRecordingId('unknown'))).toBe(0);
    expect(call.log.hidesInput).toBe(false);
    expect(scene.recorder.pause(call, true, recordingId)).toBe(1);
    expect(call.log.hidesInput).toBe(true);
    expect(scene.recorder.pause(call, true)).toBe(2);
    expect(scene.recorder.pause(call, false, recordingId)).toBe(1);
    expect(call.log.hidesInput).toBe(true);
    expect(scene.recorder.pause(call, false)).toBe(2);
    expect(call.log.hidesInput).toBe(false);
    expect(call.log.entries().map(({ text }) => text)).toEqual(
      expect.arrayContaining(['recording paused', 'recording resumed']),
    );
    scene.recorder.pause(call, true);
    scene.recorder.stop(call);
    await settle();
    expect(call.log.hidesInput).toBe(false);
    expect(scene.recorder.pause(call, true)).toBe(0);
  });

  it('does not begin if the recordings of the call were stopped during its start', async () => {
    const { call } = await answered();
    const starting = scene.recorder.start(call, REQUEST);
    expect(scene.recorder.stop(call)).toBe(true);
    expect(await starting).toMatchObject({ ok: false, error: { kind: 'wrongState' } });
    expect(scene.leg().recordings).toHaveLength(0);
    expect(scene.row().status).toBe('failed');
    expect(scene.recorder.stop(call)).toBe(false);
    expect((await scene.recorder.start(call, REQUEST)).ok).toBe(true);
  });

  it('does not begin paused because of an earlier recording that could not start', async () => {
    const { call } = await answered();
    scene.isStoreDown = true;
    const failing = scene.recorder.start(call, REQUEST);
    expect(scene.recorder.pause(call, true)).toBe(1);
    expect((await failing).ok).toBe(false);
    scene.isStoreDown = false;
    await scene.recorder.start(call, REQUEST);
    expect(scene.leg().recordings).toMatchObject([{ isPaused: false }]);
  });

  it('start paused while the recordings of the call are paused, also if the pause overtook the start', async () => {
    const { call } = await answered();
    const early = scene.recorder.start(call, REQUEST);
    expect(scene.recorder.pause(call, true)).toBe(1);
    await early;
    expect(call.log.hidesInput).toBe(true);
    await scene.recorder.start(call, REQUEST);
    const message = await scene.recorder.start(call, { ...REQUEST, sides: 'peer' });
    const isPaused = () => scene.leg().recordings.map((one) => one.isPaused);
    expect(isPaused()).toEqual([true, true, false]);
    expect(scene.recorder.pause(call, false)).toBe(3);
    expect(isPaused()).toEqual([false, false, false]);
    expect(call.log.hidesInput).toBe(false);
    expect(message.ok).toBe(true);
    scene.recorder.pause(call, true);
    scene.recorder.stop(call);
    await settle();
    await scene.recorder.start(call, REQUEST);
    expect(isPaused().at(-1)).toBe(false);
  });

  it('pause and resume by PauseRecording and ResumeRecording', async () => {
    const { call } = await scene.caller(
      '<Record recordSession="true"/><PauseRecording/><Wait length="5"/><ResumeRecording/><Wait length="60"/>',
    );
    await settle();
    expect(call.log.hidesInput).toBe(true);
    await scene.clock.advance(6000);
    expect(call.log.hidesInput).toBe(false);
  });

  it('stop a message of Record, and the document continues', async () => {
    const { call } = await scene.caller(
      '<Record playBeep="false" maxLength="9"/><Speak>Hi</Speak>',
    );
    scene.recorder.stop(call);
    await settle();
    expect(scene.spoken).toHaveLength(1);
  });

  it('refuse a fifth concurrent recording, started in parallel or in sequence', async () => {
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

  it('refuse a call that is not yet answered or has ended', async () => {
    const { call, ends, running } = await scene.caller('<Wait length="60"/>');
    const refusal = { ok: false, error: { kind: 'wrongState' } };
    expect(await scene.recorder.start(call, REQUEST)).toMatchObject(refusal);
    ends('cancel');
    await running;
    expect(await scene.recorder.start(call, REQUEST)).toMatchObject(refusal);
    expect(scene.rows.size).toBe(0);
  });

  it('leave no pending record if the call ends while the recording begins', async () => {
    const { call, ends } = await answered();
    const starting = scene.recorder.start(call, REQUEST);
    ends('bye');
    expect(await starting).toMatchObject({ ok: false, error: { kind: 'wrongState' } });
    expect(scene.row()).toMatchObject({ status: 'failed' });
  });

  it('refuse if the record cannot be stored', async () => {
    const { call } = await answered();
    scene.isStoreDown = true;
    expect(await scene.recorder.start(call, REQUEST)).toMatchObject({
      ok: false,
      error: { kind: 'notAvailable' },
    });
  });

  it('resolve idle() once all recordings are finalized', async () => {
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

  it('do not delay shutdown beyond the limit of idle()', async () => {
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

describe('store that rejects writes when a recording ends', () => {
  it('is retried: after recovery the recording is ready, reported once and charged under one key', async () => {
    scene.rateBook.put(RECORDING_RATE);
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.clock.advance(1_000);
    scene.isStoreFull = true;
    scene.recorder.stop(call);
    await scene.clock.advance(20_000);
    expect(scene.row().status).toBe('recording');
    expect(scene.reported(CALLBACK.url)).toEqual([]);
    scene.isStoreFull = false;
    await scene.clock.advance(20_000);
    expect(scene.row().status).toBe('ready');
    expect(scene.reported(CALLBACK.url)).toHaveLength(1);
    expect(scene.uses.charged).toHaveLength(1);
    expect(scene.uses.held.size).toBe(0);
    expect(scene.errors).toEqual([]);
  });

  it('leaves the record and its file to the next start if it does not recover', async () => {
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    scene.isStoreFull = true;
    scene.recorder.stop(call);
    await scene.clock.advance(600_000);
    scene.isStoreFull = false;
    expect(scene.row().status).toBe('recording');
    expect([...scene.files.keys()]).toContain(`MA_ONE/${scene.row().recordingId}.wav`);
    expect(scene.errors).toHaveLength(1);
  });
});

describe('price of a recording', () => {
  it('is posted once per recording, by rate and pulse', async () => {
    scene.rateBook.put(RECORDING_RATE);
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.clock.advance(61_000);
    scene.recorder.stop(call);
    await settle();
    const reference = `recording:${scene.row().recordingId}`;
    expect(scene.uses.charged).toEqual([{ amount: 20_000, referenceType: 'recording', reference }]);
    expect(scene.row().billedMs).toBe(120_000);
  });

  it('is reserved before the recording begins; without funds, it is refused', async () => {
    scene.rateBook.put(RECORDING_RATE);
    scene.uses.funds = 9_999;
    const { call } = await answered();
    const refused = await scene.recorder.start(call, REQUEST);
    expect(refused).toEqual({ ok: false, error: { kind: 'insufficientFunds' } });
    expect(scene.leg().recordings).toEqual([]);
    expect(scene.row().status).toBe('failed');
    expect(scene.uses.held.size).toBe(0);
  });

  it('ends the recording at the end of the paid pulse, and never exceeds the funds', async () => {
    scene.rateBook.put({ ...RECORDING_RATE, perMinute: micros(6_000_000), pulseMs: 1_000 });
    scene.uses.funds = 330_000;
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    expect(scene.uses.held.size).toBe(1);
    await scene.clock.advance(8_000);
    expect(scene.reported(CALLBACK.url)).toMatchObject([
      { RecordingEndReason: 'OutOfCredits', RecordingDuration: '3' },
    ]);
    expect(scene.uses.charged).toMatchObject([{ amount: 300_000 }]);
    expect(scene.uses.funds).toBe(30_000);
    expect(scene.row().billedMs).toBe(3_000);
    expect(call.isEnded).toBe(false);
  });

  it('does not increase during a pause', async () => {
    scene.rateBook.put({ ...RECORDING_RATE, perMinute: micros(6_000_000), pulseMs: 1_000 });
    scene.uses.funds = 200_000;
    const { call } = await answered();
    const started = await scene.recorder.start(call, REQUEST);
    if (!started.ok) throw new Error(started.error.kind);
    await scene.clock.advance(500);
    started.value.pause(true);
    await scene.clock.advance(60_000);
    expect(scene.leg().recordings[0]?.isOver).toBe(false);
    started.value.pause(false);
    await scene.clock.advance(1_400);
    expect(scene.leg().recordings[0]?.isOver).toBe(false);
    await scene.clock.advance(100);
    expect(scene.leg().recordings[0]?.isOver).toBe(true);
  });

  it('does not affect the recording if the ledger rejects the charge', async () => {
    scene.rateBook.put(RECORDING_RATE);
    scene.uses.isClosed = true;
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.clock.advance(1_000);
    scene.recorder.stop(call);
    await settle();
    expect(scene.row().status).toBe('ready');
    expect(scene.errors).toHaveLength(1);
  });

  it('is zero without a rate', async () => {
    const { call } = await answered();
    await scene.recorder.start(call, REQUEST);
    await scene.clock.advance(61_000);
    scene.recorder.stop(call);
    await settle();
    expect(scene.uses.charged).toEqual([]);
  });
});

describe('recordings of a room (dialect §3.5)', () => {
  let media: ScriptedRecording | undefined;
  const ROOM_CALLBACK = { url: 'https://app.test/room', method: 'POST' } as const;
  const finalized = () => scene.reported(ROOM_CALLBACK.url);
  const room = {
    record: (path: string) => {
      const options = { path, channels: 'both', stereo: false, silenceEndMs: 0, maxMs: 0 } as const;
      media = new ScriptedRecording(options, () => scene.clock.monotonicMs());
      return media;
    },
  } as unknown as MediaRoom;

  const startRoom = (maxMs: number) =>
    scene.recorder.startRoom(room, {
      accountId: asAccountId('MA_ONE'),
      currency: 'USD',
      conferenceName: 'Room',
      conferenceUuid: 'u1',
      format: 'mp3',
      maxMs,
      notice: {
        accountId: asAccountId('MA_ONE'),
        subject: 'u1',
        event: 'ConferenceRecord',
        target: ROOM_CALLBACK,
        parameters: [['ConferenceName', 'Room']],
      },
    });

  it("end at their time limit, and report their file with the recording's parameters", async () => {
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
    expect(finalized()).toMatchObject([
      {
        ConferenceName: 'Room',
        RecordingID: scene.row().recordingId,
        RecordingEndReason: 'maxLength',
      },
    ]);
  });

  it('end when stopped or with the room, and cancel their time limit', async () => {
    const started = await startRoom(30_000);
    if (started.ok) started.value.stop('API request');
    await settle();
    expect(finalized()).toMatchObject([{ RecordingEndReason: 'API request' }]);
    expect(scene.clock.nextMs()).toBeUndefined();
    await startRoom(0);
    media?.end('legEnded');
    await settle();
    expect(finalized()).toMatchObject([{}, { RecordingEndReason: 'HungUp' }]);
  });

  it('end at the end of the paid pulse, and do not begin without funds', async () => {
    scene.rateBook.put({ ...RECORDING_RATE, perMinute: micros(6_000_000), pulseMs: 1_000 });
    scene.uses.funds = 150_000;
    expect(await startRoom(0)).toMatchObject({ ok: true });
    await scene.clock.advance(1_000);
    expect(finalized()).toMatchObject([{ RecordingEndReason: 'OutOfCredits' }]);
    expect(scene.uses.funds).toBe(50_000);
    expect(await startRoom(0)).toEqual({ ok: false, error: { kind: 'insufficientFunds' } });
  });

  it('send no notification without a file', async () => {
    await startRoom(0);
    media?.end('failed', 'EIO');
    await settle();
    expect(finalized()).toEqual([]);
    expect(scene.row().status).toBe('failed');
  });
});

describe('recordings interrupted by a crash', () => {
  const interrupted = (recordingId: RecordingId): Recording => ({
    recordingId,
    accountId: asAccountId('MA_ONE'),
    subAccount: undefined,
    callUuid: asCallUuid('c1'),
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
    pendingCharges: {
      currency: 'USD',
      notice: {
        accountId: asAccountId('SA_ONE'),
        subject: 'c1',
        event: 'RecordStop',
        target: CALLBACK,
        parameters: [
          ['Event', 'RecordStop'],
          ['CallStatus', 'completed'],
        ],
      },
    },
  });
  const recover = async (...left: Recording[]): Promise<void> => {
    for (const row of left) scene.rows.set(row.recordingId, row);
    scene.recorder.recover(left);
    await scene.recorder.idle(1_000);
  };

  beforeEach(() => {
    scene.rateBook.put(RECORDING_RATE);
    scene.files.set('MA_ONE/r1.wav', 16_044);
  });

  it('become files with the written audio, or fail if there is none', async () => {
    await recover(interrupted(asRecordingId('r1')), interrupted(asRecordingId('r2')));
    expect(scene.rows.get('r1')).toMatchObject({
      status: 'ready',
      durationMs: 1000,
      endUs: 6_000_000,
      pendingCharges: undefined,
    });
    expect(scene.rows.get('r2')).toMatchObject({ status: 'failed' });
  });

  it('are left to the next start if their file cannot be opened now', async () => {
    scene.unreadable = 'MA_ONE/r1.wav';
    scene.files.set('MA_ONE/r2.wav', 16_044);
    await recover(interrupted(asRecordingId('r1')), interrupted(asRecordingId('r2')));
    expect(scene.rows.get('r1')).toMatchObject({ status: 'recording' });
    expect(scene.rows.get('r2')).toMatchObject({ status: 'ready' });
    scene.unreadable = undefined;
    await recover(interrupted(asRecordingId('r1')));
    expect(scene.rows.get('r1')).toMatchObject({ status: 'ready' });
  });

  it('are charged once, under the key of the previous process', async () => {
    await recover(interrupted(asRecordingId('r1')), interrupted(asRecordingId('r2')));
    expect(scene.uses.charged).toEqual([
      { amount: 10_000, referenceType: 'recording', reference: 'recording:r1' },
    ]);
  });

  it('are charged at their initial price, at most the reserved amount', async () => {
    const row = interrupted(asRecordingId('r1'));
    scene.files.set('MA_ONE/r1.wav', 16_044);
    scene.uses.funds = 70_000;
    scene.uses.held.set('recording:r1', micros(70_000));
    const rate = { perMinute: micros(6_000_000), pulseMs: 500 };
    await recover({
      ...row,
      pendingCharges: { currency: 'USD', notice: undefined, ...row.pendingCharges, rate },
    });
    // 1 s costs 0.1; one pulse of 0.05 is reserved in full.
    expect(scene.uses.charged).toMatchObject([{ amount: 50_000, reference: 'recording:r1' }]);
    expect(scene.uses.held.size).toBe(0);
  });

  it('send RecordStop after the file is ready, signed for the calling account', async () => {
    await recover(interrupted(asRecordingId('r1')), interrupted(asRecordingId('r2')));
    expect(scene.notifications).toEqual(scene.storedNotifications);
    expect(scene.notifications).toMatchObject([{ id: 'r1', accountId: 'SA_ONE', subject: 'c1' }]);
    expect(scene.reported(CALLBACK.url)).toEqual([
      {
        Event: 'RecordStop',
        CallStatus: 'completed',
        RecordingID: 'r1',
        RecordUrl: 'https://media.test/r1.mp3?sig=s',
        RecordFile: 'https://media.test/r1.mp3?sig=s',
        RecordingDuration: '1',
        RecordingDurationMs: '1000',
        RecordingStartMs: '5000',
        RecordingEndMs: '6000',
        RecordingEndReason: 'Failed',
        Digits: '',
      },
    ]);
  });

  it('send no notification without a callback, or if started before version 004', async () => {
    scene.files.set('MA_ONE/r2.wav', 16_044);
    const untold = { currency: 'USD', notice: undefined };
    await recover(
      { ...interrupted(asRecordingId('r1')), pendingCharges: untold },
      { ...interrupted(asRecordingId('r2')), pendingCharges: undefined },
    );
    expect([...scene.rows.values()].map(({ status }) => status)).toEqual(['ready', 'ready']);
    expect(scene.uses.charged).toHaveLength(1);
    expect(scene.notifications).toEqual([]);
  });

  it('keep their end if they ended before the crash and only the encoding was missing', async () => {
    const { call } = await answered();
    const started = await scene.recorder.start(call, REQUEST);
    if (!started.ok) throw new Error(started.error.kind);
    scene.encoderProblems.push(BUSY);
    started.value.stop('FinishedOnKey', '#');
    await settle();
    scene.recorder.recover([scene.row()]);
    await settle();
    expect(scene.row().status).toBe('ready');
    expect(scene.reported(CALLBACK.url)).toMatchObject([
      { RecordingEndReason: 'FinishedOnKey', Digits: '#', CallStatus: 'completed' },
    ]);
  });

  it('leave unfinished work to the next process', async () => {
    const { call } = await answered();
    await scene.recorder.start(call, { ...REQUEST, format: 'wav' });
    const left = scene.row();
    expect(left.pendingCharges).toMatchObject({
      currency: 'USD',
      notice: { accountId: 'MA_ONE', subject: call.uuid, event: 'RecordStop', target: CALLBACK },
    });
    scene.recorder.recover([left]);
    await settle();
    const [crashed] = scene.reported(CALLBACK.url);
    expect(crashed).toMatchObject({
      CallUUID: call.uuid,
      CallStatus: 'completed',
      RecordingEndReason: 'Failed',
    });
  });
});
