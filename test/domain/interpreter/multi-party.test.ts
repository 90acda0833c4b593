import { beforeEach, describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import type { FakeRoom } from '../../fakes/media.ts';
import { settle } from '../../sim/clock.ts';
import { NOTHING_LEFT, Scene } from './scene.ts';

const STATUS = 'https://app.test/mpc';
const MUSIC = 'https://app.test/music.mp3';
const ACCOUNT = asAccountId('MA_ONE');

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const mpc = (role: string, attributes = ''): string =>
  `<MultiPartyCall role="${role}" enterSound="none" exitSound="none" statusCallbackUrl="${STATUS}" ${attributes}>support</MultiPartyCall>`;

const parties = () => scene.needs.conferences.parties(ACCOUNT);
const flags = (index: number) => (scene.media.rooms[0] as FakeRoom).seats[index]?.flags;

describe('MultiPartyCall (dialect §2.1)', () => {
  it('connects agents and customers; only agents hear a coaching supervisor', async () => {
    await scene.caller(mpc('customer'));
    await scene.caller(mpc('agent'));
    const supervisor = await scene.caller(mpc('supervisor'));
    expect(flags(0)).toMatchObject({ held: false });
    expect(flags(0)).not.toHaveProperty('coached');
    expect(flags(1)).toMatchObject({ coached: true });
    expect(flags(2)).toMatchObject({ whispers: true });
    const [call] = parties();
    expect(call?.members.map(({ party }) => party?.role)).toEqual([
      'customer',
      'agent',
      'supervisor',
    ]);
    const done = scene.needs.conferences.changeParty(ACCOUNT, `uuid_${call?.uuid}`, {
      kind: 'member',
      member: supervisor.call.uuid,
      change: { coachMode: false },
    });
    expect(done.ok).toBe(true);
    expect(flags(2)).toMatchObject({ whispers: false });
    expect(scene.events(STATUS)).toContain('ParticipantCoachModeOff');
  });

  it('plays waiting music to a lone member, before the second joins and after it has left', async () => {
    const a = await scene.caller(mpc('customer', `waitMusicUrl="${MUSIC}" stayAlone="true"`));
    await settle();
    expect(flags(0)).toMatchObject({ held: true });
    expect(scene.loaded).toEqual([MUSIC]);
    const b = await scene.caller(mpc('agent'));
    expect(flags(0)).toMatchObject({ held: false });
    expect(a.media.sounding).toHaveLength(0);
    b.ends('bye');
    await b.running;
    await settle();
    expect(flags(0)).toMatchObject({ held: true });
    a.ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('isolates a member on hold with its music, even when others join', async () => {
    const a = await scene.caller(mpc('customer', `customerHoldMusicUrl="${MUSIC}"`));
    await scene.caller(mpc('agent'));
    const change = (hold: boolean) =>
      scene.needs.conferences.changeParty(ACCOUNT, 'name_support', {
        kind: 'member',
        member: '1',
        change: { hold },
      });
    change(true);
    await settle();
    expect(flags(0)).toMatchObject({ held: true });
    expect(a.media.sounding).toHaveLength(1);
    await scene.caller(mpc('agent'));
    expect(flags(0)).toMatchObject({ held: true });
    change(false);
    await settle();
    expect(flags(0)).toMatchObject({ held: false });
    expect(a.media.sounding).toHaveLength(0);
  });

  it('reports its state and that of its members, by role', async () => {
    const a = await scene.caller(mpc('customer'));
    const b = await scene.caller(mpc('agent', 'endMpcOnExit="true"'));
    b.ends('bye');
    await Promise.all([a.running, b.running]);
    expect(scene.events(STATUS)).toEqual([
      'MPCInitialized',
      'ParticipantJoined',
      'MPCStarted',
      'ParticipantJoined',
      'ParticipantLeft',
      'ParticipantLeft',
      'MPCEnded',
    ]);
    expect(scene.reported(STATUS)[1]).toMatchObject({
      MPCName: 'support',
      ParticipantRole: 'customer',
      ParticipantCallUUID: a.call.uuid,
      ParticipantCallFrom: '14155550100',
    });
  });

  it('is separate from a conference with the same name', async () => {
    await scene.caller(mpc('agent'));
    await scene.caller('<Conference>support</Conference>');
    expect(scene.media.rooms).toHaveLength(2);
    expect(parties().map(({ name }) => name)).toEqual(['support']);
    expect(scene.needs.conferences.list(ACCOUNT)).toHaveLength(1);
    expect(scene.needs.conferences.get(ACCOUNT, 'support')?.members).toHaveLength(1);
  });

  it('ends at its maximum duration, and removes members at their wait limit', async () => {
    const a = await scene.caller(mpc('customer', 'waitTime="30" startMpcOnEnter="false"'));
    await scene.clock.advance(30_000);
    await a.running;
    const b = await scene.caller(mpc('customer', 'stayAlone="true" maxDuration="300"'));
    await scene.clock.advance(300_000);
    await b.running;
    expect(parties()).toEqual([]);
  });

  it('continues the document of a kicked member', async () => {
    const a = await scene.caller(
      `${mpc('customer', 'onExitActionUrl="https://app.test/after"')}<Speak>never</Speak>`,
    );
    await scene.caller(mpc('agent', 'stayAlone="true"'));
    scene.documents.set('https://app.test/after', '<Response><Hangup/></Response>');
    scene.needs.conferences.changeParty(ACCOUNT, 'name_support', {
      kind: 'kick',
      member: a.call.uuid,
    });
    await a.running;
    expect(scene.requests.at(-1)?.url).toBe('https://app.test/after');
    const gone = { kind: 'kick', member: a.call.uuid } as const;
    expect(scene.needs.conferences.changeParty(ACCOUNT, 'name_support', gone).ok).toBe(false);
    expect(scene.needs.conferences.changeParty(ACCOUNT, 'name_other', { kind: 'end' }).ok).toBe(
      false,
    );
  });

  it('pauses and resumes recordings of all or one member, and notifies their callback', async () => {
    const reported = { url: 'https://app.test/recorded', method: 'POST' } as const;
    const request = { maxMs: 0, format: 'mp3', channels: 'mono', callback: reported } as const;
    const { conferences } = scene.needs;
    const a = await scene.caller(mpc('customer'));
    const b = await scene.caller(mpc('agent', 'stayAlone="true"'));
    const pause = (member?: string) =>
      conferences.changeParty(ACCOUNT, 'name_support', {
        kind: 'pauseRecording',
        ...(member && { member }),
      });
    expect(pause()).toMatchObject({ error: { kind: 'notFound', what: 'recording' } });
    await conferences.recordParty(ACCOUNT, 'name_support', request);
    const of = { id: a.call.uuid, track: 'voice' } as const;
    await conferences.recordParty(ACCOUNT, 'name_support', request, of);
    expect(await conferences.recordParty(ACCOUNT, 'name_support', request, of)).toMatchObject({
      error: { kind: 'wrongState' },
    });
    expect(scene.callRecordings[0]?.request).toMatchObject({ sides: 'peer' });
    pause();
    pause('1');
    expect(parties()[0]?.party?.recording).toBe('paused');
    expect(parties()[0]?.members[0]?.party?.recording).toBe('paused');
    conferences.changeParty(ACCOUNT, 'name_support', { kind: 'resumeRecording' });
    expect(scene.roomRecordings[0]?.pauses).toEqual([true, false]);
    expect(scene.callRecordings[0]?.pauses).toEqual([true]);
    expect(scene.reported(reported.url)).toMatchObject([
      { EventName: 'MPCRecordingPaused', MPCName: 'support', RecordingID: 'rec-1' },
      { EventName: 'ParticipantRecordingPaused', MemberID: '1' },
      { EventName: 'MPCRecordingResumed' },
    ]);
    a.ends('bye');
    await a.running;
    expect(scene.callRecordings[0]?.stoppedWith).toEqual(['HungUp']);
    expect(parties()[0]?.party?.recording).toBe('recording');
    b.ends('bye');
    await b.running;
  });

  it('is listed with its members and end cause for a week after its end', async () => {
    const { conferences } = scene.needs;
    const ended = () => conferences.endedParties(ACCOUNT);
    const a = await scene.caller(mpc('customer'));
    const b = await scene.caller(mpc('agent'));
    await scene.clock.advance(5000);
    a.ends('bye');
    await Promise.all([a.running, b.running]);
    expect(ended()).toMatchObject([
      {
        name: 'support',
        runningMs: 5000,
        members: [],
        party: {
          cause: 'alone',
          former: [
            { memberId: '2', party: { role: 'agent', leftBecause: 'alone' } },
            { memberId: '1', party: { role: 'customer', leftBecause: 'callOver' } },
          ],
        },
      },
    ]);
    const c = await scene.caller(mpc('customer'));
    conferences.changeParty(ACCOUNT, 'name_support', { kind: 'end' });
    c.ends('bye');
    await c.running;
    const d = await scene.caller(mpc('customer', 'stayAlone="true" maxDuration="300"'));
    await scene.clock.advance(300_000);
    await d.running;
    expect(ended().map(({ party }) => party?.cause)).toEqual(['maxDuration', 'api', 'alone']);
    expect(conferences.endedParties(asAccountId('MA_TWO'))).toEqual([]);
    await scene.clock.advance(7 * 86_400_000 + 1);
    expect(ended()).toEqual([]);
  });

  it('has ended for all members, not for a last one alone, if a member ends it for all', async () => {
    const a = await scene.caller(mpc('agent', 'endMpcOnExit="true"'));
    const others = [await scene.caller(mpc('customer')), await scene.caller(mpc('customer'))];
    a.ends('bye');
    await Promise.all([a, ...others].map(({ running }) => running));
    const left = scene.reported(STATUS).filter(({ Event }) => Event === 'ParticipantLeft');
    expect(left.map(({ Reason }) => Reason)).toEqual(['callOver', 'roomEnded', 'roomEnded']);
    expect(scene.events(STATUS).at(-1)).toBe('MPCEnded');
    const [ended] = scene.needs.conferences.endedParties(ACCOUNT);
    expect(ended?.party).toMatchObject({ cause: 'empty' });
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('names event and account in callbacks about its recording', async () => {
    const recorded = 'https://app.test/recorded';
    const xml = mpc('agent', `record="true" recordingCallbackUrl="${recorded}"`);
    await scene.caller(xml);
    const [recording] = scene.roomRecordings;
    expect(Object.fromEntries(recording?.request.notice?.parameters ?? [])).toMatchObject({
      Event: 'MPCRecordingCompleted',
      EventName: 'MPCRecordingCompleted',
      MPCName: 'support',
      ParentAuthID: ACCOUNT,
    });
    scene.needs.conferences.changeParty(ACCOUNT, 'name_support', { kind: 'pauseRecording' });
    expect(scene.reported(recorded)).toMatchObject([
      { EventName: 'MPCRecordingPaused', ParentAuthID: ACCOUNT },
    ]);
  });

  it('is listed for at most a hundred ended calls per account', async () => {
    for (let count = 0; count < 101; count += 1) {
      const a = await scene.caller(mpc('customer'));
      a.ends('bye');
      await a.running;
    }
    expect(scene.needs.conferences.endedParties(ACCOUNT)).toHaveLength(100);
  });

  it.each(['role="boss"', ''])('refuses a document without a known role (%s)', async (role) => {
    const a = await scene.caller(`<MultiPartyCall ${role}>support</MultiPartyCall>`);
    await a.running;
    expect(JSON.stringify(a.call.log.entries())).toContain('role');
    expect(parties()).toEqual([]);
  });
});
