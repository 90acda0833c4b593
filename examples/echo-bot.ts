/** Echo bot: plays back what it hears. `node examples/echo-bot.ts [port]` */
import { type MediaFormat, portOr, serveBot } from './bot-server.ts';

serveBot(portOr(9000), { contentType: 'audio/x-mulaw;rate=8000' }, (socket) => {
  let format: MediaFormat | undefined;
  return {
    message(message) {
      if (message.event === 'start') {
        format = message.start.mediaFormat;
      } else if (message.event === 'media' && format !== undefined) {
        const { encoding: contentType, sampleRate } = format;
        const { payload } = message.media;
        socket.send({ event: 'playAudio', media: { contentType, sampleRate, payload } });
      }
    },
    closed: () => console.log('call ended'),
  };
});
