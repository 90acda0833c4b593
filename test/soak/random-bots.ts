/** Bots that behave at random, well and badly, in a process of their own. Started by sockets.ts. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** A small linear congruential generator: one seed, one course of events per bot. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const HALF_SECOND = Buffer.alloc(8000, 3).toString('base64');
const ODD = Buffer.alloc(333, 5).toString('base64');

function live(socket: WebSocket, random: () => number): void {
  let streamId = '';
  let speaking = true;
  const say = (message: unknown): void => {
    if (socket.readyState !== socket.OPEN) return;
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  };
  const play = (payload: string, sampleRate = 8000): void => {
    const media = { contentType: 'audio/x-l16', sampleRate, payload };
    say({ event: 'playAudio', streamId, media });
  };
  const habits: ReadonlyArray<readonly [weight: number, act: () => void]> = [
    [30, () => play(HALF_SECOND, 16_000)],
    [10, () => play(ODD, 24_000)],
    [15, () => say({ event: 'checkpoint', streamId, name: `c${Math.floor(random() * 9)}` })],
    [10, () => say({ event: 'clearAudio', streamId })],
    [5, () => say({ event: 'sendDTMF', dtmf: '5' })],
    [5, () => say('{"event":"playAu')],
    [3, () => say(Buffer.from([0, 1, 255]).toString('latin1'))],
    [
      3,
      () => {
        speaking = !speaking;
      },
    ],
    [
      2,
      () => {
        for (let i = 0; i < 200; i += 1) play(ODD);
      },
    ],
    [
      2,
      () => {
        socket.pause();
        setTimeout(() => socket.resume(), 3000 * random());
      },
    ],
    [1, () => say({ event: 'stop', streamId })],
    [1, () => socket.close(1000 + Math.floor(random() * 2))],
    [1, () => socket.terminate()],
  ];
  const total = habits.reduce((sum, [weight]) => sum + weight, 0);
  const timer = setInterval(
    () => {
      let at = random() * total;
      const habit = habits.find(([weight]) => {
        at -= weight;
        return at < 0;
      });
      habit?.[1]();
    },
    300 + 400 * random(),
  );
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.event === 'start') streamId = message.start.streamId;
    else if (message.event === 'media' && speaking) play(message.media.payload);
  });
  socket.on('close', () => clearInterval(timer));
  socket.on('error', () => undefined);
}

const seed = Number(process.argv[2] ?? 1);
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
await once(server, 'listening');
let bots = 0;
server.on('connection', (socket) => {
  bots += 1;
  live(socket, generator(seed + bots * 7919));
});
process.send?.({ url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` });
process.once('disconnect', () => process.exit(0));
