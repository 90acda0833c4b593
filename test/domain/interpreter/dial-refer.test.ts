/** REFER from a party of a Dial: blind and attended, from either side (RFC 3515, 3891, 5589). */
import { beforeEach, describe, expect, it } from 'vitest';
import { err, ok, type Result } from '../../../src/base/result.ts';
import type { LegEnd } from '../../../src/domain/call/needs.ts';
import { dialOf } from '../../../src/domain/interpreter/interpreter.ts';
import { settle } from '../../sim/clock.ts';
import { type CalledPhone, type Caller, NOTHING_LEFT, Scene } from './scene.ts';

const EVENTS = 'https://app.test/dial-events';
const ACTION = 'https://app.test/action';
const CAROL = 'sip:carol@registrar.test';

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
  scene.documents.set(ACTION, '<Response><Hangup/></Response>');
});

function called(index = 0): CalledPhone {
  const phone = scene.called[index];
  if (phone === undefined) throw new Error(`nobody was called at ${index}`);
  return phone;
}

/** A caller who talks to the party that was called at `index`. */
async function talking(index = 0): Promise<Caller> {
  const a = await scene.caller(
    `<Dial callerId="14155550199" callbackUrl="${EVENTS}" action="${ACTION}"><Number>14155550111</Number></Dial>`,
  );
  await called(index).answers();
  return a;
}

const bridged = () => scene.media.openBridges.map(({ a, b }) => [a, b]);

describe('blind, from the called party', () => {
  it('the caller talks to the new one, the old one is out, and the Dial goes on', async () => {
    const a = await talking();
    const told = called().refers(CAROL);
    await settle();
    expect(told).toEqual(['accepted']);
    expect(called(1).request).toMatchObject({
      parent: a.call,
      callerId: '14155550199',
      destination: { kind: 'user', uri: CAROL },
    });
    called(1).rings();
    // Until somebody answers the two go on talking.
    expect(bridged()).toEqual([[a.media, called().media]]);
    await called(1).answers();
    expect(told).toEqual(['accepted', 'ringing', 'succeeded']);
    expect(bridged()).toEqual([[a.media, called(1).media]]);
    expect(called().hungUpWith).toEqual(['normal']);
    expect(scene.requests).toHaveLength(1);
    called(1).ends('bye');
    await a.running;
    expect(scene.requests.at(-1)?.parameters).toMatchObject({
      DialStatus: 'completed',
      DialBLegUUID: called(1).call.uuid,
    });
    expect(scene.events(EVENTS)).toEqual([
      ...['DialAnswer', 'DialConnected', 'DialAnswer', 'DialHangup', 'DialConnected'],
      'DialHangup',
    ]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('who hangs up at once leaves the caller with a ringing tone, and then with the new one', async () => {
    const a = await talking();
    called().refers(CAROL);
    await settle();
    called().ends('bye');
    await settle();
    expect(a.media.sounding).toHaveLength(1);
    await called(1).answers();
    expect(a.media.sounding).toHaveLength(0);
    expect(bridged()).toEqual([[a.media, called(1).media]]);
    a.ends('bye');
    await a.running;
    expect(called(1).hungUpWith).toEqual(['normal']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  describe('before the caller has acknowledged', () => {
    const dialling = async () => {
      const ack = Promise.withResolvers<Result<void, LegEnd>>();
      const xml = `<Dial callerId="14155550199" action="${ACTION}"><Number>14155550111</Number></Dial>`;
      const a = await scene.caller(xml, { acknowledged: ack.promise });
      await called().answers();
      return { a, ack };
    };

    it('waits until both are connected', async () => {
      const { a, ack } = await dialling();
      const told = called().refers(CAROL);
      await settle();
      expect(told).toEqual([]);
      ack.resolve(ok(undefined));
      await settle();
      expect(told).toEqual(['accepted']);
      await called(1).answers();
      expect(bridged()).toEqual([[a.media, called(1).media]]);
      a.ends('bye');
      await a.running;
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    });

    it('is refused after 4 s, and when nobody will be connected', async () => {
      const { a, ack } = await dialling();
      const told = called().refers(CAROL);
      await scene.clock.advance(3_999);
      expect(told).toEqual([]);
      await scene.clock.advance(1);
      expect(told).toEqual(['refused']);
      const again = called().refers(CAROL);
      a.ends('timeout');
      ack.resolve(err({ by: 'remote', how: 'timeout', status: undefined, reason: undefined }));
      await a.running;
      expect(again).toEqual(['refused']);
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    });
  });

  it.each([
    [486, 'busy'],
    [404, 'unallocated'],
  ])('one that refuses with %d: told so, and the two go on', async (status, cause) => {
    const a = await talking();
    const told = called().refers(CAROL);
    await settle();
    called(1).ends('refused', status);
    await settle();
    expect(told).toEqual(['accepted', cause]);
    expect(bridged()).toEqual([[a.media, called().media]]);
    // It may try again.
    expect(called().refers('sip:dave@registrar.test')).toEqual(['accepted']);
    await settle();
    a.ends('bye');
    await settle();
    expect(called(2).hungUpWith).toEqual(['canceled']);
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('one that refuses after the old one hung up: the Dial is over', async () => {
    const a = await talking();
    called().refers(CAROL);
    await settle();
    called().ends('bye');
    await settle();
    called(1).ends('refused', 486);
    await a.running;
    expect(scene.requests.at(-1)?.url).toBe(ACTION);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('blind, from the called party, in a Dial without action', () => {
  const inDial = () =>
    scene.caller(
      '<Dial callerId="14155550199"><Number>14155550111</Number></Dial><Play>https://app.test/a.wav</Play>',
    );

  it('the next element follows when the new party hangs up; the answer URL is not fetched again', async () => {
    const a = await inDial();
    await called().answers();
    called().refers(CAROL);
    await settle();
    await called(1).answers();
    called(1).ends('bye');
    await settle();
    expect(scene.requests).toHaveLength(1);
    expect(a.media.sounding).toHaveLength(1);
    a.media.sounding[0]?.complete();
    await a.running;
    expect((await a.call.ended).cause).toBe('endOfXml');
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('the next element follows when the new party refuses after the referring one hung up', async () => {
    const a = await inDial();
    await called().answers();
    called().refers(CAROL);
    await settle();
    called().ends('bye');
    await settle();
    called(1).ends('refused', 486);
    await settle();
    expect(scene.requests).toHaveLength(1);
    expect(a.media.sounding).toHaveLength(1);
    a.ends('bye');
    await a.running;
  });

  it('one that came to nothing leaves the Dial as it was: its end fetches the answer URL as an answered call', async () => {
    const a = await inDial();
    await called().answers();
    called().refers(CAROL);
    await settle();
    called(1).ends('refused', 486);
    await settle();
    called().ends('bye');
    await settle();
    expect(scene.requests).toHaveLength(2);
    expect(scene.requests[1]?.parameters).toMatchObject({
      Event: 'StartApp',
      CallStatus: 'in-progress',
    });
    a.ends('bye');
    await a.running;
  });
});

describe('blind, from the caller', () => {
  it.each([false, true])(
    'the called party talks to the new one (caller gone at once: %s)',
    async (gone) => {
      const a = await talking();
      const told = a.refers(CAROL);
      await settle();
      if (gone) a.ends('bye');
      await settle();
      expect(called().hungUpWith).toEqual([]);
      await called(1).answers();
      expect(told).toEqual(['accepted', 'succeeded']);
      expect(bridged()).toEqual([[called().media, called(1).media]]);
      expect(a.call.isEnded).toBe(true);
      expect(dialOf(called().call)?.leg).toBe(called(1).call);
      called(1).ends('bye');
      await settle();
      expect(called().hungUpWith).toEqual(['normal']);
      await a.running;
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  it('a new one that refuses after the caller hung up ends the called party too', async () => {
    const a = await talking();
    a.refers(CAROL);
    await settle();
    a.ends('bye');
    await settle();
    called(1).ends('refused', 486);
    await settle();
    expect(called().hungUpWith).toEqual(['normal']);
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('attended (Replaces)', () => {
  it('the caller gets the party that the called phone talks to in its other call', async () => {
    const a = await talking(0);
    const consultation = await talking(1);
    const told = called(0).refers(CAROL, consultation.call.legId);
    await settle();
    expect(told).toEqual(['accepted', 'succeeded']);
    expect(bridged()).toEqual([[a.media, called(1).media]]);
    expect(called(0).hungUpWith).toEqual(['normal']);
    expect(consultation.hungUpWith).toEqual(['normal']);
    a.ends('bye');
    await Promise.all([a.running, consultation.running]);
    expect(called(1).hungUpWith).toEqual(['normal']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('of two calls of one phone both called parties are joined, and the phone is out of both', async () => {
    const a = await talking(0);
    const other = await talking(1);
    a.refers(CAROL, other.call.legId);
    await settle();
    expect(bridged()).toEqual([[called(0).media, called(1).media]]);
    expect([a.call.isEnded, other.call.isEnded]).toEqual([true, true]);
    called(0).ends('bye');
    await settle();
    expect(called(1).hungUpWith).toEqual(['normal']);
    await Promise.all([a.running, other.running]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('a dialog that nobody has is refused; one without another party fails, and all goes on', async () => {
    const a = await talking(0);
    expect(called().refers(CAROL, 'unknown')).toEqual(['refused']);
    const told = called().refers(CAROL, a.call.legId);
    await settle();
    expect(told).toEqual(['accepted', 'forbidden']);
    expect(bridged()).toEqual([[a.media, called().media]]);
    a.ends('bye');
    await a.running;
  });
});

describe('who may', () => {
  it('only one at a time, and only whom the setting lets', async () => {
    const a = await talking();
    called().refers(CAROL);
    expect(a.refers(CAROL)).toEqual(['refused']);
    a.ends('bye');
    await a.running;
    Object.assign(scene.needs.settings, { referFrom: 'endpoints' });
    const b = await talking(2);
    expect(b.refers(CAROL)).toEqual(['refused']);
    b.ends('bye');
    await b.running;
  });

  it('without anybody to talk to there is nobody to be referred', async () => {
    const a = await scene.caller('<Play>https://app.test/a.wav</Play>');
    expect(a.refers(CAROL)).toEqual(['refused']);
    a.ends('bye');
  });
});
