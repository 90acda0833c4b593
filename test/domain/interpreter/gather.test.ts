import { beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../sim/clock.ts';
import { ListeningScene } from './listening-scene.ts';
import { NOTHING_LEFT } from './scene.ts';

const ACTION = 'https://app.test/digits';
const SOUND = 'https://app.test/menu.mp3';
const INVALID = 'https://app.test/invalid.mp3';
const BEEP_HZ = 1000;

let scene: ListeningScene;

beforeEach(() => {
  scene = new ListeningScene();
  scene.documents.set(ACTION, '<Response><Hangup/></Response>');
});

const menu = `<Play>${SOUND}</Play>`;
const xml = (element: string, attributes = '', children = menu): string =>
  `<${element} action="${ACTION}" ${attributes}>${children}</${element}>`;

async function hear(): Promise<void> {
  for (const playback of scene.leg().sounding) playback.complete();
  await settle();
}

/** Parameters of the request to `action`; undefined without a request. */
const requested = (): Record<string, string> | undefined =>
  scene.requests.find(({ url }) => url === ACTION)?.parameters;

describe('GetDigits, GetInput, Gather: reading keys (dialect §2.1)', () => {
  it('stops prompts at the first key, which counts', async () => {
    const a = await scene.caller(xml('GetDigits', 'numDigits="2"', menu + menu));
    expect(a.media.sounding).toHaveLength(1);
    a.press('4');
    await settle();
    expect(a.media.sounding).toHaveLength(0);
    expect(scene.loaded).toEqual([SOUND]);
    a.press('2');
    await a.running;
    expect(requested()).toMatchObject({
      Event: 'GetDigits',
      Digits: '42',
      CallStatus: 'in-progress',
    });
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('counts no keys of an earlier conversation with typeAhead', async () => {
    const dial =
      '<Dial action="https://app.test/dial" redirect="false"><Number>14155550111</Number></Dial>';
    const a = await scene.caller(`${dial}${xml('Gather', 'numDigits="1" typeAhead="true"')}`);
    const [b] = scene.called;
    await b?.answers();
    a.press('5');
    b?.ends('bye');
    await settle();
    expect(requested()).toBeUndefined();
    a.press('7');
    await settle();
    expect(requested()).toMatchObject({ Digits: '7' });
  });

  it.each([
    ['typeAhead="true"', '3', '123'],
    ['', '3#', '3'],
  ])(
    'counts keys pressed before the prompts only with typeAhead: %s',
    async (asks, then, digits) => {
      const gather = xml('Gather', `numDigits="3" ${asks}`);
      const a = await scene.caller(`<Speak>Hello</Speak><Wait length="3"/>${gather}`);
      await hear();
      a.press('12');
      await scene.clock.advance(3000);
      // A caller who knows the menu can skip it.
      expect(a.media.sounding).toHaveLength(asks === '' ? 1 : 0);
      a.press(then);
      await a.running;
      expect(requested()).toMatchObject({ Digits: digits });
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  it('typeAhead: leaves unread keys to the next menu, also through action', async () => {
    const next = 'https://app.test/next';
    scene.documents.set(
      ACTION,
      `<Response>${xml('GetDigits', 'numDigits="2" typeAhead="true"').replace(ACTION, next)}</Response>`,
    );
    scene.documents.set(next, '<Response><Hangup/></Response>');
    const a = await scene.caller(xml('GetDigits', 'numDigits="1"'));
    a.press('123');
    await a.running;
    expect(scene.requests.slice(1).map(({ parameters }) => parameters['Digits'])).toEqual([
      '1',
      '23',
    ]);
  });

  it('ends at a key of finishOnKey, which is not part of the input', async () => {
    const a = await scene.caller(xml('GetDigits', 'finishOnKey="*#"'));
    a.press('123*');
    await a.running;
    expect(requested()).toMatchObject({ Digits: '123' });
  });

  it('treats # as a normal key if finishOnKey is none', async () => {
    const a = await scene.caller(xml('GetDigits', 'finishOnKey="none" numDigits="2"'));
    a.press('#1');
    await a.running;
    expect(requested()).toMatchObject({ Digits: '#1' });
  });

  it('waits timeout for the first key, counted from the end of the prompts', async () => {
    const a = await scene.caller(`${xml('GetDigits', 'timeout="5"')}<Wait length="60"/>`);
    await scene.clock.advance(20_000);
    await hear();
    await scene.clock.advance(4_999);
    a.press('7#');
    await a.running;
    expect(requested()).toMatchObject({ Digits: '7' });
  });

  it('waits digitTimeout between keys', async () => {
    const a = await scene.caller(xml('GetDigits', 'digitTimeout="3"'));
    a.press('1');
    await scene.clock.advance(2_999);
    a.press('2');
    await scene.clock.advance(2_999);
    expect(requested()).toBeUndefined();
    await scene.clock.advance(1);
    expect(requested()).toMatchObject({ Digits: '12' });
    await a.running;
  });

  it('plays its beep after the prompts', async () => {
    const a = await scene.caller(xml('GetDigits', 'playBeep="true"'));
    expect(a.media.playbacks).toHaveLength(1);
    await hear();
    expect(a.media.sounding).toMatchObject([{ what: { steps: [{ frequenciesHz: [BEEP_HZ] }] } }]);
  });

  it('discards keys pressed before its start', async () => {
    const a = await scene.caller(`<Speak>Hi</Speak>${xml('GetDigits', 'numDigits="1"')}`);
    a.press('9');
    await hear();
    a.press('1');
    await a.running;
    expect(requested()).toMatchObject({ Digits: '1' });
  });
});

describe('GetDigits, GetInput, Gather: invalid or missing input', () => {
  it('counts a key outside validDigits as an attempt and plays invalidDigitsSound', async () => {
    const a = await scene.caller(
      xml(
        'GetDigits',
        `validDigits="12" numDigits="2" retries="2" invalidDigitsSound="${INVALID}"`,
      ),
    );
    a.press('19');
    await settle();
    expect(scene.loaded).toEqual([SOUND, INVALID]);
    await hear();
    expect(scene.loaded).toEqual([SOUND, INVALID, SOUND]);
    a.press('12');
    await a.running;
    expect(requested()).toMatchObject({ Digits: '12' });
  });

  it('uses a key during invalidDigitsSound as the first key of the next attempt', async () => {
    const a = await scene.caller(
      xml(
        'GetDigits',
        `validDigits="12" numDigits="1" retries="2" invalidDigitsSound="${INVALID}"`,
      ),
    );
    a.press('9');
    await settle();
    a.press('2');
    await a.running;
    expect(requested()).toMatchObject({ Digits: '2' });
    expect(scene.loaded).toEqual([SOUND, INVALID, SOUND]);
  });

  it('plays invalidDigitsSound to its end after the last attempt, then continues', async () => {
    const a = await scene.caller(
      xml('GetDigits', `validDigits="12" numDigits="1" invalidDigitsSound="${INVALID}"`),
    );
    a.press('9');
    await settle();
    a.press('1');
    await settle();
    expect(a.media.sounding).toHaveLength(1);
    await hear();
    await a.running;
    expect(requested()).toBeUndefined();
    expect(a.hungUpWith).toEqual(['endOfXml']);
  });

  it.each(['GetDigits', 'GetInput'])(
    '%s without input continues with the next element and does not call action',
    async (element) => {
      const a = await scene.caller(`${xml(element, 'timeout="5" executionTimeout="5"')}<Wait/>`);
      await hear();
      await scene.clock.advance(6_000);
      await a.running;
      expect(requested()).toBeUndefined();
      expect(a.hungUpWith).toEqual(['endOfXml']);
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  it('repeats prompts and timeout for each attempt of GetDigits', async () => {
    const a = await scene.caller(xml('GetDigits', 'timeout="5" retries="3"'));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(scene.loaded).toHaveLength(attempt + 1);
      await hear();
      await scene.clock.advance(5_000);
    }
    await a.running;
    expect(scene.loaded).toHaveLength(3);
  });

  it('Gather without input calls action with empty fields', async () => {
    const a = await scene.caller(xml('Gather', 'inputType="dtmf" executionTimeout="5"'));
    await hear();
    await scene.clock.advance(5_000);
    await a.running;
    expect(requested()).toMatchObject({ Event: 'GetInput', InputType: '', Digits: '', Speech: '' });
    expect(a.hungUpWith).toEqual(['normal']);
  });
});

describe('GetDigits, GetInput, Gather: reporting input', () => {
  it('Gather reports no input if its keys were invalid', async () => {
    const a = await scene.caller(xml('Gather', 'inputType="dtmf" validDigits="12" numDigits="1"'));
    a.press('9');
    await a.running;
    expect(requested()).toMatchObject({ InputType: '', Digits: '' });
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('GetInput reports the kind of input and its cost', async () => {
    const a = await scene.caller(xml('GetInput', 'numDigits="1"'));
    a.press('5');
    await a.running;
    expect(requested()).toMatchObject({
      Event: 'GetInput',
      InputType: 'dtmf',
      Digits: '5',
      Speech: '',
      SpeechConfidenceScore: '',
      BilledAmount: '0',
    });
  });

  it('notifies action and continues with redirect="false"', async () => {
    const a = await scene.caller(
      `${xml('GetDigits', 'numDigits="1" redirect="false"')}<Wait length="5"/>`,
    );
    a.press('5');
    await settle();
    expect(requested()).toBeUndefined();
    expect(scene.reported(ACTION)).toMatchObject([{ Event: 'GetDigits', Digits: '5' }]);
    expect(a.call.isEnded).toBe(false);
  });

  it('discards the input and continues without action', async () => {
    const a = await scene.caller('<GetDigits numDigits="1"/><Wait length="5"/>');
    a.press('5');
    await settle();
    expect(scene.requests).toHaveLength(1);
    await scene.clock.advance(5_000);
    await a.running;
    expect(a.hungUpWith).toEqual(['endOfXml']);
  });

  it('hides digits from the call log with log="false"', async () => {
    const a = await scene.caller(xml('GetDigits', 'numDigits="4" finishOnKey="" log="false"', ''));
    a.press('86*#');
    await settle();
    // Logged form of the request to action: the signed string, and the URL of a GET.
    a.call.log.add('callback', 'GetDigits', {
      signedString: `${ACTION}.CallUUIDxDigits86*#Directioninbound`,
      url: `${ACTION}?Digits=86*%23&Event=GetDigits`,
      // The signature covers the unencoded query.
      signedQuery: `${ACTION}?Digits=86*#&Event=GetDigits`,
      status: 200,
    });
    expect(JSON.stringify(a.call.log.entries())).not.toContain('86*');
    expect(a.call.log.entries().at(-1)?.facts['status']).toBe(200);
    expect(requested()).toMatchObject({ Digits: '86*#' });
  });

  it('hides digits from the call log while a recording is paused', async () => {
    const a = await scene.caller(xml('GetDigits', 'numDigits="4"', ''));
    a.call.log.hidesInput = true;
    a.press('8642');
    await settle();
    expect(JSON.stringify(a.call.log.entries())).not.toContain('8642');
    expect(requested()).toMatchObject({ Digits: '8642' });
  });

  it('logs digits with log (default)', async () => {
    const a = await scene.caller(xml('GetDigits', 'numDigits="4"', ''));
    a.press('8642');
    await settle();
    expect(a.call.log.entries()).toContainEqual(
      expect.objectContaining({ text: 'input', facts: { digits: '8642' } }),
    );
  });
});

describe('GetDigits, GetInput, Gather: interruptions', () => {
  it.each(['prompts', 'input'])(
    'releases all resources on a hangup during the %s',
    async (phase) => {
      const a = await scene.caller(xml('Gather', 'playBeep="true"'));
      if (phase === 'input') {
        await hear();
        await hear();
        a.press('1');
        await settle();
      }
      a.ends('bye');
      await a.running;
      expect(requested()).toBeUndefined();
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  it('a transfer during input discards its keys: the next document reads only new ones', async () => {
    scene.documents.set(
      'https://app.test/next',
      `<Response>${xml('GetDigits', 'numDigits="1"', '')}</Response>`,
    );
    const a = await scene.caller(xml('GetDigits', '', ''));
    a.press('1');
    a.interpreter.transfer({ url: 'https://app.test/next', method: 'POST' });
    await settle();
    a.press('2');
    await a.running;
    expect(requested()).toMatchObject({ Digits: '2' });
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});
