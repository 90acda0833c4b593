import { beforeEach, describe, expect, it } from 'vitest';
import { ringingTone } from '../../../src/domain/interpreter/tones.ts';
import { Scene } from './scene.ts';

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe('ringing tones (ITU-T E.180 supplement 2)', () => {
  it.each([
    ['US', [440, 480], [2000, 4000]],
    ['GB', [400, 450], [400, 200, 400, 2000]],
    ['DE', [425], [1000, 4000]],
    ['FR', [440], [1500, 3500]],
    ['IN', [375, 425], [400, 200, 400, 2000]],
    ['JP', [384, 416], [1000, 2000]],
    ['BR', [425], [1000, 4000]],
  ])('%s', (country, hz, cadence) => {
    const { steps, loop } = ringingTone(country);
    expect(loop).toBe(true);
    expect(steps.flatMap(({ onMs, offMs }) => [onMs, offMs])).toEqual(cadence);
    for (const { frequenciesHz } of steps) expect(frequenciesHz).toEqual(hz);
  });

  it('use the North American tone for an unknown country', () => {
    expect(ringingTone('AQ')).toEqual(ringingTone('US'));
    expect(ringingTone('constructor')).toEqual(ringingTone('US'));
  });

  it("use the country of the caller's account", async () => {
    scene.country = 'GB';
    scene.answerBeforeDial = true;
    const a = await scene.caller(
      '<Dial callerId="14155550199"><Number>14155550111</Number></Dial>',
    );
    scene.called[0]?.rings();
    expect(a.media.sounding).toMatchObject([{ what: ringingTone('GB') }]);
  });
});
