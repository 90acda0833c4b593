/** Failed calls and expired waits: callbacks and records report the actual outcome. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Scene } from './scene.ts';
import { eventually } from './service.ts';
import { toneMs } from './tones.ts';

const OWN = '14155550141';

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.open();
  const { authId } = scene.service.demo;
  await scene.service.admin('POST', `/accounts/${authId}/caller-ids`, { number: OWN });
});
afterAll(() => scene.close());

describe.concurrent('callbacks report the actual outcome', () => {
  it('Dial reports every attempt and its cause, including attempts that were not placed', async () => {
    const dial = (callerId: string, destination: string): string =>
      `<Dial callerId="${callerId}" callbackUrl="${scene.url('/leg')}" action="${scene.url('/end')}" redirect="false">${destination}</Dial>`;
    const nobody = `<User>sip:nobody@127.0.0.1:${scene.service.sipPort}</User>`;
    const number = '<Number>14155550199</Number>';
    const dials = [
      dial(OWN, nobody),
      dial('14085550000', number),
      dial(OWN, '<Number>911</Number>'),
      dial(OWN, number),
    ];
    const caller = await scene.callTo('attempts', `${dials.join('')}<Hangup/>`);
    await caller.ended;
    const codes = (path: string) =>
      scene.customer.at(path).map(({ form }) => form['DialBLegHangupCauseCode']);
    await eventually('four ends', () => (codes('/end').length === 4 ? true : undefined));
    const causes = ['2020', '3030', '2040', '5020'];
    expect([codes('/leg'), codes('/end')]).toEqual([causes, causes]);
    expect(scene.customer.at('/end').map(({ form }) => form['DialHangupCause'])).toEqual([
      'USER_NOT_REGISTERED',
      'REJECTED',
      'CALL_REJECTED',
      'DESTINATION_OUT_OF_ORDER',
    ]);
    for (const { form } of [...scene.customer.at('/leg'), ...scene.customer.at('/end')]) {
      const isMade = ['2040', '5020'].includes(form['DialBLegHangupCauseCode'] ?? '');
      expect(form['DialBLegUUID'] !== '').toBe(isMade);
      expect(form['DialBLegFailureReason']).toMatch(/./);
    }
    const { form } = scene.customer.at('/attempts')[0] ?? { form: {} as Record<string, string> };
    expect(form['SessionStart']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{5}$/);
    await caller.close();
  });

  it('Hangup with reason busy after PreAnswer: 486, cause 3010, no charge', async () => {
    const caller = await scene.callTo('engaged', '<PreAnswer/><Hangup reason="busy"/>');
    await caller.early;
    expect(await caller.ended).toMatchObject({ status: 486 });
    expect(await scene.reported('/engaged-hangup', 'Hangup')).toMatchObject({
      HangupCause: 'USER_BUSY',
      HangupCauseCode: '3010',
      HangupSource: 'Answer XML',
      BillDuration: '0',
    });
    await caller.close();
  });

  it('Gather with typeAhead reads keys pressed before its prompt', async () => {
    const { low, endless } = scene.sounds;
    const caller = await scene.callTo(
      'ahead',
      `<Play>${low}</Play><Play>${low}</Play><Gather typeAhead="true" numDigits="2" action="${scene.url('/keys')}"><Play>${endless}</Play></Gather>`,
    );
    await eventually('the first sound', () =>
      toneMs(caller.received, 800) > 100 ? true : undefined,
    );
    caller.press('42');
    expect(await scene.reported('/keys')).toMatchObject({ Digits: '42' });
    expect(toneMs(caller.received, 1000)).toBeLessThan(200);
    await caller.hangUp();
  });

  it('abandons an audio file within seconds if its server hangs, and continues the call', async () => {
    scene.customer.page('/stuck.wav', () => undefined);
    const caller = await scene.callTo(
      'stuck',
      `<Play>${scene.url('/stuck.wav')}</Play><Play loop="0">${scene.sounds.low}</Play>`,
    );
    await caller.answered;
    const since = performance.now();
    await eventually('the next attempt', () =>
      toneMs(caller.received, 800) > 100 ? true : undefined,
    );
    expect(performance.now() - since).toBeGreaterThan(4000);
    expect(performance.now() - since).toBeLessThan(8000);
    await caller.hangUp();
  });
});
