/** Plays back received audio immediately in the format of the stream. Key `#` clears the audio, key `*` ends the stream. */
import type { RawData, WebSocket } from 'ws';
import type { Logger } from '../base/logger.ts';

interface MediaFormat {
  readonly encoding: string;
  readonly sampleRate: number;
}

/** Fields of a message that the bot reads. Each may be missing because the input is untrusted. */
interface ServiceMessage {
  readonly event?: unknown;
  readonly start?: { readonly streamId?: string; readonly mediaFormat?: MediaFormat };
  readonly media?: { readonly track?: string; readonly payload?: string };
  readonly dtmf?: { readonly digit?: string };
}

/** Maximum unsent bytes while the service does not read, about 10 s of audio. */
const MAX_WAITING_BYTES = 512 * 1024;

export function attachEchoBot(socket: WebSocket, logger: Logger): void {
  let streamId = '';
  let format: MediaFormat | undefined;
  const send = (message: Readonly<Record<string, unknown>>): void => {
    if (socket.bufferedAmount < MAX_WAITING_BYTES) {
      socket.send(JSON.stringify({ ...message, streamId }));
    }
  };
  socket.on('message', (data) => {
    const message = parse(data);
    if (message === undefined) return;
    switch (message.event) {
      case 'start':
        streamId = message.start?.streamId ?? '';
        format = message.start?.mediaFormat;
        break;
      case 'media':
        if (format === undefined || message.media?.track !== 'inbound') break;
        send({
          event: 'playAudio',
          media: {
            contentType: format.encoding,
            sampleRate: format.sampleRate,
            payload: message.media.payload,
          },
        });
        break;
      case 'dtmf':
        if (message.dtmf?.digit === '#') send({ event: 'clearAudio' });
        if (message.dtmf?.digit === '*') send({ event: 'stop' });
        break;
      case 'error':
        logger.warn({ message }, 'the demo bot received an error message');
        break;
      default:
        break;
    }
  });
  socket.on('error', (error) => logger.debug({ error: error.message }, 'demo bot socket failed'));
}

function parse(data: RawData): ServiceMessage | undefined {
  try {
    const message: unknown = JSON.parse(String(data));
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}
