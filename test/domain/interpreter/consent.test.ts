/** Consent: the audio of a party that was asked and has not agreed is not kept, also if another party starts the recording. */
import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { keepConsent, mayKeepAudio } from '../../../src/domain/call/types.ts';
import { Guest, type GuestNeeds } from '../../../src/domain/interpreter/conference/guest.ts';
import { SharedConferences } from '../../../src/domain/interpreter/conference/shared-conferences.ts';
import type { Participation, VerbContext } from '../../../src/domain/interpreter/needs.ts';
import { settle } from '../../sim/clock.ts';
import { type CalledPhone, type Caller, NOTHING_LEFT, Scene } from './scene.ts';

const QUESTION = '<Consent timeout="1" onRefusal="continue">May we record?</Consent>';
const DIAL = '<Dial callerId="14155550199"><Number>14155550111</Number></Dial>';
const REFUSED = { ok: false, error: { kind: 'wrongState', detail: 'consent was refused' } };
const ROOM = '<Conference enterSound="none" exitSound="none">Weekly</Conference>';

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});

const called = (): CalledPhone => scene.called[0] as CalledPhone;

/** A caller who refused, and whose document continues with `xml`. */
async function refusing(xml: string): Promise<Caller> {
  const caller = await scene.caller(QUESTION + xml);
  caller.media.sounding[0]?.complete();
  await scene.clock.advance(1000);
  return caller;
}

describe('a Dial of a caller who has refused', () => {
  it('allows no recordings or streams of the called party either, until they are disconnected', async () => {
    await refusing(DIAL);
    await called().answers();
    expect(mayKeepAudio(called().call)).toEqual(REFUSED);
    expect(scene.recordingStops).toContain(called().call);
    called().ends('bye');
    await settle();
    expect(mayKeepAudio(called().call).ok).toBe(true);
  });

  it('allows none during early media', async () => {
    const a = await refusing(DIAL.replace('<Dial', '<Dial dialMusic="real"'));
    called().earlyMedia();
    await settle();
    expect(scene.media.openBridges).toHaveLength(1);
    expect(mayKeepAudio(called().call)).toEqual(REFUSED);
    a.ends('bye');
    await a.running;
    expect(mayKeepAudio(called().call).ok).toBe(true);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('allows both legs if the parties agreed or were not asked', async () => {
    const a = await scene.caller(DIAL);
    await called().answers();
    expect([a.call, called().call].map((call) => mayKeepAudio(call).ok)).toEqual([true, true]);
    expect(scene.recordingStops).toEqual([]);
  });
});

describe('a conference with a member who has refused', () => {
  const unrecorded = () => scene.media.rooms[0]?.seats.map(({ flags }) => flags.unrecorded);

  it('is recorded without that member', async () => {
    await scene.caller(ROOM.replace('<Conference', '<Conference record="true"'));
    await refusing(ROOM);
    expect(unrecorded()).toEqual([false, true]);
    expect(scene.roomRecordings).toMatchObject([{ stoppedWith: [] }]);
  });

  it('is recorded without that member through REST', async () => {
    await refusing(ROOM);
    await scene.caller(ROOM);
    const started = await scene.needs.conferences.record(asAccountId('MA_ONE'), 'Weekly', {
      maxMs: 60_000,
      format: 'mp3',
      channels: 'mono',
      callback: undefined,
    });
    expect(started.ok).toBe(true);
    expect(unrecorded()).toEqual([true, false]);
  });

  it('allows no recordings or streams of other members, until that member leaves', async () => {
    const a = await scene.caller(ROOM);
    const b = await refusing(ROOM);
    expect(mayKeepAudio(a.call)).toEqual(REFUSED);
    expect(scene.recordingStops).toContain(a.call);
    b.ends('bye');
    await b.running;
    expect(mayKeepAudio(a.call).ok).toBe(true);
  });
});

describe('a conference on another node', () => {
  const HOME = 'home';

  /** Enters a guest with this consent into a room of the scene. */
  async function guestWith(consent: 'refused' | undefined) {
    const asked: unknown[][] = [];
    const { call } = await scene.caller('<Speak>.</Speak><Wait length="60"/>');
    const instruction = { room: 'Weekly', party: undefined };
    const entered: Participation[] = [];
    const needs = {
      own: {
        enterHere: (_instruction: unknown, context: VerbContext) => {
          const of = { ...INSTRUCTION, ...instruction };
          const enter = scene.needs.conferences as unknown as GuestNeeds['own'];
          const participation = enter.enterHere(of as never, context);
          if (participation !== undefined) entered.push(participation);
          return participation;
        },
      },
      legs: {
        guest: () =>
          Object.assign(call, { takeInbound: () => undefined, answer: async () => true }),
      },
      rosters: { guest: () => undefined, watch: () => undefined },
      bus: {
        ask: async (_node: string, ...what: unknown[]) => void asked.push(what),
      },
      interpreter: () => scene.needs,
      logger: scene.needs.logger,
    };
    const request = { home: HOME, identity: call.identity, instruction, consent, goesOn: false };
    const guest = new Guest(request as never, needs as unknown as GuestNeeds);
    guest.arrived({} as never);
    await settle();
    expect(scene.errors).toEqual([]);
    expect(await guest.state()).toMatchObject({ kind: 'in' });
    return { asked: () => asked.filter(([what]) => what === 'conference.agreed'), call };
  }

  const INSTRUCTION = {
    maxMembers: 10,
    muted: false,
    startConferenceOnEnter: true,
    stayAlone: true,
    timeLimitMs: 60_000,
    digitsMatch: [],
    enterSound: { kind: 'none' },
    exitSound: { kind: 'none' },
  };

  it('is recorded without a guest who has refused on another node', async () => {
    const a = await scene.caller(ROOM);
    await guestWith('refused');
    expect(scene.media.rooms[0]?.seats.map(({ flags }) => flags.unrecorded)).toEqual([false, true]);
    expect(mayKeepAudio(a.call)).toEqual(REFUSED);
  });

  it('reports to the node of a guest when a member who has refused joins and leaves', async () => {
    const { asked, call } = await guestWith(undefined);
    expect(asked()).toEqual([]);
    const place = expect.stringMatching(/^[0-9a-f-]{36} 1$/);
    const b = await refusing(ROOM);
    expect(asked()).toEqual([['conference.agreed', [call.uuid, false, place]]]);
    b.ends('bye');
    await b.running;
    expect(asked()).toEqual([
      ['conference.agreed', [call.uuid, false, place]],
      ['conference.agreed', [call.uuid, true, place]],
    ]);
  });

  it('allows no recordings of a call whose conference has a member who has refused', async () => {
    const { call } = await scene.caller('<Speak>.</Speak><Wait length="60"/>');
    const answers = new Map<string, (...given: unknown[]) => Promise<unknown>>();
    const { promise: left, resolve: leave } = Promise.withResolvers<'kicked'>();
    const conferences = new SharedConferences({
      own: { enterHere: () => ({ member: { id: '1', left }, room: {}, leave: () => undefined }) },
      claims: { claim: async () => HOME, release: () => undefined, onLost: () => undefined },
      nodeId: HOME,
      living: () => [HOME],
      bus: {
        answer: (what: string, by: (...given: unknown[]) => Promise<unknown>) =>
          void answers.set(what, by),
      },
      clock: scene.clock,
    } as never);
    const context = { call, needs: scene.needs, signal: call.signal, ready: async () => undefined };
    await conferences.enter({ room: 'Weekly' } as never, context);
    const report = (agreed: boolean) => answers.get('conference.agreed')?.(call.uuid, agreed);
    await report(false);
    expect(mayKeepAudio(call)).toEqual(REFUSED);
    expect(scene.recordingStops).toEqual([call]);
    await report(true);
    expect(mayKeepAudio(call).ok).toBe(true);
    await report(false);
    leave('kicked');
    await settle();
    expect(mayKeepAudio(call).ok).toBe(true);
  });
});

it('a question that a transfer interrupts ends the recordings and streams that were running', async () => {
  const a = await scene.caller(QUESTION);
  const next = 'https://app.test/next';
  scene.documents.set(next, '<Response><Wait length="60"/></Response>');
  a.interpreter.transfer({ url: next, method: 'POST' });
  await settle();
  expect(mayKeepAudio(a.call).ok).toBe(false);
  expect(scene.recordingStops).toEqual([a.call]);
});

it('a call is recordable again once its own party has agreed', () => {
  const call = { nowUs: () => 1 } as Call;
  keepConsent(call, 'pending');
  expect(mayKeepAudio(call).ok).toBe(false);
  keepConsent(call, 'given');
  expect(mayKeepAudio(call).ok).toBe(true);
});
