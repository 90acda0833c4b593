/** A bot of the soak test: socket, random numbers, and actions shared by all characters. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { SimRandom } from '../sim/random.ts';

/** Limit of a bot's own send buffer, bytes. Beyond it the bot waits for the service to read. */
const MAX_WAITING_BYTES = 256 * 1024;
const HALF_SECOND = Buffer.alloc(8000, 3).toString('base64');
const ODD = Buffer.alloc(333, 5).toString('base64');

export class RandomBot {
  readonly socket: WebSocket;
  /** The TCP connection, for characters that break it. */
  readonly connection: Socket;
  readonly random: SimRandom;
  streamId = '';
  /** Whether the bot echoes received audio. */
  speaking = false;
  answersPings = true;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(socket: WebSocket, connection: Socket, random: SimRandom) {
    this.socket = socket;
    this.connection = connection;
    this.random = random;
    socket.on('message', (data: Buffer) => this.#received(data));
    socket.on('ping', (data) => {
      if (this.answersPings) socket.pong(data);
    });
    socket.on('close', () => {
      for (const timer of this.#timers) clearTimeout(timer);
    });
    socket.on('error', () => undefined);
  }

  get mayWrite(): boolean {
    return (
      this.socket.readyState === this.socket.OPEN && this.socket.bufferedAmount < MAX_WAITING_BYTES
    );
  }

  say(message: unknown): void {
    if (!this.mayWrite) return;
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  play(payload: string, sampleRate: 8000 | 16_000 | 24_000 = 8000): void {
    const media = { contentType: 'audio/x-l16', sampleRate, payload };
    this.say({ event: 'playAudio', streamId: this.streamId, media });
  }

  playHalfSecond(): void {
    this.play(HALF_SECOND);
  }

  /** Sends a chunk with an incomplete sample. */
  playOdd(): void {
    this.play(ODD, this.random.pick([8000, 16_000, 24_000]));
  }

  checkpoint(name: string): void {
    this.say({ event: 'checkpoint', streamId: this.streamId, name });
  }

  clear(): void {
    this.say({ event: 'clearAudio', streamId: this.streamId });
  }

  /** Runs `act` once after a random delay in the given range, ms. */
  after(fromMs: number, toMs: number, act: () => void): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        act();
      },
      this.random.between(fromMs, toMs),
    );
    this.#timers.add(timer);
  }

  /** Runs `act` repeatedly with random delays in the given range (ms) until the socket closes. */
  every(fromMs: number, toMs: number, act: () => void): void {
    this.after(fromMs, toMs, () => {
      act();
      if (this.socket.readyState === this.socket.OPEN) this.every(fromMs, toMs, act);
    });
  }

  #received(data: Buffer): void {
    if (this.streamId === '') {
      const message = JSON.parse(data.toString('utf8'));
      if (message.event === 'start') this.streamId = message.start.streamId;
      return;
    }
    if (!this.speaking) return;
    // Extracts the payload without parsing the JSON, to save CPU time.
    const from = data.indexOf('"payload":"');
    if (from < 0) return;
    const start = from + '"payload":"'.length;
    this.play(data.toString('latin1', start, data.indexOf('"', start)));
  }
}
