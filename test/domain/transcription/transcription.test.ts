import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { type AccountId, asAccountId, asRecordingId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Micros } from '../../../src/base/money.ts';
import { err, ok } from '../../../src/base/result.ts';
import { systemRandom as random } from '../../../src/base/system-random.ts';
import type { RecognitionProblem } from '../../../src/domain/call/needs.ts';
import type { StoredNotification } from '../../../src/domain/callback/types.ts';
import type { Recording } from '../../../src/domain/recording/types.ts';
import { Transcriptions } from '../../../src/domain/transcription/transcription.ts';
import type { Transcription } from '../../../src/domain/transcription/types.ts';
import { SimClock, settle } from '../../sim/clock.ts';
import { FakeUses } from '../ledger/fake-uses.ts';

const accountId = asAccountId('MA_ONE');
const recordingId = asRecordingId('11111111-1111-4111-8111-111111111111');
const target = { url: 'https://app.test/words', method: 'POST' } as const;
const recording = { recordingId, accountId, status: 'ready', file: 'a/b.mp3' } as Recording;

function stage(problems: RecognitionProblem[] = []) {
  const rows = new Map<string, Transcription>();
  /** Failures of the next attempts to store an end. */
  const failures: Error[] = [];
  const reported: StoredNotification[] = [];
  const uses = new FakeUses();
  const clock = new SimClock();
  const recordings = new Map([[recordingId, recording]]);
  const files = { read: () => Promise.resolve<Uint8Array | undefined>(new Uint8Array(3)) };
  uses.rateBook.put({
    direction: 'transcription',
    prefix: '',
    perMinute: 6000 as Micros,
    pulseMs: 15_000,
    currency: 'USD',
    accountId: undefined,
  });
  const transcriptions = new Transcriptions({
    store: {
      insert: async (row) => void rows.set(row.transcriptionId, row),
      finish: async (id, end, notification) => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        const row = rows.get(id);
        if (row?.status !== 'waiting') return undefined;
        rows.set(id, { ...row, ...end });
        if (notification !== undefined) reported.push(notification);
        return rows.get(id);
      },
      get: async (id) => rows.get(id),
      ofRecording: async () => [...rows.values()],
      adopt: async () => [...rows.values()].filter(({ status }) => status === 'waiting'),
    },
    recordings: { get: async (id) => recordings.get(id) },
    files,
    recognizer: {
      transcribe: async () => {
        const problem = problems.shift();
        return problem === undefined
          ? ok({ text: 'good morning', confidence: 0.9, durationMs: 31_000 })
          : err(problem);
      },
    },
    ledger: uses,
    callbacks: { notifyStored: () => undefined },
    linkTo: ({ transcriptionId }) => `https://voice.test/${transcriptionId}/`,
    language: 'en-US',
    clock,
    random,
    logger: silentLogger,
  });
  const begin = () =>
    transcriptions.begin(recording, { callback: target }, { subject: 'call', currency: 'USD' });
  const parameters = () => Object.fromEntries(reported[0]?.parameters ?? []);
  const { charged } = uses;
  return {
    transcriptions,
    begin,
    rows,
    failures,
    reported,
    uses,
    charged,
    clock,
    recordings,
    files,
    parameters,
  };
}

describe('transcription of a recording (dialect §2.1 Record)', () => {
  it('runs when the file is complete, is charged once and reported', async () => {
    const { transcriptions, begin, charged, reported, parameters } = stage();
    await begin();
    await settle();
    expect(reported).toEqual([]);
    await transcriptions.filed(recordingId);
    await transcriptions.filed(recordingId);
    await transcriptions.idle();
    expect(parameters()).toMatchObject({
      transcription: 'good morning',
      recording_id: recordingId,
      // 31 s are three pulses of 15 s at 0.006 per minute.
      transcription_charge: '0.0045',
      transcription_rate: '0.006',
      duration: '31',
      error: '',
    });
    expect(charged).toMatchObject([{ amount: 4500, referenceType: 'transcription' }]);
    expect(charged[0]?.reference).toBe(`transcription:${parameters()['transcription_id']}`);
    expect(reported).toHaveLength(1);
  });

  it('is refused before recognition if the balance does not cover it', async () => {
    const { transcriptions, begin, uses, recordings, parameters } = stage();
    recordings.set(recordingId, { ...recording, durationMs: 31_000 });
    uses.funds = 4_499;
    await begin();
    await transcriptions.filed(recordingId);
    await transcriptions.idle();
    expect(parameters()).toMatchObject({
      status: 'failed',
      error: 'the balance does not cover the transcription',
    });
    expect([uses.funds, uses.held.size]).toEqual([4_499, 0]);
  });

  it('is retried when the recognizer fails, and finally reported as failed without a charge', async () => {
    const failed = { kind: 'failed', detail: 'it took too long' } as const;
    const { transcriptions, begin, charged, clock, parameters, reported } = stage([
      failed,
      failed,
      failed,
    ]);
    await begin();
    await transcriptions.filed(recordingId);
    await clock.advance(5_000);
    expect(reported).toEqual([]);
    await clock.advance(30_000);
    await transcriptions.idle();
    expect(parameters()).toMatchObject({
      transcription: '',
      status: 'failed',
      error: 'it took too long',
    });
    expect(charged).toEqual([]);
  });

  it('is stored and reported when a store that refuses writes accepts them again', async () => {
    const { transcriptions, begin, clock, failures, reported, charged } = stage();
    failures.push(new ServiceError('STORE_FULL', 'disk full'));
    await begin();
    await transcriptions.filed(recordingId);
    await settle();
    expect(reported).toEqual([]);
    await clock.advance(1000);
    expect(reported).toHaveLength(1);
    expect(charged).toHaveLength(1);
  });

  it('fails immediately without a recognizer or a file', async () => {
    const none = stage([{ kind: 'unavailable', detail: 'no recogniser of speech is set up' }]);
    await none.begin();
    await none.transcriptions.filed(recordingId);
    await none.transcriptions.idle();
    expect(none.parameters()).toMatchObject({ error: 'no recogniser of speech is set up' });
    const lost = stage();
    lost.recordings.set(recordingId, { ...recording, status: 'failed' });
    await lost.begin();
    await lost.transcriptions.filed(recordingId);
    await lost.transcriptions.idle();
    expect(lost.parameters()).toMatchObject({ error: 'the recording has no file' });
  });

  it('resumes after a restart, except for recordings whose file is not complete', async () => {
    const { transcriptions, begin, recordings, reported } = stage();
    await begin();
    recordings.set(recordingId, { ...recording, status: 'recording' });
    await transcriptions.recover();
    await transcriptions.idle();
    expect(reported).toEqual([]);
    recordings.set(recordingId, recording);
    await transcriptions.recover();
    await transcriptions.idle();
    expect(reported).toHaveLength(1);
  });

  it('is visible to its account and to the sub-account of its call', async () => {
    const { transcriptions, begin, rows } = stage();
    await begin();
    const [id = ''] = rows.keys();
    expect((await transcriptions.get(accountId, id)).ok).toBe(true);
    expect((await transcriptions.get(asAccountId('MA_TWO'), id)).ok).toBe(false);
    expect((await transcriptions.get(accountId, id, asAccountId('SA_ONE'))).ok).toBe(false);
    const idsOf = async (whose: AccountId, subAccount?: AccountId) =>
      (await transcriptions.ofRecording(whose, recordingId, subAccount)).map(
        ({ transcriptionId }) => transcriptionId,
      );
    expect(await idsOf(accountId)).toEqual([id]);
    expect(await idsOf(asAccountId('MA_TWO'))).toEqual([]);
    expect(await idsOf(accountId, asAccountId('SA_ONE'))).toEqual([]);
  });
});
