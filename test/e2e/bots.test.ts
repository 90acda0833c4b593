/** Misbehaving bots: plain WebSocket servers written from the dialect's text, without code of this project. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { findEcho } from '../../src/phone/audio/echo-delay.ts';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { onTime } from '../on-time.ts';
import { type Bot, type Customer, echoBot, streamXml } from './customer.ts';
import { Handset } from './handset.ts';
import { babble, callFor, makeUser, startCall } from './phone.ts';
import { openPair, type Pair } from './scene.ts';
import { eventually, type Json, type Service } from './service.ts';
import { tone, toneMs } from './tones.ts';

let pair: Pair;
let service: Service;
let customer: Customer;

beforeAll(async () => {
  pair = await openPair();
  ({ service, customer } = pair);
});
afterAll(() => pair.close());

interface Meeting {
  readonly messages: Json[];
  socket: WebSocket | undefined;
  closed: number | undefined;
}

/** Creates a user whose bot records all messages and runs `act` once the stream has started. */
async function userOf(
  name: string,
  act: (socket: WebSocket, streamId: string) => void,
  attributes = '',
) {
  const met: Meeting = { messages: [], socket: undefined, closed: undefined };
  const bot: Bot = (socket) => {
    met.socket = socket;
    socket.on('close', (code) => {
      met.closed = code;
    });
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      met.messages.push(message);
      if (message.event === 'start') act(socket, message.start.streamId);
    });
  };
  const user = await makeUser(service, name, {
    answer_url: customer.xml(`/${name}`, streamXml(customer.bot(`/${name}-bot`, bot), attributes)),
  });
  return { user, met };
}

const say = (socket: WebSocket, message: Json): void => socket.send(JSON.stringify(message));
const audio = (bytes: number): string => Buffer.alloc(bytes, 0xd5).toString('base64');
const tone1kHz = (ms: number): string =>
  Buffer.from(PCMU.encode(tone([1000], ms))).toString('base64');
const play = (payload: unknown): Json => ({
  event: 'playAudio',
  media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload },
});

describe('well-behaved bots', () => {
  it('sends bot audio to the caller, and sends start, media and stop to the bot in this order', () =>
    onTime(async (number) => {
      const name = `echo${number}`;
      const events: string[] = [];
      const bot: Bot = (socket, request) => {
        socket.on('message', (data) => events.push(JSON.parse(String(data)).event));
        echoBot(socket, request);
      };
      const user = await makeUser(service, name, {
        answer_url: customer.xml(`/${name}`, streamXml(customer.bot(`/${name}-bot`, bot))),
      });
      const said = babble(2);
      const { received, reception } = await callFor(service, user, 3, said);
      expect(reception.lost).toBe(0);
      // The bot shares the machine and can answer a part later, so that the delay changes.
      expect(findEcho(said, received, 2000, 100)?.likeness ?? 0).toBeGreaterThan(0.9);
      await eventually('stop', () => (events.includes('stop') ? true : undefined));
      expect([events[0], events[1], events.at(-1)]).toEqual(['start', 'media', 'stop']);
    }));

  it('sends playedStream once the caller has heard the audio queued before the checkpoint', async () => {
    const { user, met } = await userOf('checkpoint', (socket, streamId) => {
      say(socket, play(audio(4000)));
      say(socket, { event: 'checkpoint', streamId, name: 'greeting' });
    });
    const call = await startCall(service, user);
    const played = await eventually('playedStream', () =>
      met.messages.find(({ event }) => event === 'playedStream'),
    );
    expect(played['name']).toBe('greeting');
    call.hangUp();
    await call.report;
  });
});

describe('stopping a stream over REST', () => {
  it.each([
    ['with drain plays all queued audio before the call continues', '?drain=true', 1000],
    ['without drain stops playing immediately', '', 300],
  ])('%s', (_, query, atMostMs) =>
    onTime(async (number) => {
      const name = `${query === '' ? 'cutshort' : 'lastword'}${number}`;
      const { user, met } = await userOf(name, (socket) => say(socket, play(tone1kHz(1000))));
      const phone = await Handset.call(service, user);
      await eventually('the start', () => met.messages[0]);
      const [requested] = customer.at(`/${name}`);
      const path = `Call/${requested?.form['CallUUID']}/Stream/${query}`;
      expect((await service.api('DELETE', path)).status).toBe(204);
      await phone.ended;
      const receivedMs = toneMs(phone.received, 1000);
      await phone.close();
      expect(receivedMs).toBeLessThanOrEqual(atMostMs + 40);
      expect(receivedMs).toBeGreaterThanOrEqual(query === '' ? 0 : atMostMs - 40);
      const last = await eventually('the stop', () => {
        const message = met.messages.at(-1);
        return message?.['event'] === 'stop' ? message : undefined;
      });
      expect(last).toMatchObject({ reason: 'api_request' });
    }),
  );
});

describe('invalid bot messages are reported to the bot, and the call continues', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  it.each<[string, string, (socket: WebSocket) => void]>([
    ['broken JSON', 'brokenjson', (socket) => socket.send('{"event": "playAudio", ')],
    ['binary frames', 'binary', (socket) => socket.send(Buffer.from([0, 255, 1, 254]))],
    ['nesting without end', 'deep', (socket) => socket.send(deep)],
    ['an unknown event', 'unknownevent', (socket) => say(socket, { event: 'selfDestruct' })],
    ['audio that is not base64', 'nobase', (socket) => say(socket, play('%%%%'))],
    ['audio that is a number', 'numeric', (socket) => say(socket, play(42))],
    [
      'half a sample',
      'halfsample',
      (socket) =>
        say(socket, {
          event: 'playAudio',
          media: { contentType: 'audio/x-l16', sampleRate: 8000, payload: audio(3) },
        }),
    ],
    [
      'an unknown format',
      'noformat',
      (socket) =>
        say(socket, {
          event: 'playAudio',
          media: { contentType: 'audio/mpeg', sampleRate: 44_100, payload: audio(400) },
        }),
    ],
    ['null', 'justnull', (socket) => socket.send('null')],
  ])('%s', async (_, name, send) => {
    const { user, met } = await userOf(name, (socket, streamId) => {
      send(socket);
      say(socket, play(audio(800)));
      say(socket, { event: 'checkpoint', streamId, name: 'still here' });
    });
    const call = await startCall(service, user);
    await call.answered;
    await eventually('playedStream after the invalid message', () =>
      met.messages.find(
        ({ event, name: mark }) => event === 'playedStream' && mark === 'still here',
      ),
    );
    call.hangUp();
    const { sipCallId, reception } = await call.report;
    expect(reception.received).toBeGreaterThan(0);
    expect(await service.cdrOf(sipCallId)).toMatchObject({
      hangup_cause_code: 4000,
      hangup_source: 'Caller',
    });
  });
});

describe('a bot whose socket closes', () => {
  it.each<[string, string, (socket: WebSocket) => void]>([
    ['closes immediately', 'closes', (socket) => socket.close(1000)],
    [
      'ends within a frame',
      'halfframe',
      (socket) => {
        // A text frame that announces 126 bytes and ends after three (RFC 6455 §5.2).
        const raw = (socket as unknown as { readonly _socket: { end(bytes: Buffer): void } })
          ._socket;
        raw.end(Buffer.from([0x81, 0x7e, 0x00, 0x7e, 0x7b, 0x22, 0x65]));
      },
    ],
    [
      'violates the protocol with reserved bits',
      'reserved',
      (socket) => {
        const raw = (socket as unknown as { readonly _socket: { write(bytes: Buffer): void } })
          ._socket;
        raw.write(Buffer.from([0xf1, 0x00]));
      },
    ],
    [
      'sends a message beyond the size limit',
      'toolong',
      (socket) => say(socket, play(audio(8_000_000))),
    ],
  ])(
    '%s: ends the call, bills it, and closes the stream as a connection error',
    async (_, name, act) => {
      const { user } = await userOf(name, act);
      const { sipCallId, end } = await callFor(service, user, 10);
      expect(end).toMatchObject({ by: 'remote', how: 'bye' });
      const cdr = await service.cdrOf(sipCallId);
      expect(cdr).toMatchObject({
        cost: 0.002,
        streaming_cost: 0.003,
        stream_termination_reason: 'Connection error',
      });
    },
  );

  it('ends the call without charging a stream that never connected', async () => {
    const user = await makeUser(service, 'nobot', {
      answer_url: customer.xml('/nobot', streamXml(`ws://${customer.authority}/not-there`)),
    });
    const { sipCallId } = await callFor(service, user, 10);
    expect(await service.cdrOf(sipCallId)).toMatchObject({
      streaming_cost: 0,
      stream_termination_reason: 'Connection error',
    });
  });
});

describe('a bot that never reads', () => {
  it('does not block its call, the service or other calls', async () => {
    const { user } = await userOf('deaf', (socket) => socket.pause());
    const others = startCall(service, service.demo, { seconds: 20 });
    const deaf = await startCall(service, user, { seconds: 2 });
    const { sipCallId } = await deaf.report;
    expect(await service.cdrOf(sipCallId)).toMatchObject({
      hangup_cause_code: 4000,
      hangup_source: 'Caller',
    });
    expect((await service.get('/readyz')).status).toBe(200);
    const other = await others;
    other.hangUp();
    expect((await other.report).reception.lost).toBe(0);
  });
});

it('leaves no call, no reservation and no internal error in the log', async () => {
  await eventually('the end of every call', async () =>
    (await service.admin('GET', '/calls')).body['count'] === 0 ? true : undefined,
  );
  expect((await service.balance())['reserved_funds']).toBe(0);
  const errors = service.program.stdout
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"|"bug":true/.test(line));
  expect(errors).toEqual([]);
  expect(service.program.stderr).toBe('');
});
