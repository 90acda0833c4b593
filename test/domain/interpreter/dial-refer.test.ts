/** REFER from a party of a Dial: blind and attended transfer, by either side (RFC 3515, 3891, 5589). */
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
  if (phone === undefined) throw new Error(`no phone was called at ${index}`);
  return phone;
}

/** A caller connected to the party that was called at `index`. */
async function talking(index = 0): Promise<Caller> {
  const a = await scene.caller(
    `<Dial callerId="14155550199" callbackUrl="${EVENTS}" action="${ACTION}"><Number>14155550111</Number></Dial>`,
  );
  await called(index).answers();
  return a;
}

const bridged = () => scene.media.openBridges.map(({ a, b }) => [a, b]);

describe('blind transfer by the called party', () => {
  it('connects the caller with the new party, ends the old leg and continues the Dial', async () => {
    const a = await talking();
    const reported = called().refers(CAROL);
    await settle();
    expect(reported).toEqual(['accepted']);
    expect(called(1).request).toMatchObject({
      parent: a.call,
      callerId: '14155550199',
      destination: { kind: 'user', uri: CAROL },
    });
    called(1).rings();
    // Both keep talking until the new party answers.
    expect(bridged()).toEqual([[a.media, called().media]]);
    await called(1).answers();
    expect(reported).toEqual(['accepted', 'ringing', 'succeeded']);
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

  it('plays ringing to the caller if the referring party hangs up before the new party answers', async () => {
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

  it('cancels the call to the new party if another document replaces the Dial', async () => {
    scene.documents.set('https://app.test/next', '<Response><Wait length="3600"/></Response>');
    const a = await talking();
    const reported = called().refers(CAROL);
    await settle();
    called(1).rings();
    a.interpreter.transfer({ url: 'https://app.test/next', method: 'POST' });
    await settle();
    expect(called().hungUpWith).toEqual(['normal']);
    expect(called(1).hungUpWith).toEqual(['canceled']);
    expect(reported).toEqual(['accepted', 'ringing', 'canceled']);
    a.ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it.each([
    ['called', () => called()],
    ['calling', (a: Caller) => a],
  ])('by the %s party is canceled if the called party gets another script', async (_, by) => {
    const a = await talking();
    const reported = by(a).refers(CAROL);
    await settle();
    const released = dialOf(a.call)?.release();
    expect(released).toBe(called().call);
    await settle();
    expect(called(1).hungUpWith).toEqual(['canceled']);
    expect(reported).toEqual(['accepted', 'canceled']);
    expect(called().call.isEnded).toBe(false);
    called().ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  describe("REFER before the caller's ACK", () => {
    const dialling = async () => {
      const ack = Promise.withResolvers<Result<void, LegEnd>>();
      const xml = `<Dial callerId="14155550199" action="${ACTION}"><Number>14155550111</Number></Dial>`;
      const a = await scene.caller(xml, { acknowledged: ack.promise });
      await called().answers();
      return { a, ack };
    };

    it('waits until both parties are connected', async () => {
      const { a, ack } = await dialling();
      const reported = called().refers(CAROL);
      await settle();
      expect(reported).toEqual([]);
      ack.resolve(ok(undefined));
      await settle();
      expect(reported).toEqual(['accepted']);
      await called(1).answers();
      expect(bridged()).toEqual([[a.media, called(1).media]]);
      a.ends('bye');
      await a.running;
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    });

    it('is refused after 4 s, or when the parties will not be connected', async () => {
      const { a, ack } = await dialling();
      const reported = called().refers(CAROL);
      await scene.clock.advance(3_999);
      expect(reported).toEqual([]);
      await scene.clock.advance(1);
      expect(reported).toEqual(['refused']);
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
  ])(
    'reports a refusal with %d to the referring party, and both parties keep talking',
    async (status, cause) => {
      const a = await talking();
      const reported = called().refers(CAROL);
      await settle();
      called(1).ends('refused', status);
      await settle();
      expect(reported).toEqual(['accepted', cause]);
      expect(bridged()).toEqual([[a.media, called().media]]);
      // A later attempt is possible.
      expect(called().refers('sip:dave@registrar.test')).toEqual(['accepted']);
      await settle();
      a.ends('bye');
      await settle();
      expect(called(2).hungUpWith).toEqual(['canceled']);
      await a.running;
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  it('ends the Dial if the new party refuses after the referring party hung up', async () => {
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

describe('blind transfer by the called party, in a Dial without action', () => {
  const inDial = () =>
    scene.caller(
      '<Dial callerId="14155550199"><Number>14155550111</Number></Dial><Play>https://app.test/a.wav</Play>',
    );

  it('continues with the next element when the new party hangs up, without fetching the answer URL', async () => {
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

  it('continues with the next element when the new party refuses after the referring party hung up', async () => {
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

  it('does not affect a Dial if the transfer failed: its end fetches the answer URL', async () => {
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

describe('blind transfer by the caller', () => {
  it.each([false, true])(
    'connects the called party with the new party (caller hangs up first: %s)',
    async (gone) => {
      const a = await talking();
      const reported = a.refers(CAROL);
      await settle();
      if (gone) a.ends('bye');
      await settle();
      expect(called().hungUpWith).toEqual([]);
      await called(1).answers();
      expect(reported).toEqual(['accepted', 'succeeded']);
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

  it('ends the called party if the new party refuses after the caller hung up', async () => {
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

describe('attended transfer (Replaces)', () => {
  it("connects the caller with the party of the called phone's other call", async () => {
    const a = await talking(0);
    const consultation = await talking(1);
    const reported = called(0).refers(CAROL, consultation.call.legId);
    await settle();
    expect(reported).toEqual(['accepted', 'succeeded']);
    expect(bridged()).toEqual([[a.media, called(1).media]]);
    expect(called(0).hungUpWith).toEqual(['normal']);
    expect(consultation.hungUpWith).toEqual(['normal']);
    a.ends('bye');
    await Promise.all([a.running, consultation.running]);
    expect(called(1).hungUpWith).toEqual(['normal']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('connects the called parties of two calls of one phone and ends its legs', async () => {
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

  it('refuses an unknown dialog, fails one without another party, and keeps the call unchanged', async () => {
    const a = await talking(0);
    expect(called().refers(CAROL, 'unknown')).toEqual(['refused']);
    const reported = called().refers(CAROL, a.call.legId);
    await settle();
    expect(reported).toEqual(['accepted', 'forbidden']);
    expect(bridged()).toEqual([[a.media, called().media]]);
    a.ends('bye');
    await a.running;
  });
});

describe('permission to transfer', () => {
  it('allows one transfer at a time, and only by parties that the setting permits', async () => {
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

  it('refuses REFER before a called party is connected', async () => {
    const a = await scene.caller('<Play>https://app.test/a.wav</Play>');
    expect(a.refers(CAROL)).toEqual(['refused']);
    a.ends('bye');
  });
});

describe('a transfer to a colleague', () => {
  it('reports the answer once if the colleague transfers the caller', async () => {
    const a = await scene.caller(
      `<Transfer mode="attended" callbackUrl="${EVENTS}">14155550111</Transfer>`,
    );
    await called().answers();
    called().refers(CAROL);
    await settle();
    await called(1).answers();
    expect(bridged()).toEqual([[a.media, called(1).media]]);
    called(1).ends('bye');
    await a.running;
    const statuses = scene.reported(EVENTS).map(({ TransferStatus }) => TransferStatus);
    expect(statuses).toEqual(['ringing', 'answered', 'completed']);
  });
});
