/**
 * Checks the messages of a running service against the requirements of public clients, one call per stream format. See
 * README.md.
 */

import plivo from 'plivo';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { asStreamId } from '../../src/base/ids.ts';
import { Scene } from '../e2e/scene.ts';
import { eventually } from '../e2e/service.ts';
import { CLIENT_MESSAGES, complaints, type Message, PUBLIC_CLIENTS } from './clients.ts';

const FORMATS = ['audio/x-mulaw;rate=8000', 'audio/x-l16;rate=8000', 'audio/x-l16;rate=16000'];
const EVENTS = ['start', 'media', 'dtmf', 'playedStream', 'clearedAudio', 'stop'];

interface Session {
  readonly received: Message[];
  readonly upgradePath: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

let scene: Scene;
const sessions = new Map<string, Session>();
const session = (format: string): Session => sessions.get(format) as Session;

/** Runs a call in which both sides send every kind of message. The caller hangs up. */
async function sessionIn(format: string, name: string): Promise<Session> {
  const received: Message[] = [];
  let seen: Pick<Session, 'upgradePath' | 'headers'> | undefined;
  let streamId = asStreamId('');
  let bot: WebSocket | undefined;
  const path = `/${name}-bot?b=2&a=x%20y`;
  const url = scene.customer.bot(path, (socket, request) => {
    bot = socket;
    seen = { upgradePath: request.url ?? '', headers: request.headers };
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      received.push(message);
      if (message.event === 'start') streamId = message.start.streamId;
    });
  });
  const of = (event: string): Message[] => received.filter((message) => message['event'] === event);
  const handset = await scene.callTo(
    name,
    `<Stream bidirectional="true" keepCallAlive="true" contentType="${format}" extraHeaders="tenant=7,userId=12345">${url.replaceAll('&', '&amp;')}</Stream>`,
  );
  await handset.answered;
  await eventually('media', () => of('media')[1]);
  const messages = CLIENT_MESSAGES.map(([, make]) => make(streamId));
  const clears = messages.filter(({ event }) => event === 'clearAudio');
  for (const message of messages) if (!clears.includes(message)) bot?.send(JSON.stringify(message));
  // A clear would discard the pending checkpoints.
  await eventually('both checkpoints', () => of('playedStream')[1]);
  for (const message of clears) bot?.send(JSON.stringify(message));
  await eventually('two clears', () => of('clearedAudio')[1]);
  handset.press('5#');
  await eventually('two keys', () => of('dtmf')[1]);
  await handset.hangUp();
  await eventually('stop', () => of('stop')[0]);
  return { received, ...(seen ?? { upgradePath: '', headers: {} }) };
}

beforeAll(async () => {
  scene = await Scene.open();
  await Promise.all(
    FORMATS.map(async (format, i) => sessions.set(format, await sessionIn(format, `format${i}`))),
  );
});
afterAll(() => scene.close());

describe.each(FORMATS)('a stream of %s', (format) => {
  it('has every kind of message', () => {
    const events = new Set(session(format).received.map(({ event }) => event));
    expect([...events].sort()).toEqual([...EVENTS].sort());
  });

  it.each(PUBLIC_CLIENTS.map((client) => [client.name, client] as const))(
    'is accepted by %s',
    (_, client) => {
      const { received } = session(format);
      expect(received.flatMap((message) => complaints(client, message))).toEqual([]);
    },
  );

  it('accepts messages in the form that public clients send', () => {
    expect(session(format).received.filter(({ event }) => event === 'error')).toEqual([]);
  });

  it('reports checkpoints with their names and in order', () => {
    const { received } = session(format);
    const names = CLIENT_MESSAGES.map(([, make]) => make(asStreamId(''))).flatMap(
      ({ name }) => name ?? [],
    );
    const played = received.filter(({ event }) => event === 'playedStream');
    expect(played.map(({ name }) => name)).toEqual(names);
  });

  it('begins with start, followed by media, because clients decide by the first two messages', () => {
    const [first, second] = session(format).received;
    expect([first?.['event'], second?.['event']]).toEqual(['start', 'media']);
  });

  it("is opened with a signature that Plivo's own validator accepts", () => {
    const { upgradePath, headers } = session(format);
    const accepted = plivo.validateV3Signature(
      'GET',
      `http://${headers['host']}${upgradePath}`,
      String(headers['x-plivo-signature-v3-nonce']),
      scene.service.demo.authToken,
      String(headers['x-plivo-signature-v3']),
    );
    expect(Boolean(accepted)).toBe(true);
  });
});

describe('the checker of this test', () => {
  const [strictest] = PUBLIC_CLIENTS;
  it.each<[string, Message]>([
    ['a missing field', { event: 'playedStream', sequenceNumber: 3, name: 'a' }],
    ['a number for a string', { event: 'dtmf', sequenceNumber: 3, dtmf: { digit: 5 } }],
    ['an ID that is not a UUID', { event: 'clearedAudio', sequenceNumber: 3, streamId: 'abc' }],
  ])('complains of %s', (_, message) => {
    expect(strictest && complaints(strictest, message)).not.toEqual([]);
  });
});
