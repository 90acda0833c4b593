import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import type { FakeRoom } from '../../fakes/media.ts';
import { settle } from '../../sim/clock.ts';
import { NOTHING_LEFT, Scene, SDP_WITHOUT_EVENTS } from './scene.ts';

const EVENTS = 'https://app.test/room-events';
const ACTION = 'https://app.test/action';

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const roomXml = (attributes = '', name = 'Weekly'): string =>
  `<Conference callbackUrl="${EVENTS}" ${attributes}>${name}</Conference>`;

/** Returns the media of the room at `index`; default: the only room. */
function room(index = 0): FakeRoom {
  const found = scene.media.rooms[index];
  if (found === undefined) throw new Error(`there is no room ${index}`);
  return found;
}

const flagsOf = (index: number) => room().seats[index]?.flags;
const members = (account = asAccountId('MA_ONE'), name = 'Weekly') =>
  scene.needs.conferences.get(account, name)?.members ?? [];

describe('Conference: entering and leaving (dialect §2.1)', () => {
  it('puts calls with the same name in one room; names are case-sensitive and per account', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml());
    await scene.caller(roomXml('', 'weekly'));
    await scene.caller(roomXml(), { accountId: asAccountId('MA_TWO') });
    expect(scene.media.rooms).toHaveLength(3);
    expect(room().seats.map(({ leg }) => leg)).toEqual([a.media, b.media]);
    expect(scene.needs.conferences.list(asAccountId('MA_ONE')).map(({ name }) => name)).toEqual([
      'Weekly',
      'weekly',
    ]);
    expect(scene.needs.conferences.get(asAccountId('MA_TWO'), 'weekly')).toBeUndefined();
  });

  it("reports enter and exit with the vendors' fields, in order", async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml());
    b.ends('bye');
    await b.running;
    a.ends('bye');
    await a.running;
    const uuid = scene.reported(EVENTS)[0]?.['ConferenceUUID'];
    const common = { ConferenceUUID: uuid, ConferenceName: 'Weekly', ParentAuthID: 'MA_ONE' };
    const entered = {
      ...common,
      ConferenceAction: 'enter',
      Event: 'ConferenceEnter',
      From: '14155550100',
      To: '14155550199',
      Direction: 'inbound',
      CallStatus: 'in-progress',
    };
    const left = { ...common, ConferenceAction: 'exit', Event: 'ConferenceExit' };
    expect(scene.reported(EVENTS)).toEqual([
      {
        ...entered,
        ConferenceMemberID: '1',
        ConferenceFirstMember: 'true',
        CallUUID: a.call.uuid,
      },
      {
        ...entered,
        ConferenceMemberID: '2',
        ConferenceFirstMember: 'false',
        CallUUID: b.call.uuid,
      },
      {
        ...left,
        ConferenceMemberID: '2',
        ConferenceFirstMember: 'false',
        ConferenceLastMember: 'false',
        CallUUID: b.call.uuid,
      },
      {
        ...left,
        ConferenceMemberID: '1',
        ConferenceFirstMember: 'true',
        ConferenceLastMember: 'true',
        CallUUID: a.call.uuid,
      },
    ]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    expect(scene.needs.conferences.list(asAccountId('MA_ONE'))).toEqual([]);
  });

  it('beeps once for a joining and twice for a leaving member, or plays enterSound and exitSound', async () => {
    await scene.caller(roomXml());
    const b = await scene.caller(roomXml());
    expect(room().playbacks.map(({ what }) => 'steps' in what && what.steps.length)).toEqual([
      1, 1,
    ]);
    b.ends('bye');
    await b.running;
    expect(room().playbacks).toHaveLength(3);
    expect(room().playbacks[2]?.what).toMatchObject({ steps: { length: 2 } });
    await scene.caller(roomXml('enterSound="none"'));
    expect(room().playbacks).toHaveLength(3);
    await scene.caller(roomXml('enterSound="https://app.test/hello.wav"'));
    expect(scene.loaded).toEqual(['https://app.test/hello.wav']);
    expect(room().playbacks).toHaveLength(4);
  });

  it('maxMembers: refuses further members, and their documents continue', async () => {
    await scene.caller(roomXml());
    const b = await scene.caller(roomXml('maxMembers="1"'));
    await b.running;
    await expect(b.call.ended).resolves.toMatchObject({ cause: 'endOfXml' });
    expect(members()).toHaveLength(1);
  });

  it('endConferenceOnExit removes all members, and their documents continue', async () => {
    const a = await scene.caller(`${roomXml()}<Play>https://app.test/after.wav</Play>`);
    const host = await scene.caller(roomXml('endConferenceOnExit="true"'));
    host.ends('bye');
    await settle();
    expect(a.call.isEnded).toBe(false);
    expect(scene.loaded).toEqual(['https://app.test/after.wav']);
    expect(scene.events(EVENTS).slice(2)).toEqual(['ConferenceExit', 'ConferenceExit']);
    expect(room().isClosed).toBe(true);
  });

  it('stayAlone="false" removes the last remaining member, but not the first to join', async () => {
    const a = await scene.caller(roomXml('stayAlone="false"'));
    expect(members()).toHaveLength(1);
    const b = await scene.caller(roomXml());
    b.ends('bye');
    await a.running;
    expect(a.call.isEnded).toBe(true);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('stayAlone (default) keeps the last remaining member', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml());
    b.ends('bye');
    await b.running;
    expect(a.call.isEnded).toBe(false);
  });

  it('timeLimit and hangupOnStar remove only that member', async () => {
    const a = await scene.caller(roomXml('timeLimit="60"'));
    const b = await scene.caller(roomXml('hangupOnStar="true"'));
    const c = await scene.caller(roomXml());
    b.press('1*');
    await b.running;
    await scene.clock.advance(59_999);
    expect(a.call.isEnded).toBe(false);
    await scene.clock.advance(1);
    await a.running;
    expect(members().map(({ callUuid }) => callUuid)).toEqual([c.call.uuid]);
  });

  it('removes a call that is transferred', async () => {
    scene.documents.set('https://app.test/moved', '<Response><Wait length="60"/></Response>');
    const a = await scene.caller(roomXml(`action="${ACTION}"`));
    a.interpreter.transfer({ url: 'https://app.test/moved', method: 'POST' });
    await settle();
    expect(scene.events(EVENTS)).toEqual(['ConferenceEnter', 'ConferenceExit']);
    expect(room().isClosed).toBe(true);
    expect(a.call.isEnded).toBe(false);
  });
});

describe('Conference: before it starts (dialect §2.1, startConferenceOnEnter, waitSound)', () => {
  const WAIT = 'https://app.test/wait';
  const waiting = `startConferenceOnEnter="false" waitSound="${WAIT}"`;

  it('isolates waiting members and repeats their waitSound', async () => {
    scene.documents.set(
      WAIT,
      '<Response><Play>https://app.test/moh.wav</Play><Wait length="2"/></Response>',
    );
    const a = await scene.caller(roomXml(waiting));
    expect(flagsOf(0)).toMatchObject({ held: true });
    expect(scene.requests.at(-1)).toMatchObject({
      url: WAIT,
      parameters: {
        Event: 'ConferenceRemoteSounds',
        ConferenceAction: 'waitSound',
        ConferenceName: 'Weekly',
        ConferenceMemberID: '1',
      },
    });
    expect(a.media.sounding).toHaveLength(1);
    a.media.sounding[0]?.complete();
    await scene.clock.advance(1999);
    expect(a.media.sounding).toHaveLength(0);
    await scene.clock.advance(1);
    expect(a.media.sounding).toHaveLength(1);
    expect(room().playbacks).toHaveLength(0);
  });

  it('starts for all members when one with startConferenceOnEnter joins', async () => {
    scene.documents.set(WAIT, '<Response><Play>https://app.test/moh.wav</Play></Response>');
    const a = await scene.caller(roomXml(waiting));
    await scene.caller(roomXml());
    await settle();
    expect(flagsOf(0)).toMatchObject({ held: false });
    expect(flagsOf(1)).toMatchObject({ held: false });
    expect(a.media.sounding).toHaveLength(0);
  });

  it('stays silent if the waitSound cannot be loaded', async () => {
    const a = await scene.caller(roomXml(waiting));
    await scene.clock.advance(10_000);
    expect(a.call.isEnded).toBe(false);
    expect(a.call.log.entries().map(({ text }) => text)).toContain('sound cannot be fetched');
    a.ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('Conference: keys and voices (dialect §2.1)', () => {
  it('reports digitsMatch to the callbackUrl of the member that pressed the keys', async () => {
    const a = await scene.caller(roomXml('digitsMatch="99"'));
    a.press('199');
    expect(scene.reported(EVENTS).at(-1)).toMatchObject({
      ConferenceAction: 'digits',
      Event: 'ConferenceDigitsMatch',
      ConferenceDigitsMatch: '99',
      ConferenceMemberID: '1',
    });
  });

  it('enables in-band tone detection only for members with key actions', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml('digitsMatch="99"'));
    const c = await scene.caller(roomXml('hangupOnStar="true"'));
    expect([a, b, c].map(({ media }) => media.hearsTones)).toEqual([false, true, true]);
  });

  it('relays keypad presses to other members with relayDTMF (default), but not with relayDTMF="false"', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml('relayDTMF="false"'));
    a.press('5');
    b.press('6');
    expect(b.media.digits).toEqual(['5']);
    expect(a.media.digits).toEqual([]);
  });

  it('relays no keypad presses to deaf members, of in-band tones, or before the start', async () => {
    const early = 'startConferenceOnEnter="false"';
    const a = await scene.caller(roomXml(early));
    const b = await scene.caller(roomXml(early), { sdp: SDP_WITHOUT_EVENTS });
    a.press('1');
    expect(b.media.digits).toEqual([]);
    const c = await scene.caller(roomXml());
    scene.needs.conferences.act(asAccountId('MA_ONE'), 'Weekly', ['3'], { kind: 'deaf' });
    a.press('2');
    b.press('3');
    c.media.events.dtmf('4', true); // An in-band tone, which the others receive in the audio.
    expect([a, b, c].map(({ media }) => media.digits)).toEqual([[], ['2'], []]);
  });

  it('reports floorEvent when another member begins to speak, once per turn', async () => {
    await scene.caller(roomXml('floorEvent="true"'));
    await scene.caller(roomXml('floorEvent="true"'));
    const [one, two] = room().seats;
    room().events.floor(one);
    room().events.floor(undefined);
    room().events.floor(one);
    room().events.floor(two);
    expect(scene.reported(EVENTS).slice(2)).toMatchObject([
      { ConferenceAction: 'floor', Event: 'ConferenceFloor', ConferenceMemberID: '1' },
      { ConferenceAction: 'floor', ConferenceMemberID: '2' },
    ]);
  });

  it('joins muted members as muted, and sends sendDigits to a member when it joins', async () => {
    const a = await scene.caller(roomXml('muted="true" sendDigits="1234#"'));
    expect(flagsOf(0)).toMatchObject({ muted: true, deaf: false });
    expect(a.media.digits).toEqual(['1234#']);
  });
});

describe('Conference: record and action (dialect §2.1: working, unlike with other services)', () => {
  it('records while two members are present; the callback follows the file', async () => {
    await scene.caller(roomXml('record="true" recordFileFormat="wav"'));
    expect(scene.roomRecordings).toHaveLength(0);
    const b = await scene.caller(roomXml());
    const [recording] = scene.roomRecordings;
    expect(recording?.request).toMatchObject({
      accountId: 'MA_ONE',
      conferenceName: 'Weekly',
      format: 'wav',
      currency: 'USD',
    });
    b.ends('bye');
    await b.running;
    expect(recording?.stoppedWith).toEqual(['HungUp']);
    const notice = recording?.request.notice;
    expect(notice).toMatchObject({ event: 'ConferenceRecord', target: { url: EVENTS } });
    expect(Object.fromEntries(notice?.parameters ?? [])).toMatchObject({
      ConferenceAction: 'record',
      Event: 'ConferenceRecord',
      ConferenceName: 'Weekly',
      ConferenceMemberID: '1',
    });
  });

  it('is not started by a caller who has refused consent', async () => {
    const question = '<Consent timeout="1" onRefusal="continue">May we record?</Consent>';
    const a = await scene.caller(question + roomXml('record="true" recordWhenAlone="true"'));
    a.media.sounding[0]?.complete();
    await scene.clock.advance(1000);
    expect(scene.media.rooms).toHaveLength(1);
    expect(scene.roomRecordings).toEqual([]);
    const [warning] = a.call.log.entries().filter(({ kind }) => kind === 'warning');
    expect(warning).toMatchObject({ text: 'conference not recorded' });
    await scene.caller(roomXml('record="true"'));
    expect(scene.roomRecordings).toHaveLength(1);
  });

  it('recordWhenAlone also records a single member, until the room is empty', async () => {
    const a = await scene.caller(roomXml('record="true" recordWhenAlone="true"'));
    expect(scene.roomRecordings).toMatchObject([{ stoppedWith: [] }]);
    a.ends('bye');
    await a.running;
    expect(scene.roomRecordings).toMatchObject([{ stoppedWith: ['HungUp'] }]);
  });

  it('stops a recording that is still starting when the room empties', async () => {
    const a = await scene.caller(roomXml());
    const started = scene.needs.conferences.record(asAccountId('MA_ONE'), 'Weekly', {
      maxMs: 60_000,
      format: 'mp3',
      channels: 'mono',
      callback: undefined,
    });
    a.ends('bye');
    await started;
    expect(scene.roomRecordings).toMatchObject([{ stoppedWith: ['HungUp'] }]);
  });

  it('records again if a member joins while a stopped recording is still starting', async () => {
    const start = Promise.withResolvers<void>();
    const { recorder } = scene.needs;
    const { startRoom } = recorder;
    Object.assign(recorder, {
      startRoom: async (...given: Parameters<typeof startRoom>) => {
        await start.promise;
        return startRoom(...given);
      },
    });
    await scene.caller(roomXml('record="true"'));
    const b = await scene.caller(roomXml());
    b.ends('bye');
    await b.running;
    await scene.caller(roomXml());
    start.resolve();
    await settle();
    expect(scene.roomRecordings).toMatchObject([{ stoppedWith: ['HungUp'] }, { stoppedWith: [] }]);
  });

  it('requests the next document from action when the member leaves', async () => {
    scene.documents.set(ACTION, '<Response><Hangup/></Response>');
    const a = await scene.caller(
      roomXml(`record="true" recordWhenAlone="true" hangupOnStar="true" action="${ACTION}"`),
    );
    a.press('*');
    await a.running;
    expect(scene.requests.at(-1)).toMatchObject({
      url: ACTION,
      parameters: {
        Event: 'ConferenceAction',
        ConferenceName: 'Weekly',
        ConferenceMemberID: '1',
        RecordUrl: 'https://media.test/rec-1.mp3',
        RecordFile: 'https://media.test/rec-1.mp3',
        RecordingID: 'rec-1',
      },
    });
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('notifies action without requesting a document when the call ended in the room', async () => {
    const a = await scene.caller(roomXml(`action="${ACTION}"`));
    a.ends('bye');
    await a.running;
    expect(scene.reported(ACTION)).toMatchObject([{ CallStatus: 'completed' }]);
    expect(scene.requests).toHaveLength(1);
  });
});

describe('Conference operations of the REST API (dialect §3.5)', () => {
  it('list members with their flags', async () => {
    const a = await scene.caller(roomXml('muted="true"'));
    expect(members()).toEqual([
      {
        memberId: '1',
        callUuid: a.call.uuid,
        from: '14155550100',
        to: '14155550199',
        callerName: '',
        direction: 'inbound',
        muted: true,
        deaf: false,
        inRoomMs: 0,
      },
    ]);
  });

  it('mute, deaf and their opposites apply to one, several or all members', async () => {
    await scene.caller(roomXml());
    await scene.caller(roomXml());
    const { conferences } = scene.needs;
    expect(conferences.act(asAccountId('MA_ONE'), 'Weekly', ['2'], { kind: 'mute' })).toEqual({
      ok: true,
      value: ['2'],
    });
    expect(conferences.act(asAccountId('MA_ONE'), 'Weekly', 'all', { kind: 'deaf' })).toEqual({
      ok: true,
      value: ['1', '2'],
    });
    expect([flagsOf(0), flagsOf(1)]).toMatchObject([
      { muted: false, deaf: true },
      { muted: true, deaf: true },
    ]);
    conferences.act(asAccountId('MA_ONE'), 'Weekly', ['1', '2', '3'], { kind: 'undeaf' });
    conferences.act(asAccountId('MA_ONE'), 'Weekly', 'all', { kind: 'unmute' });
    expect([flagsOf(0), flagsOf(1)]).toMatchObject([
      { muted: false, deaf: false },
      { muted: false, deaf: false },
    ]);
  });

  it('report notFound for unknown rooms and members, and for those of other accounts', async () => {
    await scene.caller(roomXml());
    const { conferences } = scene.needs;
    const notFound = { ok: false, error: { kind: 'notFound', what: 'conference' } };
    expect(conferences.act(asAccountId('MA_ONE'), 'Weekly', ['7'], { kind: 'mute' })).toEqual({
      ok: false,
      error: { kind: 'notFound', what: 'member' },
    });
    expect(conferences.act(asAccountId('MA_ONE'), 'weekly', 'all', { kind: 'mute' })).toEqual(
      notFound,
    );
    expect(conferences.act(asAccountId('MA_TWO'), 'Weekly', 'all', { kind: 'kick' })).toEqual(
      notFound,
    );
    expect(conferences.end(asAccountId('MA_TWO'), 'Weekly')).toEqual(notFound);
    expect(members()).toHaveLength(1);
  });

  it("kick continues the member's document; hangup ends its call", async () => {
    const a = await scene.caller(`${roomXml()}<Wait length="60"/>`);
    const b = await scene.caller(roomXml());
    const { conferences } = scene.needs;
    conferences.act(asAccountId('MA_ONE'), 'Weekly', ['1'], { kind: 'kick' });
    conferences.act(asAccountId('MA_ONE'), 'Weekly', ['2'], { kind: 'hangup' });
    await b.running;
    expect(a.call.isEnded).toBe(false);
    await expect(b.call.ended).resolves.toMatchObject({ cause: 'normal', source: 'API Request' });
    expect(scene.needs.conferences.list(asAccountId('MA_ONE'))).toEqual([]);
  });

  it('play and speak to one member over the conference until stopped', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml());
    const { conferences } = scene.needs;
    const speak = { kind: 'speak', text: 'Hello', voice: 'WOMAN', language: 'en-US' } as const;
    conferences.act(asAccountId('MA_ONE'), 'Weekly', ['1'], {
      kind: 'play',
      url: 'https://app.test/a.wav',
    });
    conferences.act(asAccountId('MA_ONE'), 'Weekly', ['1'], speak);
    await settle();
    expect(a.media.sounding).toMatchObject([{ mix: true }, { mix: true }]);
    expect(b.media.sounding).toHaveLength(0);
    conferences.act(asAccountId('MA_ONE'), 'Weekly', ['1'], { kind: 'stopPlay' });
    await settle();
    expect(a.media.sounding).toHaveLength(1);
    conferences.act(asAccountId('MA_ONE'), 'Weekly', ['1'], { kind: 'stopSpeak' });
    await settle();
    expect(a.media.sounding).toHaveLength(0);
  });

  it("end a member's individual sounds when it leaves the room", async () => {
    const wait = '<Wait length="60"/>';
    const a = await scene.caller(`${roomXml()}${wait}`);
    scene.documents.set(
      'https://app.test/w',
      '<Response><Play>https://x.test/a.wav</Play></Response>',
    );
    const { conferences } = scene.needs;
    conferences.act(asAccountId('MA_ONE'), 'Weekly', ['1'], {
      kind: 'play',
      url: 'https://app.test/a.wav',
    });
    await settle();
    const b = await scene.caller(
      `<Conference startConferenceOnEnter="false" waitSound="https://app.test/w">Later</Conference>${wait}`,
    );
    expect([a.media.sounding.length, b.media.sounding.length]).toEqual([1, 1]);
    conferences.act(asAccountId('MA_ONE'), 'Weekly', 'all', { kind: 'kick' });
    conferences.act(asAccountId('MA_ONE'), 'Later', 'all', { kind: 'kick' });
    await settle();
    expect([a.media.sounding.length, b.media.sounding.length]).toEqual([0, 0]);
  });

  it('close a room if the media engine rejects its first member', async () => {
    const { openRoom } = scene.media.asMedia;
    scene.media.asMedia.openRoom = (events) => {
      const opened = openRoom(events);
      opened.join = () => {
        throw new Error('no room left');
      };
      return opened;
    };
    const a = await scene.caller(roomXml());
    await expect(a.call.ended).resolves.toMatchObject({ cause: 'internalError', source: 'Error' });
    expect(scene.needs.conferences.list(asAccountId('MA_ONE'))).toEqual([]);
    expect(scene.leftovers()).toMatchObject({ openRooms: 0, openLegs: 0 });
  });

  it('hang up all members when ending one or all conferences', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml('', 'Other'));
    const elsewhere = await scene.caller(roomXml(), { accountId: asAccountId('MA_TWO') });
    const { conferences } = scene.needs;
    expect(conferences.end(asAccountId('MA_ONE'), 'Weekly')).toMatchObject({ ok: true });
    await a.running;
    expect(b.call.isEnded).toBe(false);
    expect(conferences.end(asAccountId('MA_ONE'), undefined)).toMatchObject({ ok: true });
    await b.running;
    expect(conferences.end(asAccountId('MA_ONE'), undefined)).toMatchObject({ ok: true });
    expect(elsewhere.call.isEnded).toBe(false);
  });

  it("record once at a time, stop idempotently and notify the request's callback", async () => {
    await scene.caller(roomXml());
    const { conferences } = scene.needs;
    const request = {
      maxMs: 60_000,
      format: 'mp3',
      channels: 'mono',
      callback: { url: 'https://app.test/recorded', method: 'POST' },
    } as const;
    expect(await conferences.record(asAccountId('MA_ONE'), 'Weekly', request)).toEqual({
      ok: true,
      value: { recordingId: 'rec-1', url: 'https://media.test/rec-1.mp3' },
    });
    expect(await conferences.record(asAccountId('MA_ONE'), 'Weekly', request)).toMatchObject({
      ok: false,
      error: { kind: 'wrongState' },
    });
    expect(conferences.stopRecording(asAccountId('MA_ONE'), 'Weekly')).toMatchObject({ ok: true });
    expect(conferences.stopRecording(asAccountId('MA_ONE'), 'Weekly')).toMatchObject({ ok: true });
    const [recording] = scene.roomRecordings;
    expect(recording?.stoppedWith).toEqual(['API request']);
    expect(recording?.request.maxMs).toBe(60_000);
    expect(recording?.request.notice).toMatchObject({
      event: 'ConferenceRecord',
      target: request.callback,
      parameters: [
        ['ConferenceAction', 'record'],
        ['Event', 'ConferenceRecord'],
        ['ConferenceName', 'Weekly'],
        ['ConferenceUUID', expect.any(String)],
        ['ParentAuthID', 'MA_ONE'],
      ],
    });
    expect(await conferences.record(asAccountId('MA_ONE'), 'Weekly', request)).toMatchObject({
      ok: true,
    });
  });

  it('allow another recording after one ended at its time limit', async () => {
    await scene.caller(roomXml());
    const { conferences } = scene.needs;
    const request = {
      maxMs: 60_000,
      format: 'mp3',
      channels: 'mono',
      callback: undefined,
    } as const;
    await conferences.record(asAccountId('MA_ONE'), 'Weekly', request);
    scene.roomRecordings[0]?.end();
    await settle();
    expect(await conferences.record(asAccountId('MA_ONE'), 'Weekly', request)).toMatchObject({
      ok: true,
    });
  });
});
