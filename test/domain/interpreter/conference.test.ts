import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { settle } from '../../sim/clock.ts';
import { type FakeRoom, NOTHING_LEFT, Scene, SDP_WITHOUT_EVENTS } from './scene.ts';

const EVENTS = 'https://app.test/room-events';
const ACTION = 'https://app.test/action';

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const roomXml = (attributes = '', name = 'Weekly'): string =>
  `<Conference callbackUrl="${EVENTS}" ${attributes}>${name}</Conference>`;

/** The media of the only room, or of the one at `index`. */
function room(index = 0): FakeRoom {
  const found = scene.media.rooms[index];
  if (found === undefined) throw new Error(`there is no room ${index}`);
  return found;
}

const flagsOf = (index: number) => room().seats[index]?.flags;
const members = (account = asAccountId('MA_ONE'), name = 'Weekly') =>
  scene.needs.conferences.get(account, name)?.members ?? [];

describe('Conference: entering and leaving (dialect §2.1)', () => {
  it('calls with the same name meet in one room; names are case-sensitive and belong to their account', async () => {
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

  it('tells enter and exit with the fields of the vendors, in order', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml());
    b.ends('bye');
    await b.running;
    a.ends('bye');
    await a.running;
    const uuid = scene.told(EVENTS)[0]?.['ConferenceUUID'];
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
    expect(scene.told(EVENTS)).toEqual([
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

  it('beeps once when somebody comes and twice when somebody goes; enterSound and exitSound say otherwise', async () => {
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

  it('maxMembers: who comes too many is not let in, and its document goes on', async () => {
    await scene.caller(roomXml());
    const b = await scene.caller(roomXml('maxMembers="1"'));
    await b.running;
    await expect(b.call.ended).resolves.toMatchObject({ cause: 'endOfXml' });
    expect(members()).toHaveLength(1);
  });

  it('endConferenceOnExit lets everybody go, and their documents go on', async () => {
    const a = await scene.caller(`${roomXml()}<Play>https://app.test/after.wav</Play>`);
    const host = await scene.caller(roomXml('endConferenceOnExit="true"'));
    host.ends('bye');
    await settle();
    expect(a.call.isEnded).toBe(false);
    expect(scene.loaded).toEqual(['https://app.test/after.wav']);
    expect(scene.events(EVENTS).slice(2)).toEqual(['ConferenceExit', 'ConferenceExit']);
    expect(room().isClosed).toBe(true);
  });

  it('stayAlone="false" drops a member that is left alone, not one that comes first', async () => {
    const a = await scene.caller(roomXml('stayAlone="false"'));
    expect(members()).toHaveLength(1);
    const b = await scene.caller(roomXml());
    b.ends('bye');
    await a.running;
    expect(a.call.isEnded).toBe(true);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('stayAlone (default) keeps it', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml());
    b.ends('bye');
    await b.running;
    expect(a.call.isEnded).toBe(false);
  });

  it('timeLimit and hangupOnStar let a member go, nobody else', async () => {
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

  it('a transfer takes the call out of the room', async () => {
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

  it('members neither hear nor are heard but for their waitSound, which is played again and again', async () => {
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

  it('starts for all when a member with startConferenceOnEnter comes', async () => {
    scene.documents.set(WAIT, '<Response><Play>https://app.test/moh.wav</Play></Response>');
    const a = await scene.caller(roomXml(waiting));
    await scene.caller(roomXml());
    await settle();
    expect(flagsOf(0)).toMatchObject({ held: false });
    expect(flagsOf(1)).toMatchObject({ held: false });
    expect(a.media.sounding).toHaveLength(0);
  });

  it('a waitSound that cannot be had leaves silence, not a broken call', async () => {
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
  it('digitsMatch is told to the callbackUrl of the member that pressed', async () => {
    const a = await scene.caller(roomXml('digitsMatch="99"'));
    a.press('199');
    expect(scene.told(EVENTS).at(-1)).toMatchObject({
      ConferenceAction: 'digits',
      Event: 'ConferenceDigitsMatch',
      ConferenceDigitsMatch: '99',
      ConferenceMemberID: '1',
    });
  });

  it('tones are listened for where somebody acts on keys', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml('digitsMatch="99"'));
    const c = await scene.caller(roomXml('hangupOnStar="true"'));
    expect([a, b, c].map(({ media }) => media.hearsTones)).toEqual([false, true, true]);
  });

  it('relayDTMF (default) sends keys on to the others, relayDTMF="false" does not', async () => {
    const a = await scene.caller(roomXml());
    const b = await scene.caller(roomXml('relayDTMF="false"'));
    a.press('5');
    b.press('6');
    expect(b.media.sentDigits).toEqual(['5']);
    expect(a.media.sentDigits).toEqual([]);
  });

  it('relayDTMF spares the deaf, sends no tones twice, and waits for the start of the conference', async () => {
    const early = 'startConferenceOnEnter="false"';
    const a = await scene.caller(roomXml(early));
    const b = await scene.caller(roomXml(early), { sdp: SDP_WITHOUT_EVENTS });
    a.press('1');
    expect(b.media.sentDigits).toEqual([]);
    const c = await scene.caller(roomXml());
    scene.needs.conferences.act(asAccountId('MA_ONE'), 'Weekly', ['3'], { kind: 'deaf' });
    a.press('2');
    b.press('3');
    c.media.events.dtmf('4', true); // heard within its audio, which the others hear too
    expect([a, b, c].map(({ media }) => media.sentDigits)).toEqual([[], ['2'], []]);
  });

  it('floorEvent tells when somebody else speaks, once per turn', async () => {
    await scene.caller(roomXml('floorEvent="true"'));
    await scene.caller(roomXml('floorEvent="true"'));
    const [one, two] = room().seats;
    room().events.floor(one);
    room().events.floor(undefined);
    room().events.floor(one);
    room().events.floor(two);
    expect(scene.told(EVENTS).slice(2)).toMatchObject([
      { ConferenceAction: 'floor', Event: 'ConferenceFloor', ConferenceMemberID: '1' },
      { ConferenceAction: 'floor', ConferenceMemberID: '2' },
    ]);
  });

  it('muted enters muted; sendDigits are sent to the member on entering', async () => {
    const a = await scene.caller(roomXml('muted="true" sendDigits="1234#"'));
    expect(flagsOf(0)).toMatchObject({ muted: true, deaf: false });
    expect(a.media.sentDigits).toEqual(['1234#']);
  });
});

describe('Conference: record and action (dialect §2.1: working, unlike with other services)', () => {
  it('record: from the second member on, until fewer are left; the callback comes with the file', async () => {
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

  it('recordWhenAlone records the first member too, until the room is empty', async () => {
    const a = await scene.caller(roomXml('record="true" recordWhenAlone="true"'));
    expect(scene.roomRecordings).toMatchObject([{ stoppedWith: [] }]);
    a.ends('bye');
    await a.running;
    expect(scene.roomRecordings).toMatchObject([{ stoppedWith: ['HungUp'] }]);
  });

  it('a recording that is still being started when the room empties is stopped all the same', async () => {
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

  it('action is asked for the next document when the member leaves', async () => {
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

  it('action is told, and asks for nothing, when the call ended in the room', async () => {
    const a = await scene.caller(roomXml(`action="${ACTION}"`));
    a.ends('bye');
    await a.running;
    expect(scene.told(ACTION)).toMatchObject([{ CallStatus: 'completed' }]);
    expect(scene.requests).toHaveLength(1);
  });
});

describe('Conferences by REST (dialect §3.5)', () => {
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

  it('mute, deaf and back again: one member, several, all', async () => {
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

  it('a room or member that is not there, or of another account, is not found', async () => {
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

  it('kick: the document goes on; hangup: the call ends', async () => {
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

  it('play and speak to one member over the conference, until stopped', async () => {
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

  it('what a member alone hears ends with its being in the room', async () => {
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

  it('a room whose first member the engine does not take in is gone again', async () => {
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

  it('ending a conference, or all of them, hangs up on everybody', async () => {
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

  it('recording: one at a time, stopped twice without harm, told to its own callback', async () => {
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
        ['ConferenceName', 'Weekly'],
        ['ConferenceUUID', expect.any(String)],
      ],
    });
    expect(await conferences.record(asAccountId('MA_ONE'), 'Weekly', request)).toMatchObject({
      ok: true,
    });
  });

  it('recording: one that ended at its time limit makes way for the next', async () => {
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
