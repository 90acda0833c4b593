/** A bot that stops reading its socket: the service drops the oldest audio and keeps at most the last second. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { type Bot, streamXml } from './customer.ts';
import { babble, makeUser, startCall } from './phone.ts';
import { openPair, type Pair } from './scene.ts';
import { eventually, type Json } from './service.ts';

/** Number of `media` messages in one second of audio. */
const SECOND = 50;
const ON_THE_WAY = 15;

let pair: Pair;
beforeAll(async () => {
  pair = await openPair();
});
afterAll(() => pair.close());

const chunkOf = (message: Json): number => Number((message['media'] as Json)['chunk']);

it('delivers the last second of audio and all control messages to a bot that read nothing for seconds', async () => {
  const messages: Json[] = [];
  const met: { socket?: WebSocket } = {};
  const bot: Bot = (socket) => {
    met.socket = socket;
    socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  };
  const reported = pair.customer.page(
    '/slow-told',
    (response) => void response.writeHead(200).end(),
  );
  const xml = streamXml(
    pair.customer.bot('/slow-bot', bot),
    `statusCallbackUrl="${reported}" statusCallbackMethod="POST"`,
  );
  const user = await makeUser(pair.service, 'slow', {
    answer_url: pair.customer.xml('/slow', xml),
  });
  const call = await startCall(pair.service, user, { seconds: 60, voice: babble(60) });
  const media = (): Json[] => messages.filter(({ event }) => event === 'media');
  await eventually('audio', () => media().length > 2 * SECOND || undefined);

  met.socket?.pause();
  const before = media().length;
  // Level 90 reports a queue that is almost full.
  const levels = () => pair.customer.at('/slow-told').filter(({ form }) => form['Level'] === '90');
  await eventually('a full queue', () => levels().length > 0 || undefined);
  const { service } = pair;
  const lastBefore = chunkOf(media().at(-1) ?? {});
  // Waits until two more seconds of audio have passed through the full queue.
  const packets = async () =>
    Number(
      /^voice_rtp_packets_total\{direction="in"\} (\d+)$/m.exec(
        (await service.get('/metrics')).text,
      )?.[1],
    );
  const from = await packets();
  await eventually('two seconds', async () => ((await packets()) > from + 100 ? true : undefined));

  met.socket?.resume();
  await eventually('the present', () => media().length > before + 4 * SECOND || undefined);
  const late = media().slice(before).map(chunkOf);
  // The audio has one gap. Audio already in transit precedes it; the latest audio follows it.
  const gaps = late.flatMap((chunk, i) => {
    const last = i === 0 ? lastBefore : (late[i - 1] ?? 0);
    return chunk === last + 1 ? [] : [{ waited: i, missed: chunk - last - 1 }];
  });
  expect(gaps).toHaveLength(1);
  expect(gaps[0]?.waited).toBeLessThanOrEqual(SECOND / 2 + ON_THE_WAY);
  expect(gaps[0]?.missed).toBeGreaterThan(SECOND);
  call.hangUp();
  await call.report;
  await eventually('stop', () => messages.some(({ event }) => event === 'stop') || undefined);
});
