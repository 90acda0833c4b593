/**
 * Barge-in bot: talks, stops when the caller speaks, and starts again when the caller has finished. Sends received
 * DTMF keys back. Usage: `node examples/barge-in-bot.ts [port]`
 */
import { readFileSync } from 'node:fs';
import { type Bot, type BotSocket, portOr, serveBot } from './bot-server.ts';
import { VoiceActivity } from './voice-activity.ts';

const WAV_HEADER_BYTES = 44;
/** Signed 16-bit little-endian mono at 8 kHz, the format of `playAudio` with audio/x-l16 at 8000. */
const PROMPT = readFileSync(new URL('../fixtures/audio/speech.wav', import.meta.url)).subarray(
  WAV_HEADER_BYTES,
);

function bargeInBot(socket: BotSocket): Bot {
  const caller = new VoiceActivity();
  let utterance = 0;
  let talking = false;

  const talk = (): void => {
    utterance += 1;
    talking = true;
    // A whole sentence in one message: the service plays it in real time.
    const payload = PROMPT.toString('base64');
    socket.send({
      event: 'playAudio',
      media: { contentType: 'audio/x-l16', sampleRate: 8000, payload },
    });
    // The service answers after the last sample has been played, or never if the audio is cleared before.
    socket.send({ event: 'checkpoint', name: `utterance-${utterance}` });
  };

  return {
    message(message) {
      if (message.event === 'start') {
        talk();
      } else if (message.event === 'media') {
        const change = caller.hear(Buffer.from(message.media.payload, 'base64'));
        if (change === 'speaks' && talking) {
          console.log('the caller speaks: silence');
          talking = false;
          socket.send({ event: 'clearAudio' });
        } else if (change === 'silent' && !talking) {
          console.log('the caller has finished: talking again');
          talk();
        }
      } else if (message.event === 'playedStream') {
        console.log(`${message.name} was heard to its end`);
        talking = false;
      } else if (message.event === 'dtmf') {
        socket.send({ event: 'sendDTMF', dtmf: message.dtmf.digit });
      }
    },
    closed: () => console.log('call ended'),
  };
}

serveBot(portOr(9001), { contentType: 'audio/x-l16;rate=8000' }, bargeInBot);
