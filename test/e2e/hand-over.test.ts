/** Bots that transfer their caller to a colleague, with the stream messages `note` and `transfer`. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { type Bot, streamXml } from './customer.ts';
import { Handset } from './handset.ts';
import { makeUser } from './phone.ts';
import { Scene } from './scene.ts';
import { eventually, type Json } from './service.ts';
import { loudMs, tone, toneMs } from './tones.ts';

// These tests start whole processes and share the machine with other tests.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open();
});
afterAll(() => scene.close());

/** Connections of a bot, oldest first, and their messages without `media`. */
interface Connection {
  readonly socket: WebSocket;
  readonly messages: Json[];
  readonly callUuid: string;
}

const ALLOWED = 'notes="true" transfers="true"';

/** Creates an application with a bot, and calls it. `after` follows the stream in the document. */
async function callBot(name: string, { attributes = ALLOWED, after = '' } = {}) {
  const connections: Connection[] = [];
  const bot: Bot = (socket) => {
    const messages: Json[] = [];
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Json;
      if (message['event'] === 'start')
        connections.push({ socket, messages, callUuid: String(message['callId']) });
      if (message['event'] !== 'media') messages.push(message);
    });
  };
  const url = scene.customer.bot(`/${name}-bot`, bot);
  const xml = streamXml(url, attributes).replace('</Response>', `${after}</Response>`);
  const user = await makeUser(scene.service, name, {
    answer_url: scene.customer.xml(`/${name}`, xml),
  });
  const phone = await Handset.call(scene.service, user, { voice: tone([900], 60_000) });
  await phone.answered;
  const connection = await eventually('the stream', () => connections[0]);
  return { phone, connections, ...connection };
}

const say = ({ socket }: { readonly socket: WebSocket }, message: Json): void =>
  socket.send(JSON.stringify(message));

/** One second of a tone. */
const beep = (hz: number): Json => {
  const payload = Buffer.from(PCMU.encode(tone([hz], 1000))).toString('base64');
  return { event: 'playAudio', media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload } };
};

const statuses = (messages: readonly Json[]): unknown[] =>
  messages
    .filter(({ event }) => event === 'transfer')
    .map(({ transfer }) => (transfer as Json)['status']);

const reached = (messages: readonly Json[], status: string): Promise<true> =>
  eventually(`transfer ${status}`, () => (statuses(messages).includes(status) ? true : undefined));

const uriOf = (element: string): string => /<User>(.*)<\/User>/.exec(element)?.[1] ?? '';

/** A registered phone that answers and speaks 700 Hz. */
async function colleagueNamed(name: string) {
  const { phone, element } = await scene.waiting(name, { voice: tone([700], 60_000) });
  return { colleague: phone, to: uriOf(element) };
}

const hears = (phone: Handset, hz: number): Promise<true> =>
  eventually(`${hz} Hz`, () => (toneMs(phone.received, hz) > 200 ? true : undefined));
const introduced = (colleague: Handset): Promise<true> =>
  eventually('the introduction', () => (loudMs(colleague.received) > 300 ? true : undefined));

async function timelineOf(uuid: string): Promise<readonly Json[]> {
  const { body } = await scene.service.admin('GET', `/calls/${uuid}`);
  return (body['log'] ?? []) as Json[];
}

describe('notes', () => {
  it('appear in the timeline of the call', async () => {
    const call = await callBot('noting');
    say(call, { event: 'note', note: { kind: 'transcript', speaker: 'caller', text: 'Hello.' } });
    say(call, { event: 'note', note: { kind: 'agent', text: 'cost 0.01' } });
    const log = await eventually('both notes', async () => {
      const entries = await timelineOf(call.callUuid);
      return entries.some(({ text }) => text === 'agent') ? entries : undefined;
    });
    expect(log.find(({ text }) => text === 'transcript')).toMatchObject({
      kind: 'stream',
      facts: { speaker: 'caller', text: 'Hello.' },
    });
    await call.phone.hangUp();
  });

  it('are unknown events without the attribute, as are transfers', async () => {
    const call = await callBot('plain', { attributes: '' });
    say(call, { event: 'note', note: { kind: 'agent', text: 'x' } });
    say(call, { event: 'transfer', transfer: { to: '14155550100' } });
    const errors = await eventually('two errors', () => {
      const all = call.messages.filter(({ event }) => event === 'error');
      return all.length === 2 ? all : undefined;
    });
    expect(errors.map(({ reason }) => reason)).toEqual([
      'unknown event "note"',
      'unknown event "transfer"',
    ]);
    await call.phone.hangUp();
  });
});

describe('a blind transfer', () => {
  it('plays the last words of the bot, ends the stream and connects caller and colleague', async () => {
    const { colleague, to } = await colleagueNamed('blindc');
    const call = await callBot('blind');
    say(call, beep(1500));
    say(call, { event: 'transfer', transfer: { to } });
    await colleague.answered;
    await Promise.all([hears(colleague, 900), hears(call.phone, 700)]);
    expect(toneMs(call.phone.received, 1500)).toBeGreaterThan(900);
    expect(call.messages.at(-1)).toMatchObject({ event: 'stop', reason: 'transfer' });
    await call.phone.hangUp();
    await colleague.ended;
    await colleague.close();
  });

  it('that fails continues with the element after the stream', async () => {
    const call = await callBot('blindfail', {
      after: `<Play>${scene.sounds.low}</Play>`,
    });
    const to = `sip:nobody@127.0.0.1:${scene.service.sipPort}`;
    say(call, { event: 'transfer', transfer: { to } });
    await call.phone.ended;
    expect(toneMs(call.phone.received, 800)).toBeGreaterThan(400);
    const log = await timelineOf(call.callUuid);
    expect(log.some(({ text }) => text === 'transfer failed')).toBe(true);
    await call.phone.close();
  });
});

describe('an attended transfer', () => {
  it('connects the colleague at the answer; the stream continues with the caller', async () => {
    const { colleague, to } = await colleagueNamed('attendedc');
    const call = await callBot('attended');
    say(call, { event: 'transfer', transfer: { mode: 'attended', to, stream: 'caller' } });
    await reached(call.messages, 'answered');
    await Promise.all([hears(colleague, 900), hears(call.phone, 700)]);
    await colleague.hangUp();
    await reached(call.messages, 'completed');
    expect(statuses(call.messages)).toEqual(['ringing', 'answered', 'completed']);
    // The bot is connected to the caller again.
    say(call, { event: 'checkpoint', name: 'still here' });
    await eventually('the checkpoint', () =>
      call.messages.find(({ event }) => event === 'playedStream'),
    );
    await call.phone.hangUp();
  });

  it('refuses a second transfer during the first, and destinations that cannot be called', async () => {
    const { colleague, to } = await colleagueNamed('secondc');
    const call = await callBot('second');
    say(call, { event: 'transfer', transfer: { mode: 'attended', to: 'front desk' } });
    await reached(call.messages, 'failed');
    say(call, { event: 'transfer', transfer: { mode: 'warm', to } });
    say(call, { event: 'transfer', transfer: { mode: 'warm', to } });
    await eventually('a second refusal', () =>
      statuses(call.messages).filter((status) => status === 'failed').length === 2
        ? true
        : undefined,
    );
    await call.phone.hangUp();
    // The caller has left during the introduction.
    await colleague.ended;
    await colleague.close();
  });
});

describe('a warm transfer', () => {
  it('introduces the caller, who hears music; after key 1 the bot leaves', async () => {
    const { colleague, to } = await colleagueNamed('warmc');
    const call = await callBot('warm');
    const transfer = { mode: 'warm', to, introduction: 'Anna asks about an invoice.' };
    say(call, { event: 'transfer', transfer });
    await colleague.answered;
    await introduced(colleague);
    await eventually('music', () => (loudMs(call.phone.received) > 300 ? true : undefined));
    // Neither hears the other before the colleague accepts.
    expect(toneMs(call.phone.received, 700)).toBe(0);
    expect(toneMs(colleague.received, 900)).toBe(0);
    colleague.press('1');
    await Promise.all([hears(colleague, 900), hears(call.phone, 700)]);
    await eventually('stop', () => call.messages.find(({ event }) => event === 'stop'));
    expect(statuses(call.messages)).toEqual(['ringing', 'answered']);
    await colleague.hangUp();
    await call.phone.ended;
    await call.phone.close();
  });

  it('returns the caller to the bot when the colleague declines', async () => {
    const { colleague, to } = await colleagueNamed('decliningc');
    const call = await callBot('declining');
    say(call, { event: 'transfer', transfer: { mode: 'warm', to } });
    await colleague.answered;
    await introduced(colleague);
    colleague.press('2');
    await reached(call.messages, 'declined');
    await colleague.ended;
    await eventually('the end of the music', () =>
      loudMs(call.phone.received.subarray(-2400)) === 0 ? true : undefined,
    );
    say(call, beep(1500));
    await hears(call.phone, 1500);
    await call.phone.hangUp();
    await colleague.close();
  });

  it('continues after the connection of the bot was lost', async () => {
    const { colleague, to } = await colleagueNamed('orphanedc');
    const call = await callBot('orphaned');
    say(call, { event: 'transfer', transfer: { mode: 'warm', to } });
    await introduced(colleague);
    call.socket.terminate();
    colleague.press('1');
    await Promise.all([hears(colleague, 900), hears(call.phone, 700)]);
    await call.phone.hangUp();
    await colleague.ended;
    await colleague.close();
  });

  it('ends with a REST transfer of the caller', async () => {
    const { colleague, to } = await colleagueNamed('movedc');
    const call = await callBot('moved');
    say(call, { event: 'transfer', transfer: { mode: 'warm', to } });
    await introduced(colleague);
    const moved = await scene.service.api('POST', `Call/${call.callUuid}/`, {
      legs: 'aleg',
      aleg_url: scene.document('/moved-on', `<Play>${scene.sounds.low}</Play>`),
    });
    expect(moved.status).toBe(202);
    await Promise.all([colleague.ended, call.phone.ended]);
    expect(toneMs(call.phone.received, 800)).toBeGreaterThan(400);
    await Promise.all([call.phone.close(), colleague.close()]);
  });

  it('continues the stream with the colleague', async () => {
    const { colleague, to } = await colleagueNamed('keptc');
    const call = await callBot('kept');
    say(call, { event: 'transfer', transfer: { mode: 'attended', to, stream: 'colleague' } });
    await Promise.all([hears(colleague, 900), hears(call.phone, 700)]);
    const second = await eventually('the second stream', () => call.connections[1]);
    expect(second.callUuid).not.toBe(call.callUuid);
    await eventually('stop', () => call.messages.find(({ event }) => event === 'stop'));
    // A transfer is up to the bot of the caller.
    say(second, { event: 'transfer', transfer: { to: '14155550100' } });
    await eventually('the refusal', () =>
      second.messages.find(({ reason }) => reason === 'unknown event "transfer"'),
    );
    await call.phone.hangUp();
    await colleague.ended;
    await colleague.close();
  });
});
