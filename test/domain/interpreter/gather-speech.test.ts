import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { ok } from '../../../src/base/result.ts';
import { settle } from '../../sim/clock.ts';
import { ListeningScene } from './listening-scene.ts';
import { NOTHING_LEFT, type ScriptedListener } from './scene.ts';

const ACTION = 'https://app.test/input';
const INTERIM = 'https://app.test/interim';

let scene: ListeningScene;

beforeEach(() => {
  scene = new ListeningScene();
  scene.documents.set(ACTION, '<Response><Hangup/></Response>');
});

const xml = (element: string, attributes: string): string =>
  `<${element} action="${ACTION}" ${attributes}><Play>https://app.test/menu.mp3</Play></${element}>`;

const requested = (): Record<string, string> | undefined =>
  scene.requests.find(({ url }) => url === ACTION)?.parameters;

function listenerAt(index = 0): ScriptedListener {
  const found = scene.listeners[index];
  if (found === undefined) throw new Error(`no listener ${index}`);
  return found;
}

async function hearPrompts(): Promise<void> {
  for (const playback of scene.leg().sounding) playback.complete();
  await settle();
}

describe('GetInput, Gather: speech (dialect §2.1)', () => {
  it('stops prompts when the caller speaks, and reports the words and their cost', async () => {
    const a = await scene.caller(xml('GetInput', 'inputType="dtmf speech" hints="sales, support"'));
    expect(a.media.sounding).toHaveLength(1);
    await listenerAt().says('support please', 0.876);
    await a.running;
    expect(a.media.sounding).toHaveLength(0);
    expect(requested()).toMatchObject({
      Event: 'GetInput',
      InputType: 'speech',
      Digits: '',
      Speech: 'support please',
      SpeechConfidenceScore: '0.88',
      BilledAmount: '0.0015',
    });
    expect(scene.charged).toEqual([1200]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('does not listen without funds for the first pulse', async () => {
    scene.isPoor = true;
    const a = await scene.caller(xml('GetInput', 'inputType="speech"'));
    await hearPrompts();
    await a.running;
    expect(scene.listeners).toEqual([]);
    expect(requested()?.['SpeechError']).toContain('the balance does not cover speech recognition');
    expect(scene.charged).toEqual([]);
  });

  it('continues with keys if the store refuses the reservation', async () => {
    Object.assign(scene.transcriptions, {
      meter: () => Promise.reject(new ServiceError('STORE_FULL', 'the disk is full')),
    });
    const a = await scene.caller(xml('GetInput', 'inputType="dtmf speech" numDigits="1"'));
    await hearPrompts();
    a.press('4');
    await a.running;
    expect(requested()).toMatchObject({ InputType: 'dtmf', Digits: '4' });
    await expect(a.call.ended).resolves.toMatchObject({ cause: 'normal' });
  });

  it('does not let the caller wait while the store refuses the charge', async () => {
    const close = Promise.withResolvers<never>();
    Object.assign(scene.transcriptions, {
      meter: () => Promise.resolve(ok({ begin: () => undefined, close: () => close.promise })),
    });
    const a = await scene.caller(xml('GetInput', 'inputType="speech"'));
    await listenerAt().says('support');
    await scene.clock.advance(1999);
    expect(requested()).toBeUndefined();
    await scene.clock.advance(1);
    expect(requested()).toMatchObject({ Speech: 'support', BilledAmount: '' });
    await a.running;
    close.reject(new ServiceError('STORE_FULL', 'the disk is full'));
    await settle();
    expect(scene.errors).toEqual([expect.stringContaining('recognized speech not charged')]);
  });

  it('ends recognition when the balance covers no further pulse, and releases the reservation', async () => {
    const a = await scene.caller(xml('GetInput', 'inputType="speech"'));
    expect(scene.openMeters).toBe(1);
    listenerAt().options.speaking();
    await settle();
    scene.exhaust();
    await a.running;
    expect(listenerAt().isStopped).toBe(true);
    expect(requested()).toMatchObject({ BilledAmount: '0', Speech: '' });
    expect([scene.charged, scene.openMeters]).toEqual([[], 0]);
  });

  it('passes language, hints, filter, model and end-of-speech pause to the recognizer', async () => {
    const attributes =
      'inputType="speech" language="en-GB" hints="a b,c" profanityFilter="true" speechModel="phone_call" speechEndTimeout="3"';
    const a = await scene.caller(xml('GetInput', attributes));
    expect(listenerAt().options).toMatchObject({
      language: 'en-GB',
      hints: ['a b', 'c'],
      profanityFilter: true,
      model: 'phone_call',
      endSilenceMs: 3000,
    });
    expect(listenerAt().options.interim).toBeUndefined();
    a.ends('bye');
    await a.running;
    expect(listenerAt().isStopped).toBe(true);
  });

  it('stops recognition when a key is pressed first', async () => {
    const a = await scene.caller(xml('Gather', 'inputType="speech dtmf" numDigits="2"'));
    a.press('4');
    await settle();
    a.press('2');
    await a.running;
    expect(requested()).toMatchObject({ InputType: 'dtmf', Digits: '42', Speech: '' });
    expect(listenerAt().isStopped).toBe(true);
    expect(scene.charged).toEqual([]);
  });

  it('ignores keys with speech only, and reports no input after executionTimeout', async () => {
    const a = await scene.caller(xml('Gather', 'inputType="speech" executionTimeout="5"'));
    a.press('5');
    await settle();
    expect(a.media.sounding).toHaveLength(1);
    await hearPrompts();
    await scene.clock.advance(4999);
    expect(requested()).toBeUndefined();
    await scene.clock.advance(1);
    await a.running;
    expect(requested()).toMatchObject({ InputType: '', Digits: '', Speech: '' });
    expect(requested()).not.toHaveProperty('SpeechError');
  });

  it('ignores noise without words, and accepts later speech within the timeout', async () => {
    const a = await scene.caller(xml('GetInput', 'inputType="speech" executionTimeout="5"'));
    await hearPrompts();
    await listenerAt().says('');
    await scene.clock.advance(2000);
    await listenerAt(1).says('sales');
    await a.running;
    expect(requested()).toMatchObject({ Speech: 'sales' });
    expect(scene.charged).toEqual([1200]);
  });

  it('lets a caller who is speaking at the timeout finish', async () => {
    const a = await scene.caller(xml('GetInput', 'inputType="speech" executionTimeout="5"'));
    await hearPrompts();
    listenerAt().options.speaking();
    await scene.clock.advance(20_000);
    expect(requested()).toBeUndefined();
    await listenerAt().says('at last');
    await a.running;
    expect(requested()).toMatchObject({ Speech: 'at last' });
  });

  it.each(['GetInput', 'Gather'])(
    '%s reports to action that recognition failed',
    async (element) => {
      const a = await scene.caller(xml(element, 'inputType="speech"'));
      await hearPrompts();
      await listenerAt().fails({ kind: 'failed', detail: 'the recogniser answered 500' });
      await a.running;
      expect(requested()).toMatchObject({
        InputType: '',
        Speech: '',
        BilledAmount: '0',
        SpeechError: 'failed: the recogniser answered 500',
      });
      expect(a.call.log.entries()).toContainEqual(
        expect.objectContaining({ kind: 'warning', text: 'speech not recognized' }),
      );
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  it('still accepts keys after recognition failed', async () => {
    const a = await scene.caller(xml('GetInput', 'inputType="dtmf speech" numDigits="1"'));
    await listenerAt().fails({ kind: 'unavailable', detail: 'none is set up' });
    await hearPrompts();
    // The failure is in the timeline although the caller presses a key.
    expect(a.call.log.entries()).toContainEqual(
      expect.objectContaining({ kind: 'warning', text: 'speech not recognized' }),
    );
    a.press('7');
    await a.running;
    expect(requested()).toMatchObject({ InputType: 'dtmf', Digits: '7' });
    expect(requested()).not.toHaveProperty('SpeechError');
  });

  it('reports interim results with sequence numbers', async () => {
    const attributes = `inputType="speech" interimSpeechResultsCallback="${INTERIM}"`;
    const a = await scene.caller(xml('GetInput', attributes));
    listenerAt().options.interim?.({ stable: '', unstable: 'I want', stability: 0.6 });
    listenerAt().options.interim?.({ stable: 'I want sales', unstable: '', stability: 1 });
    await listenerAt().says('I want sales');
    await a.running;
    expect(scene.reported(INTERIM)).toMatchObject([
      { StableSpeech: '', UnstableSpeech: 'I want', Stability: '0.60', SequenceNumber: '0' },
      { StableSpeech: 'I want sales', UnstableSpeech: '', Stability: '1.00', SequenceNumber: '1' },
    ]);
  });

  it('hides words from the log with log="false"', async () => {
    const a = await scene.caller(xml('GetInput', 'inputType="speech" log="false"'));
    await listenerAt().says('my secret word');
    await a.running;
    a.call.log.add('callback', 'sent', { signedString: 'https://x/?Speech=my+secret+word&a=1' });
    expect(JSON.stringify(a.call.log.entries())).not.toMatch(/secret/);
  });
});
