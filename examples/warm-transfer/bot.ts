/**
 * Warm transfer: `COLLEAGUE=14155550123 node examples/warm-transfer/bot.ts [port]`
 *
 * The bot talks until the caller presses 0. The service then calls the colleague (a number or SIP URI), speaks the
 * introduction, and connects both when the colleague presses 1. The caller hears music until then.
 */
import { readFileSync } from 'node:fs';
import { type Bot, type BotSocket, portOr, serveBot } from '../bot-server.ts';

const { COLLEAGUE = '14155550123', CALLER_ID: callerId } = process.env;
const WAV_HEADER_BYTES = 44;
/** Signed 16-bit little-endian mono at 8 kHz. */
const PROMPT = readFileSync(new URL('../../fixtures/audio/speech.wav', import.meta.url))
  .subarray(WAV_HEADER_BYTES)
  .toString('base64');

function transferBot(socket: BotSocket): Bot {
  let from = '';

  const talk = (): void =>
    socket.send({
      event: 'playAudio',
      media: { contentType: 'audio/x-l16', sampleRate: 8000, payload: PROMPT },
    });

  return {
    message(message) {
      if (message.event === 'start') {
        from = message.start.from;
        talk();
      } else if (message.event === 'dtmf' && message.dtmf.digit === '0') {
        socket.send({ event: 'clearAudio' });
        const digits = [...from].join(' ');
        const introduction = `A caller with the number ${digits} asks for a person.`;
        const transfer = { to: COLLEAGUE, mode: 'warm', introduction, callerId };
        socket.send({ event: 'transfer', transfer });
      } else if (message.event === 'transfer') {
        const { status, detail = '' } = message.transfer;
        console.log(`transfer ${status} ${detail}`);
        // The caller is with the bot again.
        if (status === 'declined' || status === 'failed') talk();
      }
    },
    closed: () => console.log('the bot has left'),
  };
}

serveBot(portOr(9016), { transfers: true }, transferBot);
