/** Bots that transfer their caller to a colleague, with the stream messages `note` and `transfer`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { onTime } from '../on-time.ts';
import { type Bot, streamXml } from './customer.ts';
import { Handset } from './handset.ts';
import { makeUser } from './phone.ts';
import { Scene } from './scene.ts';
import { eventually, type Json } from './service.ts';
import { loudMs, tone, toneMs } from './tones.ts';

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
  it('plays the last words of the bot, ends the stream and connects caller and colleague', () =>
    onTime(async (number) => {
      const { colleague, to } = await colleagueNamed(`blindc${number}`);
      const call = await callBot(`blind${number}`);
      say(call, beep(1500));
      say(call, { event: 'transfer', transfer: { to } });
      await colleague.answered;
      await Promise.all([hears(colleague, 900), hears(call.phone, 700)]);
      expect(toneMs(call.phone.received, 1500)).toBeGreaterThan(900);
      expect(call.messages.at(-1)).toMatchObject({ event: 'stop', reason: 'transfer' });
      await call.phone.hangUp();
      await colleague.ended;
      await colleague.close();
    }));

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

  it('counts as declined when the colleague hangs up during the introduction', async () => {
    const { colleague, to } = await colleagueNamed('leavingc');
    const call = await callBot('leaving');
    say(call, { event: 'transfer', transfer: { mode: 'warm', to } });
    await introduced(colleague);
    await colleague.hangUp();
    await reached(call.messages, 'declined');
    expect(call.messages.at(-1)).toMatchObject({
      transfer: { detail: 'the colleague hung up before the connection' },
    });
    await call.phone.hangUp();
  });

  it('reports its result to a bot that reconnects in the meantime', async () => {
    const { colleague, to } = await colleagueNamed('lostc');
    const call = await callBot('lost', { attributes: `${ALLOWED} maxRetries="1"` });
    say(call, { event: 'transfer', transfer: { mode: 'warm', to } });
    await introduced(colleague);
    call.socket.terminate();
    await eventually('the lost connection', async () => {
      const log = await timelineOf(call.callUuid);
      return log.find(({ kind, text }) => kind === 'stream' && text === 'dropped');
    });
    colleague.press('2');
    const second = await eventually('the second connection', () => call.connections[1]);
    await reached(second.messages, 'declined');
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

describe('a transfer over REST', () => {
  const transfer = (callUuid: string, body: Json) =>
    scene.service.api('POST', `Call/${callUuid}/Transfer/`, body);

  it('reports progress and decline to the callback; the bot without `transfers` gets no message', async () => {
    const { colleague, to } = await colleagueNamed('restc');
    const call = await callBot('rest', { attributes: '' });
    const callback_url = scene.url('/rest-progress');
    const body = { to, mode: 'warm', introduction: 'Anna asks about an invoice.', callback_url };
    expect((await transfer(call.callUuid, body)).status).toBe(202);
    await introduced(colleague);
    await eventually('music', () => (loudMs(call.phone.received) > 300 ? true : undefined));
    const second = await transfer(call.callUuid, body);
    expect(second.status).toBe(409);
    expect(second.text).toContain('another transfer is in progress');
    colleague.press('2');
    const posted = await eventually('the decline', () => {
      const forms = scene.customer.at('/rest-progress').map(({ form }) => form);
      return forms.some(({ TransferStatus }) => TransferStatus === 'declined') ? forms : undefined;
    });
    expect(posted.map(({ TransferStatus }) => TransferStatus)).toEqual(['ringing', 'declined']);
    expect(posted[1]).toMatchObject({
      Event: 'Transfer',
      TransferReason: 'the colleague declined',
      TransferMode: 'warm',
      TransferTo: to,
    });
    say(call, beep(1500));
    await hears(call.phone, 1500);
    expect(statuses(call.messages)).toEqual([]);
    await call.phone.hangUp();
    await colleague.close();
  });

  it('reports its end to the callback when the caller hangs up before and after the connection', async () => {
    for (const [name, key, status] of [
      ['leftbefore', undefined, 'canceled'],
      ['leftafter', '1', 'completed'],
    ] as const) {
      const { colleague, to } = await colleagueNamed(`${name}c`);
      const call = await callBot(name);
      const callback_url = scene.url(`/${name}-progress`);
      await transfer(call.callUuid, { to, mode: 'warm', callback_url });
      await introduced(colleague);
      if (key !== undefined) {
        colleague.press(key);
        await hears(colleague, 900);
      }
      await call.phone.hangUp();
      const last = await eventually('the end', () =>
        scene.customer
          .at(`/${name}-progress`)
          .map(({ form }) => form)
          .find(({ TransferStatus }) => TransferStatus === status),
      );
      expect(last['TransferReason']).toBe('the call ended');
      await colleague.ended;
      await colleague.close();
    }
  });

  it('is canceled by DELETE, and by the bot with `cancelTransfer`', async () => {
    const call = await callBot('cancel');
    const one = await colleagueNamed('cancel1');
    await transfer(call.callUuid, { to: one.to, mode: 'attended', stream: 'caller' });
    await Promise.all([hears(one.colleague, 900), hears(call.phone, 700)]);
    const path = `Call/${call.callUuid}/Transfer/`;
    expect((await scene.service.api('DELETE', path)).status).toBe(204);
    await one.colleague.ended;
    await reached(call.messages, 'canceled');
    const two = await colleagueNamed('cancel2');
    say(call, { event: 'transfer', transfer: { mode: 'warm', to: two.to } });
    await introduced(two.colleague);
    say(call, { event: 'cancelTransfer' });
    await two.colleague.ended;
    say(call, beep(1500));
    await hears(call.phone, 1500);
    expect(statuses(call.messages)).toEqual([
      'ringing',
      'answered',
      'canceled',
      'ringing',
      'canceled',
    ]);
    const none = await scene.service.api('DELETE', path);
    expect(none.status).toBe(409);
    expect(none.text).toContain('no transfer is in progress');
    await call.phone.hangUp();
    await Promise.all([one.colleague.close(), two.colleague.close()]);
  });

  it('does not call the colleague if it is canceled during the last words of the bot', async () => {
    const { colleague, to } = await colleagueNamed('lastwordsc');
    const call = await callBot('lastwords');
    for (let second = 0; second < 5; second += 1) say(call, beep(1500));
    await hears(call.phone, 1500);
    const callback_url = scene.url('/lastwords-progress');
    await transfer(call.callUuid, { to, callback_url });
    expect((await scene.service.api('DELETE', `Call/${call.callUuid}/Transfer/`)).status).toBe(204);
    await call.phone.ended;
    const statuses = scene.customer
      .at('/lastwords-progress')
      .map(({ form }) => form['TransferStatus']);
    expect(statuses).toEqual(['canceled']);
    // The caller has heard the last words.
    expect(toneMs(call.phone.received, 1500)).toBeGreaterThan(4500);
    await Promise.all([call.phone.close(), colleague.close()]);
  });

  it('refuses invalid fields and calls without a bot', async () => {
    const call = await callBot('invalid');
    for (const [body, field] of [
      [{ to: 'front desk' }, 'to'],
      [{ to: '1', mode: 'cold' }, 'mode'],
      [{ to: '1', stream: 'caller' }, 'stream'],
      [{ to: '1', introduction: 'x' }, 'introduction'],
      [{ to: '1', timeout: 0 }, 'timeout'],
    ] as const) {
      const refused = await transfer(call.callUuid, body);
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(field)]);
    }
    await call.phone.hangUp();
    const waiting = await scene.callTo('nobot', '<Speak>Hello</Speak><Wait length="60"/>');
    await waiting.answered;
    const refused = await transfer(await scene.uuidOf('nobot'), { to: '14155550100' });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('is not at a Stream with keepCallAlive');
    await waiting.hangUp();
  });

  it('returns to the bot after a failed blind transfer with on_failure stream', async () => {
    const call = await callBot('returning', { attributes: `${ALLOWED} maxRetries="1"` });
    const to = `sip:nobody@127.0.0.1:${scene.service.sipPort}`;
    expect((await transfer(call.callUuid, { to, on_failure: 'stream' })).status).toBe(202);
    const second = await eventually('the second stream', () => call.connections[1]);
    await reached(second.messages, 'failed');
    const [report] = second.messages.filter(({ event }) => event === 'transfer');
    expect(report).toMatchObject({ transfer: { detail: expect.stringMatching(/./) } });
    expect(second.callUuid).toBe(call.callUuid);
    say(second, beep(1500));
    await hears(call.phone, 1500);
    // A reconnected bot has already received the result.
    second.socket.terminate();
    const third = await eventually('the third stream', () => call.connections[2]);
    say(third, { event: 'checkpoint', name: 'after' });
    await eventually('the checkpoint', () =>
      third.messages.find(({ event }) => event === 'playedStream'),
    );
    expect(statuses(third.messages)).toEqual([]);
    await call.phone.hangUp();
  });
});

describe('the Transfer element', () => {
  it('continues a background stream with the caller after a declined warm transfer, and reports to action', async () => {
    const { colleague, to } = await colleagueNamed('xmlc');
    const messages: Json[] = [];
    let socket: WebSocket | undefined;
    const url = scene.customer.bot('/xml-bot', (opened) => {
      socket = opened;
      opened.on('message', (data) => {
        const message = JSON.parse(String(data)) as Json;
        if (message['event'] !== 'media') messages.push(message);
      });
    });
    scene.document('/xml-after', '<Wait length="60"/>');
    const phone = await scene.callTo(
      'xml',
      `<Stream bidirectional="true">${url}</Stream><Transfer mode="warm" stream="caller" introduction="Anna." action="${scene.url('/xml-after')}" callbackUrl="${scene.url('/xml-progress')}">${to}</Transfer>`,
      { voice: tone([900], 60_000) },
    );
    await introduced(colleague);
    await eventually('music', () => (loudMs(phone.received) > 300 ? true : undefined));
    colleague.press('2');
    const after = await scene.reported('/xml-after', 'Transfer');
    expect(after).toMatchObject({
      TransferStatus: 'declined',
      TransferReason: 'the colleague declined',
    });
    const progress = scene.customer.at('/xml-progress').map(({ form }) => form['TransferStatus']);
    expect(progress).toEqual(['ringing', 'declined']);
    const bot = await eventually('the bot', () => socket);
    bot.send(JSON.stringify(beep(1500)));
    await hears(phone, 1500);
    expect(messages.map(({ event }) => event)).toEqual(['start']);
    await phone.hangUp();
    await colleague.close();
  });
});

/**
 * The call flow, documents, fields and order of requests of the vendor's public example of a warm transfer in a
 * conference: the caller is in a conference from the answer, a bot is attached over REST, and the colleague hears a
 * briefing bot before the document continues with the conference.
 */
describe('the warm transfer example of the vendor', () => {
  interface Example {
    readonly name: string;
    readonly phone: Handset;
    readonly caller: string;
    readonly events: (action: string) => Readonly<Record<string, string>>[];
    readonly bot: () => WebSocket | undefined;
    readonly briefings: { readonly socket: WebSocket; readonly start: Json }[];
    readonly colleague: Handset;
    readonly colleagueCall: string;
    readonly streamId: string;
  }
  const form = 'callbackMethod="POST"';

  async function example(name: string): Promise<Example> {
    const { customer, service } = scene;
    const room = `room-${name}`;
    const recordBlock = (leg: string) =>
      `<Record fileFormat="mp3" recordSession="true" redirect="false" playBeep="false" maxLength="3600" action="${scene.document(`/${name}-action`, '')}" callbackUrl="${scene.url(`/${name}-recorded-${leg}`)}" ${form}/>`;
    const conference = (isCaller: boolean) =>
      `<Conference stayAlone="true" startConferenceOnEnter="true" endConferenceOnExit="${isCaller}" relayDTMF="false" timeLimit="1800"${isCaller ? ` waitSound="${scene.document(`/${name}-wait`, '<Wait length="3600"/>')}" waitMethod="POST"` : ''} callbackUrl="${scene.url(`/${name}-events`)}" ${form}>${room}</Conference><Hangup/>`;
    const events = (action: string) =>
      customer
        .at(`/${name}-events`)
        .map((posted) => posted.form)
        .filter(({ ConferenceAction }) => ConferenceAction === action);
    let bot: WebSocket | undefined;
    const botUrl = customer.bot(`/${name}-caller-bot?role=customer&tid=${name}`, (socket) => {
      bot = socket;
    });
    const briefings: Example['briefings'][number][] = [];
    const briefUrl = customer.bot(`/${name}-brief-bot?role=agent&tid=${name}`, (socket) => {
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Json;
        if (message['event'] === 'start') briefings.push({ socket, start: message });
      });
    });
    const phone = await scene.callTo(name, `${recordBlock('caller')}${conference(true)}`, {
      voice: tone([900], 60_000),
    });
    const caller = await eventually('the caller', () => events('enter')[0]?.['CallUUID']);
    const attached = await service.api('POST', `Call/${caller}/Stream/`, {
      service_url: botUrl,
      bidirectional: 'true',
      audio_track: 'inbound',
      content_type: 'audio/x-mulaw;rate=8000',
      stream_timeout: 3600,
      status_callback_url: scene.url(`/${name}-stream`),
      status_callback_method: 'POST',
    });
    expect([
      attached.status >= 200 && attached.status < 300,
      typeof attached.body['stream_id'],
    ]).toEqual([true, 'string']);
    const waiting = await scene.waiting(`${name}c`, { voice: tone([700], 60_000) });
    scene.document(
      `/${name}-agent`,
      `${recordBlock('agent')}<Stream bidirectional="true" audioTrack="inbound" keepCallAlive="true" contentType="audio/x-l16;rate=16000" extraHeaders="tid=${name}" statusCallbackUrl="${scene.url(`/${name}-stream`)}" statusCallbackMethod="POST">${briefUrl.replace('&', '&amp;')}</Stream>${conference(false)}`,
    );
    const number = `1415555${1000 + scene.customer.posted.length}`;
    const carrier = { host: '127.0.0.1', port: waiting.phone.sipPort, transport: 'udp' };
    const routed = await service.admin('POST', '/carriers', {
      ...carrier,
      name,
      prefixes: [number],
    });
    expect(routed.status).toBe(201);
    const placed = await service.api('POST', 'Call/', {
      from: '14155550199',
      to: number,
      answer_url: scene.url(`/${name}-agent`),
      answer_method: 'POST',
      ring_timeout: '25',
      hangup_url: scene.url(`/${name}-hangup`),
      hangup_method: 'POST',
      sip_headers: `tidX-VH=${name}`,
      caller_name: 'Warm transfer',
    });
    expect([placed.status, placed.text]).toEqual([200, expect.stringContaining('request_uuid')]);
    await waiting.phone.answered;
    await eventually('the briefing', () => briefings[0]);
    return {
      name,
      phone,
      caller,
      events,
      bot: () => bot,
      briefings,
      colleague: waiting.phone,
      colleagueCall: String(placed.body['call_uuid'] ?? placed.body['request_uuid']),
      streamId: String(attached.body['stream_id']),
    };
  }

  beforeAll(async () => {
    const added = await scene.service.admin('POST', '/numbers', {
      e164: '14155550199',
      country: 'US',
      currency: 'USD',
      account_id: scene.service.demo.authId,
    });
    expect(added.status).toBe(201);
  });

  const play = (socket: WebSocket | undefined, hz: number, contentType: string, rate: number) => {
    const payload =
      contentType === 'audio/x-mulaw'
        ? Buffer.from(PCMU.encode(tone([hz], 1000)))
        : Buffer.from(tone([(hz * 8000) / rate], (1000 * rate) / 8000).buffer);
    const media = { contentType, sampleRate: rate, payload: payload.toString('base64') };
    socket?.send(JSON.stringify({ event: 'playAudio', media }));
  };

  it('briefs the colleague privately, then connects both in the conference; the bot is detached and costs are in the CDR', async () => {
    const run = await example('accepting');
    const { name, phone, caller, colleague, colleagueCall, briefings } = run;
    expect(briefings[0]?.start).toMatchObject({
      callId: colleagueCall,
      start: { mediaFormat: { encoding: 'audio/x-l16', sampleRate: 16_000 } },
      extra_headers: expect.stringContaining(name),
    });
    play(run.bot(), 1500, 'audio/x-mulaw', 8000);
    play(briefings[0]?.socket, 1200, 'audio/x-l16', 24_000);
    await Promise.all([hears(phone, 1500), hears(colleague, 1200)]);
    expect([toneMs(colleague.received, 900), toneMs(phone.received, 700)]).toEqual([0, 0]);
    briefings[0]?.socket.close();
    await Promise.all([hears(colleague, 900), hears(phone, 700)]);
    expect(toneMs(phone.received, 1200)).toBe(0);
    const second = await eventually('the second member', () => run.events('enter')[1]);
    expect(second).toMatchObject({
      CallUUID: colleagueCall,
      ConferenceName: `room-${name}`,
      ConferenceMemberID: expect.stringMatching(/./),
    });
    const { service } = scene;
    const member = `Conference/room-${name}/Member/${second['ConferenceMemberID']}/`;
    for (const action of ['Mute', 'Deaf']) {
      const [off, on] = [
        await service.api('POST', `${member}${action}/`, {}),
        await service.api('DELETE', `${member}${action}/`),
      ];
      // The client accepts every 2xx.
      expect([action, off.status, on.status]).toEqual([action, 202, 202]);
    }
    const detached = await service.api('DELETE', `Call/${caller}/Stream/${run.streamId}/`);
    expect(detached.status).toBe(204);
    await phone.hangUp();
    await colleague.ended;
    await eventually('both recordings', () =>
      ['caller', 'agent'].every((leg) => scene.customer.at(`/${name}-recorded-${leg}`).length > 0)
        ? true
        : undefined,
    );
    const { authId, authToken } = service.demo;
    for (const uuid of [caller, colleagueCall]) {
      const url = `${service.baseUrl}/api/v1/account/${authId}/cdr/${uuid}`;
      const record = await eventually('the CDR', async () => {
        const response = await fetch(url, {
          headers: { 'x-auth-id': authId, 'x-auth-token': authToken },
        });
        const body = (await response.json()) as Json;
        return response.status === 200 ? ((body['data'] ?? body) as Json) : undefined;
      });
      expect(record).toMatchObject({
        billsec: expect.any(Number),
        total_cost: expect.anything(),
        streaming_cost: expect.anything(),
      });
    }
    const streams = scene.customer.at(`/${name}-stream`).map((posted) => posted.form['Event']);
    expect(streams).toEqual(expect.arrayContaining(['StartStream', 'DroppedStream', 'StopStream']));
    await colleague.close();
  });

  it('hangs up a colleague who declines: the caller stays in the conference with the bot', async () => {
    const run = await example('refusing');
    const { phone, caller, colleague, colleagueCall } = run;
    const ended = await scene.service.api('DELETE', `Call/${colleagueCall}/`);
    expect(ended.status).toBe(204);
    await colleague.ended;
    play(run.bot(), 1500, 'audio/x-mulaw', 8000);
    await hears(phone, 1500);
    const [one] = run.events('enter');
    const spoken = await scene.service.api(
      'POST',
      `Conference/room-${run.name}/Member/${one?.['ConferenceMemberID']}/Speak/`,
      { text: 'Nobody is free.' },
    );
    expect(spoken.status).toBe(202);
    expect(run.events('enter').map(({ CallUUID }) => CallUUID)).toEqual([caller]);
    await phone.hangUp();
    await colleague.close();
  });
});
