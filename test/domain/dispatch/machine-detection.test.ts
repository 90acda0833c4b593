import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallUuid } from '../../../src/base/ids.ts';
import type { MachineDetectionRequest } from '../../../src/domain/dispatch/types.ts';
import { NOTHING_LEFT, openStage, type Stage } from './stage.ts';

const RESULT_URL = 'https://app.test/machine';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const detection = (over: Partial<MachineDetectionRequest> = {}): MachineDetectionRequest => ({
  mode: 'detect',
  callback: undefined,
  totalMs: 5000,
  maximumSpeechMs: 4000,
  initialSilenceMs: 3000,
  maximumWords: 4,
  initialGreetingMs: 1500,
  ...over,
});

async function answered(over: Partial<MachineDetectionRequest> = {}): Promise<CallUuid> {
  const { callUuid } = await stage.placed({ machineDetection: detection(over) });
  await stage.signalling.last.answers();
  return callUuid;
}

const asyncly = { callback: { url: RESULT_URL, method: 'POST' } } as const;

describe('machine_detection (spec: Make call; dialect §5.5)', () => {
  it('passes the six parameters of the request to the detector, starting at the answer', async () => {
    await stage.placed({ machineDetection: detection() });
    expect(stage.media.last.detecting).toBeUndefined();
    await stage.signalling.last.answers();
    expect(stage.media.last.detecting).toEqual({
      totalMs: 5000,
      initialSilenceMs: 3000,
      greetingMs: 1500,
      maximumWords: 4,
      maximumWordMs: 4000,
      adaptive: false,
    });
    await stage.finish();
  });

  it('without a URL, answer_url waits for the result and receives it', async () => {
    const callUuid = await answered();
    expect(stage.customer.requested).toEqual([]);
    await stage.media.last.detected({ machine: true, reason: 'words' });
    expect(stage.customer.requested).toMatchObject([
      { parameters: { Event: 'StartApp', Machine: 'true' } },
    ]);
    await stage.finish();
    expect(await stage.cdr(callUuid)).toMatchObject({ machine: true });
  });

  it('with a URL, answer_url is requested immediately and the URL receives the result', async () => {
    await answered(asyncly);
    expect(stage.customer.requested).toHaveLength(1);
    expect(stage.customer.requested[0]?.parameters).not.toHaveProperty('Machine');
    await stage.media.last.detected({ machine: false, reason: 'human' });
    expect(stage.customer.reported).toMatchObject([
      { url: RESULT_URL, parameters: { Event: 'MachineDetection', Machine: 'false' } },
    ]);
    await stage.finish();
  });

  it.each([
    ['synchronous', {}],
    ['asynchronous', asyncly],
  ])('hangup, %s: a machine ends the call as 9100 Machine Detected', async (_name, over) => {
    const callUuid = await answered({ mode: 'hangup', ...over });
    await stage.media.last.detected({ machine: true, reason: 'greeting' });
    expect(await stage.cdr(callUuid)).toMatchObject({
      hangupCauseCode: 9100,
      hangupSource: 'Carillon',
      machine: true,
    });
    expect(stage.signalling.last.hungUpWith).toBe('machineDetected');
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('hangup: a human hears the document', async () => {
    await answered({ mode: 'hangup' });
    await stage.media.last.detected({ machine: false, reason: 'human' });
    expect(stage.customer.requested).toMatchObject([{ parameters: { Machine: 'false' } }]);
    await stage.finish();
  });

  it('requests no document and reports no result if the call ends during detection', async () => {
    const callUuid = await answered(asyncly);
    stage.customer.requested.length = 0;
    await stage.signalling.last.ends('bye');
    expect(stage.customer.requested).toEqual([]);
    expect(stage.customer.events()).toEqual(['Hangup']);
    expect(await stage.cdr(callUuid)).toMatchObject({ machine: undefined });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });
});
