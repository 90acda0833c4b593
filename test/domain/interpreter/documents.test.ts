import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../sim/clock.ts';
import { type Caller, Scene } from './scene.ts';

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

describe('the action of an element (dialect §2.1)', () => {
  const ACTION = 'https://app.test/action';
  const dial = (attributes: string): string =>
    `<Dial callerId="14155550199" ${attributes}><Number>14155550111</Number></Dial>`;

  /** Each request to an action waits 500 ms for earlier callbacks, as with a slow `callbackUrl`. */
  function delayActions(): void {
    const { fetchDocument } = scene.needs.callbacks;
    const delayed: typeof fetchDocument = async (target, parameters, options) => {
      if (options.kind === 'action') await scene.clock.sleep(500);
      options.signal.throwIfAborted();
      return fetchDocument(target, parameters, options);
    };
    Object.assign(scene.needs.callbacks, { fetchDocument: delayed });
  }

  async function untilAction(): Promise<Caller> {
    delayActions();
    const a = await scene.caller(dial(`action="${ACTION}"`));
    await scene.called[0]?.answers();
    scene.called[0]?.ends('bye');
    await scene.clock.advance(100);
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
    return a;
  }

  it('is notified if the caller hangs up before it is requested', async () => {
    const a = await untilAction();
    a.ends('bye');
    await scene.clock.advance(400);
    await a.running;
    expect(scene.reported(ACTION)).toMatchObject([
      { Event: 'DialAction', DialStatus: 'completed', CallStatus: 'completed' },
    ]);
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
  });

  it('is notified if a transfer comes before it is requested', async () => {
    const next = 'https://app.test/next';
    scene.documents.set(next, '<Response><Wait length="60"/></Response>');
    const a = await untilAction();
    a.interpreter.transfer({ url: next, method: 'POST' });
    await scene.clock.advance(400);
    expect(scene.reported(ACTION)).toMatchObject([
      { Event: 'DialAction', DialStatus: 'completed', CallStatus: 'in-progress' },
    ]);
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER, next]);
    a.ends('bye');
    await a.running;
    expect(scene.reported(ACTION)).toHaveLength(1);
  });

  it('is not notified in addition to its request', async () => {
    scene.documents.set(ACTION, '<Response><Wait length="60"/></Response>');
    const a = await untilAction();
    await scene.clock.advance(400);
    expect(scene.requests.at(-1)).toMatchObject({ url: ACTION });
    a.ends('bye');
    await a.running;
    expect(scene.reported(ACTION)).toEqual([]);
  });

  /** Each request to an action fails once and is repeated after 1 s. */
  function failOnce(): void {
    const { fetchDocument } = scene.needs.callbacks;
    const failing: typeof fetchDocument = async (target, parameters, options) => {
      if (options.kind === 'action') {
        options.onAttempt?.({ event: options.kind, url: target.url, error: 'status 503' } as never);
        await scene.clock.sleep(1000, options.signal);
      }
      return fetchDocument(target, parameters, options);
    };
    Object.assign(scene.needs.callbacks, { fetchDocument: failing });
  }

  it.each([
    ['Dial', dial(`action="${ACTION}"`)],
    ['Record', `<Record recordSession="true" action="${ACTION}"/>`],
  ])('of %s is notified if the caller hangs up between two attempts', async (name, xml) => {
    failOnce();
    const a = await scene.caller(xml);
    await scene.called[0]?.answers();
    scene.called[0]?.ends('bye');
    await settle();
    a.ends('bye');
    await a.running;
    await settle();
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
    expect(scene.reported(ACTION)).toMatchObject([
      { Event: name === 'Dial' ? 'DialAction' : 'Record', CallStatus: 'completed' },
    ]);
  });

  /** Requests to an action wait until a hangup interrupts them. */
  function waitForHangup(interrupted: { readonly isUnsent?: boolean }): void {
    const { fetchDocument } = scene.needs.callbacks;
    const slow: typeof fetchDocument = async (target, parameters, options) => {
      if (options.kind !== 'action') return fetchDocument(target, parameters, options);
      const attempt = { event: 'DialAction', url: target.url, error: 'aborted', ...interrupted };
      try {
        await scene.clock.sleep(1000, options.signal);
      } finally {
        options.onAttempt?.(attempt as never);
      }
      throw new Error('not interrupted');
    };
    Object.assign(scene.needs.callbacks, { fetchDocument: slow });
  }

  it('is not notified in addition to a request that the hangup interrupts', async () => {
    waitForHangup({});
    const a = await scene.caller(dial(`action="${ACTION}"`));
    await scene.called[0]?.answers();
    scene.called[0]?.ends('bye');
    await settle();
    a.ends('bye');
    await a.running;
    expect(scene.reported(ACTION)).toEqual([]);
  });

  it.each([
    ['Dial', dial(`action="${ACTION}"`)],
    ['Record', `<Record recordSession="true" action="${ACTION}"/>`],
  ])('of %s is notified if the caller hangs up before a connection exists', async (_name, xml) => {
    waitForHangup({ isUnsent: true });
    const a = await scene.caller(xml);
    await scene.called[0]?.answers();
    scene.called[0]?.ends('bye');
    await settle();
    a.ends('bye');
    await a.running;
    await settle();
    expect(scene.reported(ACTION)).toMatchObject([{ CallStatus: 'completed' }]);
  });

  it('is notified if the caller hangs up while a Dial waits for its turn', async () => {
    scene.answerBeforeDial = true;
    scene.refused.add('14155550111');
    const other = 'https://app.test/other';
    const failing = dial(`action="${other}" redirect="false"`).repeat(3);
    const a = await scene.caller(failing + dial(`action="${ACTION}"`));
    expect(scene.reported(other)).toHaveLength(3);
    a.ends('bye');
    await a.running;
    expect(scene.reported(ACTION)).toMatchObject([{ DialStatus: 'cancel', DialBLegUUID: '' }]);
  });

  it.each([
    ['before', 'canceled'],
    ['after', 'completed'],
  ])('is notified of a Transfer that a hangup %s the connection ends', async (when, status) => {
    const a = await scene.caller(`<Transfer action="${ACTION}">14155550111</Transfer>`);
    if (when === 'after') await scene.called[0]?.answers();
    a.ends('bye');
    await a.running;
    expect(scene.reported(ACTION)).toMatchObject([
      { Event: 'Transfer', TransferStatus: status, CallStatus: 'completed' },
    ]);
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
  });
});
