import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../sim/clock.ts';
import { Scene } from './scene.ts';

const ANSWER = 'https://app.test/answer';

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** A document that fetches itself again after `seconds`. */
const again = (seconds: number): string =>
  `<Wait length="${seconds}"/><Redirect>${ANSWER}</Redirect>`;

describe('the documents of a call', () => {
  it('may be many if they are not too many within a minute', async () => {
    const a = await scene.caller(again(7));
    await scene.clock.advance(140_000);
    expect(scene.requests).toHaveLength(21);
    expect(a.call.isEnded).toBe(false);
    a.ends('bye');
    await a.running;
  });

  it('end the call if they are more than the limit within a minute', async () => {
    const a = await scene.caller(again(5));
    await scene.clock.advance(50_000);
    expect(scene.requests).toHaveLength(10);
    await a.running;
    await expect(a.call.ended).resolves.toMatchObject({ cause: 'loopDetected', source: 'Error' });
  });

  it('leave no listener at the signal of the call', async () => {
    const a = await scene.caller(again(10));
    await settle();
    const atFirst = getEventListeners(a.call.signal, 'abort').length;
    expect(atFirst).toBeGreaterThan(0);
    await scene.clock.advance(50_000);
    expect(scene.requests).toHaveLength(6);
    expect(getEventListeners(a.call.signal, 'abort')).toHaveLength(atFirst);
    a.ends('bye');
    await a.running;
  });
});
