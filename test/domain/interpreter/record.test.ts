import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../sim/clock.ts';
import { collectUnhandled } from '../../unhandled.ts';
import { ListeningScene, type ScriptedRecording } from './listening-scene.ts';
import { NOTHING_LEFT } from './scene.ts';

const ACTION = 'https://app.test/record-action';
const CALLBACK = 'https://app.test/record-stop';
const NEXT_DOCUMENT = 'https://app.test/next';

let scene: ListeningScene;

beforeEach(() => {
  scene = new ListeningScene();
  scene.documents.set(ACTION, 'OK');
  scene.documents.set(NEXT_DOCUMENT, '<Response><Wait length="3600"/></Response>');
});

const record = (attributes: string): string =>
  `<Record playBeep="false" maxLength="60" callbackUrl="${CALLBACK}" ${attributes}/>`;
const AND_WAIT = '<Wait length="3600"/>';

function recording(index = 0): ScriptedRecording {
  const found = scene.leg().recordings[index];
  if (found === undefined) throw new Error(`there is no recording ${index}`);
  return found;
}

const stops = (): Array<Record<string, string>> => scene.reported(CALLBACK);
const warned = (call: { log: { entries(): readonly { text: string }[] } }, text: string): boolean =>
  call.log.entries().some((entry) => entry.text === text);

describe('Record: message of the caller (dialect §2.1)', () => {
  it('beeps, then records only the caller while the document waits', async () => {
    const a = await scene.caller('<Record maxLength="30" timeout="7"/><Speak>Thanks</Speak>');
    expect(a.media.sounding).toHaveLength(1);
    expect(scene.leg().recordings).toHaveLength(0);
    a.media.sounding[0]?.complete();
    await settle();
    expect(recording().options).toEqual({
      path: expect.stringMatching(/^\/recordings\/MA_ONE\/[0-9a-f-]{36}\.wav$/),
      channels: 'received',
      stereo: false,
      ringback: false,
      silenceEndMs: 7000,
      maxMs: 30_000,
    });
    expect(scene.spoken).toHaveLength(0);
    recording().end('silence');
    await settle();
    expect(scene.spoken).toHaveLength(1);
  });

  it.each([
    ['silence', 'RecordingTimeout'],
    ['maxLength', 'maxLength'],
  ] as const)('reports RecordingEndReason %s after an end by %s', async (how, reason) => {
    await scene.caller(record('') + AND_WAIT);
    recording().end(how);
    await settle();
    expect(stops()).toMatchObject([{ RecordingEndReason: reason, Digits: '' }]);
  });

  it('ends at a key of finishOnKey, and reports the key', async () => {
    const a = await scene.caller(record('finishOnKey="*#"') + AND_WAIT);
    a.press('1');
    await settle();
    expect(recording().isOver).toBe(false);
    a.press('#');
    await settle();
    expect(stops()).toMatchObject([{ RecordingEndReason: 'FinishedOnKey', Digits: '#' }]);
  });

  it('leaves keys that are pressed after it to the next elements', async () => {
    const keys = 'https://app.test/keys';
    scene.documents.set(keys, '<Response><Wait length="3600"/></Response>');
    const gather = `<Gather action="${keys}" numDigits="1" typeAhead="true"><Speak>.</Speak></Gather>`;
    const a = await scene.caller(`${record('')}<Speak>Thanks</Speak>${gather}`);
    recording().end('silence');
    await settle();
    a.press('5');
    a.media.sounding[0]?.complete();
    await settle();
    expect(scene.requests.at(-1)).toMatchObject({ url: keys, parameters: { Digits: '5' } });
  });

  it('keeps the message when the caller hangs up, and reports it after the hangup', async () => {
    const reported = Promise.withResolvers<void>();
    scene.hangupReported = reported.promise;
    const a = await scene.caller(record(''));
    await scene.clock.advance(4_000);
    a.ends('bye');
    await a.running;
    await settle();
    expect(stops()).toEqual([]);
    reported.resolve();
    await settle();
    expect(scene.row()).toMatchObject({ status: 'ready', durationMs: 4000 });
    expect(stops()).toMatchObject([{ RecordingEndReason: 'HungUp', CallStatus: 'completed' }]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('keeps the message when a transfer interrupts it', async () => {
    const a = await scene.caller(record(''));
    await scene.clock.advance(2_000);
    a.interpreter.transfer({ url: NEXT_DOCUMENT, method: 'POST' });
    await settle();
    expect(stops()).toMatchObject([{ RecordingEndReason: 'Interrupted' }]);
    expect(a.call.isEnded).toBe(false);
  });

  it('records stereo on request: left = audio from the caller, right = audio to the caller', async () => {
    await scene.caller(record('recordChannelType="stereo"'));
    expect(recording().options).toMatchObject({ channels: 'both', stereo: true });
  });
});

describe('Record: the file and its callback (spec: fires when the file is downloadable)', () => {
  it('writes WAV, converts to MP3 after the end, and sends RecordStop only then', async () => {
    const a = await scene.caller(record('') + AND_WAIT);
    const startMs = scene.clock.wallMs();
    expect(scene.row()).toMatchObject({
      accountId: 'MA_ONE',
      callUuid: a.call.uuid,
      fromNumber: '14155550100',
      toNumber: '14155550199',
      status: 'recording',
      format: 'mp3',
      type: 'call',
    });
    await scene.clock.advance(10_080);
    expect(scene.encoded).toEqual([]);
    recording().end('silence');
    await settle();
    const { recordingId } = scene.row();
    const url = `https://media.test/${recordingId}.mp3?sig=s`;
    expect(stops()).toMatchObject([
      {
        Event: 'RecordStop',
        CallUUID: a.call.uuid,
        RecordingID: recordingId,
        RecordUrl: url,
        RecordFile: url,
        RecordingDuration: '10',
        RecordingDurationMs: '10080',
        RecordingStartMs: String(startMs),
        RecordingEndMs: String(startMs + 10_080),
      },
    ]);
    expect(scene.row()).toMatchObject({
      status: 'ready',
      bytes: 1234,
      durationMs: 10_080,
      startUs: startMs * 1000,
      endUs: (startMs + 10_080) * 1000,
    });
    expect([...scene.files.keys()]).toEqual([`MA_ONE/${recordingId}.mp3`]);
  });

  it('keeps a WAV recording unchanged', async () => {
    await scene.caller(record('fileFormat="wav"') + AND_WAIT);
    recording().end('silence');
    await settle();
    expect(scene.encoded).toEqual([]);
    expect(scene.row()).toMatchObject({ status: 'ready', format: 'wav', bytes: 16_044 });
    expect(stops()[0]?.['RecordUrl']).toContain('.wav?');
  });

  it('keeps the WAV and reports its link if the MP3 conversion fails', async () => {
    scene.encoderProblems.push({ kind: 'failed', detail: 'no space' });
    await scene.caller(record('') + AND_WAIT);
    recording().end('silence');
    await settle();
    expect(scene.row()).toMatchObject({ status: 'ready', format: 'wav' });
    expect(scene.row().file).toMatch(/\.wav$/);
    expect(stops()[0]?.['RecordUrl']).toContain('.wav?');
  });

  it('retries a busy encoder', async () => {
    const busy = { kind: 'busy', detail: 'too many' } as const;
    scene.encoderProblems.push(busy, busy);
    await scene.caller(record('') + AND_WAIT);
    recording().end('silence');
    await settle();
    expect(stops()).toEqual([]);
    await scene.clock.advance(3_000);
    expect(scene.encoded).toHaveLength(3);
    expect(scene.row()).toMatchObject({ status: 'ready', format: 'mp3' });
    expect(stops()).toHaveLength(1);
  });

  it('sends no notification for a recording that could not be written; the document continues', async () => {
    const a = await scene.caller(`${record('')}<Speak>Thanks</Speak>`);
    recording().end('failed', 'ENOSPC');
    await settle();
    expect(scene.row()).toMatchObject({ status: 'failed' });
    expect(stops()).toEqual([]);
    expect(warned(a.call, 'the recording has no file')).toBe(true);
    expect(scene.spoken).toHaveLength(1);
  });

  it('continues with a warning when the recording cannot be stored', async () => {
    scene.isStoreDown = true;
    const a = await scene.caller(`${record('')}<Speak>Thanks</Speak>`);
    expect(scene.leg().recordings).toHaveLength(0);
    expect(warned(a.call, 'not recorded')).toBe(true);
    expect(scene.spoken).toHaveLength(1);
  });
});

describe('Record: recordSession', () => {
  it('records both parties in the background, regardless of silence', async () => {
    const a = await scene.caller(record('recordSession="true"') + AND_WAIT);
    expect(recording().options).toMatchObject({
      channels: 'both',
      stereo: true,
      silenceEndMs: 0,
      maxMs: 60_000,
    });
    a.press('1');
    await settle();
    expect(recording().isOver).toBe(false);
  });

  it('mixes both parties for mono', async () => {
    await scene.caller(record('recordSession="true" recordChannelType="mono"') + AND_WAIT);
    expect(recording().options).toMatchObject({ channels: 'both', stereo: false });
  });

  it('mixes the beep over the next element', async () => {
    const a = await scene.caller('<Record recordSession="true" maxLength="60"/><Speak>Hi</Speak>');
    expect(a.media.sounding.map(({ mix }) => mix)).toEqual([true, false]);
  });

  it('continues across a transfer and ends with the call', async () => {
    const a = await scene.caller(record('recordSession="true"') + AND_WAIT);
    a.interpreter.transfer({ url: NEXT_DOCUMENT, method: 'POST' });
    await settle();
    expect(recording().isOver).toBe(false);
    a.ends('bye');
    await a.running;
    await settle();
    expect(stops()).toMatchObject([{ RecordingEndReason: 'HungUp' }]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('Record: recordRingback', () => {
  it.each([
    ['', false],
    ['recordRingback="true"', true],
  ])('%s: the recording contains the ringback: %s', async (attribute, ringback) => {
    await scene.caller(record(`recordSession="true" ${attribute}`) + AND_WAIT);
    expect(recording().options).toMatchObject({ ringback });
  });
});

describe('Record: startOnDialAnswer', () => {
  const xml = record(`startOnDialAnswer="true" action="${ACTION}"`) + AND_WAIT;

  it('begins once, when a Dial is answered', async () => {
    const a = await scene.caller(`<Speak>.</Speak>${xml}`);
    a.media.sounding[0]?.complete();
    await settle();
    expect(scene.leg().recordings).toHaveLength(0);
    scene.recorder.dialAnswered(a.call);
    await settle();
    expect(recording().options).toMatchObject({ channels: 'both', stereo: true });
    scene.recorder.dialAnswered(a.call);
    await settle();
    expect(scene.leg().recordings).toHaveLength(1);
    expect(scene.requests.at(-1)).toMatchObject({ url: ACTION, parameters: { Event: 'Record' } });
  });

  it.each([false, true])(
    'ends the call when action returns Hangup, transferred: %s',
    async (isTransferred) => {
      scene.documents.set(ACTION, '<Response><Hangup/></Response>');
      const a = await scene.caller(`<Speak>.</Speak>${xml}`);
      a.media.sounding[0]?.complete();
      await settle();
      if (isTransferred) a.interpreter.transfer({ url: NEXT_DOCUMENT, method: 'POST' });
      await settle();
      scene.recorder.dialAnswered(a.call);
      await a.running;
      expect(a.hungUpWith).toEqual(['normal']);
    },
  );
});

describe('Record: action, requested when the recording begins (redirect="false", the default)', () => {
  it('reports ID and link of a recording without a length', async () => {
    await scene.caller(record(`action="${ACTION}"`));
    const { recordingId } = scene.row();
    expect(scene.requests.at(-1)).toMatchObject({
      url: ACTION,
      parameters: {
        Event: 'Record',
        RecordingID: recordingId,
        RecordUrl: `https://media.test/${recordingId}.mp3?sig=s`,
        RecordFile: `https://media.test/${recordingId}.mp3?sig=s`,
        RecordingDuration: '-1',
      },
    });
  });

  it('a Hangup response ends the call before the next element runs (spec: Record)', async () => {
    scene.documents.set(ACTION, '<Response><Speak>no</Speak><Hangup/></Response>');
    const a = await scene.caller(
      `${record(`recordSession="true" action="${ACTION}"`)}<Speak>Hi</Speak>`,
    );
    await a.running;
    expect(a.hungUpWith).toEqual(['normal']);
    expect(scene.spoken).toEqual([]);
  });

  it('a Hangup response ends a message that is in progress', async () => {
    scene.documents.set(ACTION, '<Response><Hangup/></Response>');
    const a = await scene.caller(record(`action="${ACTION}"`));
    await a.running;
    expect(a.hungUpWith).toEqual(['normal']);
    expect(recording().isOver).toBe(true);
  });

  it.each([
    ['a response that is not a document', 'thank you'],
    ['a document without Hangup', '<Response><Speak>no</Speak></Response>'],
    ['an unreachable action', undefined],
  ])('%s has no effect', async (_what, body) => {
    if (body === undefined) scene.documents.delete(ACTION);
    else scene.documents.set(ACTION, body);
    const a = await scene.caller(
      `${record(`recordSession="true" action="${ACTION}"`)}<Speak>Hi</Speak>`,
    );
    expect(scene.spoken.map(({ text }) => text)).toEqual(['Hi']);
    expect(a.call.isEnded).toBe(false);
    expect(scene.clock.nextMs()).toBeUndefined();
  });

  it('a transfer while the recording starts has no unhandled rejection, which would end the process', async () => {
    const unhandled = collectUnhandled();
    const stored = Promise.withResolvers<void>();
    const { recorder } = scene;
    const start: typeof recorder.start = async (...given) => {
      const started = await recorder.start(...given);
      await stored.promise;
      return started;
    };
    const { fetchDocument } = scene.needs.callbacks;
    Object.assign(scene.needs, { recorder: { start } });
    Object.assign(scene.needs.callbacks, {
      fetchDocument: async (...given: Parameters<typeof fetchDocument>) => {
        await nextTurn();
        return fetchDocument(...given);
      },
    });
    const a = await scene.caller(record(`recordSession="true" action="${ACTION}"`));
    a.interpreter.transfer({ url: NEXT_DOCUMENT, method: 'POST' });
    stored.resolve();
    await nextTurn();
    await settle();
    unhandled.release();
    expect(unhandled.reasons).toEqual([]);
    expect(scene.requests.at(-1)?.url).toBe(NEXT_DOCUMENT);
  });

  /** A caller whose `action` answers with Hangup, but only after `late` is resolved. */
  async function callerOfSlowAction() {
    const { fetchDocument } = scene.needs.callbacks;
    const late = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    scene.documents.set(ACTION, '<Response><Hangup/></Response>');
    Object.assign(scene.needs.callbacks, {
      fetchDocument: async (...given: Parameters<typeof fetchDocument>) => {
        if (given[0].url === ACTION) {
          signals.push(given[2].signal);
          await late.promise;
        }
        return fetchDocument(...given);
      },
    });
    const a = await scene.caller(
      `${record(`recordSession="true" action="${ACTION}"`)}<Speak>Hi</Speak>`,
    );
    return { a, late, signals };
  }

  it('a slow response delays the document for 10 s; a later Hangup in it still takes effect', async () => {
    const { a, late } = await callerOfSlowAction();
    await scene.clock.advance(9_999);
    expect(scene.spoken).toHaveLength(0);
    await scene.clock.advance(1);
    expect(scene.spoken).toHaveLength(1);
    late.resolve();
    await a.running;
    expect(a.hungUpWith).toEqual(['normal']);
  });

  it('a transfer does not cancel the request, but a later Hangup in the response has no effect', async () => {
    const { a, late, signals } = await callerOfSlowAction();
    await scene.clock.advance(10_000);
    a.interpreter.transfer({ url: NEXT_DOCUMENT, method: 'POST' });
    await settle();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    late.resolve();
    await nextTurn();
    await settle();
    expect(a.call.isEnded).toBe(false);
  });
});

describe('Record: action with redirect="true"', () => {
  const xml = `${record(`redirect="true" action="${ACTION}"`)}<Speak>never</Speak>`;

  it('is requested after the end of the message, and its document replaces the rest', async () => {
    scene.documents.set(ACTION, '<Response><Speak>bye</Speak></Response>');
    await scene.caller(xml);
    expect(scene.requests).toHaveLength(1);
    await scene.clock.advance(3_000);
    recording().end('silence');
    await settle();
    expect(scene.requests.at(-1)).toMatchObject({
      url: ACTION,
      parameters: {
        Event: 'Record',
        RecordingDuration: '3',
        RecordingEndReason: 'RecordingTimeout',
      },
    });
    expect(scene.spoken.map(({ text }) => text)).toEqual(['bye']);
  });

  it('waits at most 2 s for the file', async () => {
    const busy = { kind: 'busy', detail: 'too many' } as const;
    scene.encoderProblems.push(busy, busy);
    await scene.caller(xml);
    recording().end('silence');
    await scene.clock.advance(1_999);
    expect(scene.requests).toHaveLength(1);
    await scene.clock.advance(1);
    expect(scene.requests.at(-1)?.url).toBe(ACTION);
  });

  it('is notified of a message that ended with a hangup, although no document can follow', async () => {
    const a = await scene.caller(xml);
    a.ends('bye');
    await a.running;
    await settle();
    expect(scene.reported(ACTION)).toMatchObject([
      { Event: 'Record', RecordingEndReason: 'HungUp', CallStatus: 'completed' },
    ]);
    expect(scene.requests).toHaveLength(1);
  });

  it('is notified if the caller hangs up after the message, before the file is complete', async () => {
    const busy = { kind: 'busy', detail: 'too many' } as const;
    scene.encoderProblems.push(busy);
    const a = await scene.caller(xml);
    a.press('#');
    await scene.clock.advance(500);
    a.ends('bye');
    await a.running;
    expect(scene.reported(ACTION)).toEqual([]);
    await scene.clock.advance(500);
    expect(scene.reported(ACTION)).toMatchObject([
      { Event: 'Record', RecordingEndReason: 'FinishedOnKey', Digits: '#' },
    ]);
    expect(scene.requests).toHaveLength(1);
  });

  it('replaces the rest immediately when the recording is in the background', async () => {
    scene.documents.set(ACTION, '<Response><Speak>bye</Speak></Response>');
    await scene.caller(
      `${record(`recordSession="true" redirect="true" action="${ACTION}"`)}<Speak>never</Speak>`,
    );
    expect(scene.spoken.map(({ text }) => text)).toEqual(['bye']);
    expect(recording().isOver).toBe(false);
  });
});
