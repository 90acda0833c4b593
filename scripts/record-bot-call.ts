/**
 * Records a call with a bot as docs/guides/bot-call.mp3, and its timeline as docs/guides/bot-call.svg: greeting,
 * interruption, answer, warm transfer. The call runs through the service; all voices are from espeak-ng. Run it after
 * the set-up: `node scripts/record-bot-call.ts [folder]`.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import { encodeMp3 } from '../src/edge/audio/encode-mp3.ts';
import { processRunner } from '../src/edge/speech/process.ts';
import { convertRate, l16Bytes, readWav, writeWav } from '../src/phone/audio/wav.ts';
import { Handset } from '../test/e2e/handset.ts';
import { makeUser } from '../test/e2e/phone.ts';
import { Scene } from '../test/e2e/scene.ts';
import { eventually, type Json, ROOT } from '../test/e2e/service.ts';
import { type CallEvent, callPicture } from './call-picture.ts';

const RATE_HZ = 8000;
const TARGET = process.argv[2] ?? join(ROOT, 'docs', 'guides');
const speak = processRunner({ timeLimitMs: 20_000, maxOutputBytes: 8 << 20 });

/** Speech of a voice of espeak-ng at 8 kHz, without silence at its ends. */
async function speech(voice: string, text: string): Promise<Int16Array> {
  const spoken = await speak('espeak-ng', ['--stdout', '--stdin', '-v', voice, '-s', '165'], text);
  if (!spoken.ok) throw new Error(`espeak-ng: ${spoken.error.kind}`);
  const bytes = Buffer.from(spoken.value);
  // espeak-ng does not know the length when it writes the header to a pipe.
  bytes.writeUInt32LE(bytes.length - 44, 40);
  const wav = readWav(bytes);
  if (!wav.ok) throw new Error(wav.error);
  const samples = convertRate(wav.value, RATE_HZ);
  const isLoud = (sample: number): boolean => Math.abs(sample) > 200;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}

const BOT = 'en-us+f3';
const CALLER = 'en-gb+m3';
const COLLEAGUE = 'en-us+m7';
const [greeting, reply, request, question, hello, done] = await Promise.all([
  speech(
    BOT,
    'Welcome to the travel office. I can tell you about departures, about luggage, and about our bonus programme, which has three levels.',
  ),
  speech(BOT, 'I see. A colleague can change your ticket. One moment, please.'),
  speech(CALLER, 'Excuse me, I need to change my ticket.'),
  speech(CALLER, 'Hello. Can I leave one day later?'),
  speech(COLLEAGUE, 'This is Tom. I have your ticket here. What can I do for you?'),
  speech(COLLEAGUE, 'Yes, I changed it to Friday. Have a good trip.'),
]);

/** The bot: greets, answers after the caller's speech, and transfers the caller. */
function bot(socket: WebSocket, colleague: string): void {
  const send = (message: Json): void => socket.send(JSON.stringify(message));
  const play = (samples: Int16Array): void => {
    const payload = l16Bytes(samples).toString('base64');
    send({
      event: 'playAudio',
      media: { contentType: 'audio/x-l16', sampleRate: RATE_HZ, payload },
    });
  };
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as Json;
    if (message['event'] === 'start') play(greeting);
    if (message['event'] === 'speechStopped') {
      send({ event: 'clearAudio' });
      play(reply);
      send({ event: 'checkpoint', name: 'answered' });
    }
    if (message['event'] === 'playedStream') {
      const introduction = 'A caller wants to change a ticket.';
      send({ event: 'transfer', transfer: { to: colleague, mode: 'warm', introduction } });
    }
  });
}

/** Waits until the phone has received this much of the call from now on. */
async function heardFor(phone: Handset, ms: number): Promise<void> {
  const { length } = phone.received;
  await eventually('audio', () => phone.received.length - length > 8 * ms || undefined);
}

/** Speaks and waits until the words and a pause have ended. */
async function said(phone: Handset, words: Int16Array): Promise<void> {
  phone.say(words);
  await heardFor(phone, words.length / 8 + 500);
}

/** Texts of the picture by entry of the timeline. */
const TEXTS: Readonly<Record<string, (facts: Json) => string>> = {
  'caller interrupted the bot': ({ messagePlayedMs, messageMs }) =>
    `The caller interrupts. The engine stops the bot after ${messagePlayedMs} of ${messageMs} ms.`,
  turn: ({ latencyMs }) => `The bot answers ${latencyMs} ms after the caller’s last word.`,
  'transfer requested': () =>
    'The bot requests a warm transfer. The colleague hears an introduction, the caller music.',
  'transfer answered': () => 'The colleague accepts with key 1. The bot has left.',
};

/** Selects the entries of the timeline to show, with times from the begin of the recording. */
function eventsOf(log: readonly Json[]): readonly CallEvent[] {
  const begin = log.find(({ text }) => text === 'recording')?.['at'];
  return log.flatMap(({ at, text, facts }) => {
    const describe = TEXTS[String(text)];
    if (describe === undefined) return [];
    const atMs = Date.parse(String(at)) - Date.parse(String(begin));
    return [{ atMs, text: describe(facts as Json) }];
  });
}

/** Mixes both sides to mono, which every player plays as a conversation. */
async function writeRecording(left: Int16Array, right: Int16Array): Promise<void> {
  const samples = left.map((sample, i) =>
    Math.max(-32_768, Math.min(32_767, sample + (right[i] ?? 0))),
  );
  const wavPath = join(folder, 'call.wav');
  writeFileSync(wavPath, writeWav({ rate: RATE_HZ, samples }));
  const bytes = await encodeMp3({
    kind: 'encodeMp3',
    wavPath,
    mp3Path: join(TARGET, 'bot-call.mp3'),
  });
  chmodSync(join(TARGET, 'bot-call.mp3'), 0o644);
  console.log(`bot-call.mp3: ${Math.round(bytes / 1024)} KiB, ${samples.length / 8000} s`);
}

const botLeft = Promise.withResolvers<void>();
const scene = await Scene.open();
const folder = mkdtempSync(join(tmpdir(), 'carillon-demo-'));
try {
  const { phone: colleague, element } = await scene.waiting('tom');
  const uri = /<User>(.*)<\/User>/.exec(element)?.[1] ?? '';
  const url = scene.customer.bot('/travel', (socket) => {
    socket.once('close', botLeft.resolve);
    bot(socket, uri);
  });
  const events = scene.url('/events');
  const user = await makeUser(scene.service, 'caller', {
    answer_url: scene.document(
      '/answer',
      `<Record recordSession="true" fileFormat="wav" recordChannelType="stereo" playBeep="false" callbackUrl="${events}"/>` +
        `<Stream bidirectional="true" keepCallAlive="true" speechEvents="true" bargeIn="clear" transfers="true">${url}</Stream>`,
    ),
    hangup_url: events,
  });
  const phone = await Handset.call(scene.service, user);
  await phone.answered;
  await heardFor(phone, 3500);
  await said(phone, request);
  await colleague.answered;
  await heardFor(colleague, 2500);
  colleague.press('1');
  await botLeft.promise;
  await heardFor(phone, 600);
  await said(colleague, hello);
  await said(phone, question);
  await said(colleague, done);
  await phone.hangUp();
  await colleague.ended;
  await colleague.close();
  const form = await scene.reported('/events', 'RecordStop');
  const { left, right } = await scene.recorded(form['RecordFile']);
  const call = await scene.service.admin('GET', `/calls/${form['CallUUID']}`);
  const log = call.body['log'] as readonly Json[];
  await writeRecording(left, right);
  writeFileSync(join(TARGET, 'bot-call.svg'), callPicture({ left, right, events: eventsOf(log) }));
} finally {
  await scene.close();
  rmSync(folder, { recursive: true, force: true });
}
