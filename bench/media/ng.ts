/** The control protocol of rtpengine: a cookie and a dictionary in bencode, in one datagram each way. */
import { createSocket, type Socket } from 'node:dgram';

export type Bencoded =
  | string
  | number
  | readonly Bencoded[]
  | { readonly [key: string]: Bencoded | undefined };

export function bencode(value: Bencoded): string {
  if (typeof value === 'number') return `i${value}e`;
  if (typeof value === 'string') return `${Buffer.byteLength(value, 'latin1')}:${value}`;
  if (Array.isArray(value)) return `l${value.map(bencode).join('')}e`;
  const pairs = Object.entries(value as Readonly<Record<string, Bencoded | undefined>>)
    .filter((pair): pair is [string, Bencoded] => pair[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `d${pairs.map(([key, held]) => bencode(key) + bencode(held)).join('')}e`;
}

/** Throws where the text is not one whole value. */
export function bdecode(text: string): Bencoded {
  const [value, end] = read(text, 0);
  if (end !== text.length) throw new Error('bencode: more than one value');
  return value;
}

type Read = readonly [value: Bencoded, end: number];

function read(text: string, at: number): Read {
  const first = text[at];
  if (first === 'i') {
    const end = text.indexOf('e', at);
    if (end < 0) throw new Error('bencode: a number without an end');
    return [Number(text.slice(at + 1, end)), end + 1];
  }
  if (first !== 'l' && first !== 'd') return readString(text, at);
  const items: Bencoded[] = [];
  let next = at + 1;
  while (text[next] !== 'e') {
    const [value, end] = read(text, next);
    items.push(value);
    next = end;
  }
  if (first === 'l') return [items, next + 1];
  const pairs = items.flatMap((key, i) => (i % 2 === 0 ? [[key, items[i + 1]]] : []));
  return [Object.fromEntries(pairs) as Bencoded, next + 1];
}

function readString(text: string, at: number): Read {
  const colon = text.indexOf(':', at);
  const length = Number(text.slice(at, colon));
  const end = colon + 1 + length;
  if (colon <= at || !Number.isInteger(length) || end > text.length)
    throw new Error('bencode: not a string');
  return [text.slice(colon + 1, end), end];
}

const ANSWER_MS = 2000;
const ATTEMPTS = 5;

export class NgClient {
  readonly #socket: Socket = createSocket('udp4');
  readonly #port: number;
  #requested = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** Repeats a request without a reply; rtpengine sends the same reply to a repeated request. */
  async ask(request: { readonly [key: string]: Bencoded }): Promise<Record<string, Bencoded>> {
    this.#requested += 1;
    const cookie = `c${this.#requested}`;
    const message = Buffer.from(`${cookie} ${bencode(request)}`, 'latin1');
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      this.#socket.send(message, this.#port, '127.0.0.1');
      const reply = await this.#answerTo(cookie);
      if (reply === undefined) continue;
      const fields = bdecode(reply) as Record<string, Bencoded>;
      if (fields['result'] === 'ok' || fields['result'] === 'pong') return fields;
      throw new Error(`rtpengine: ${JSON.stringify(fields)}`);
    }
    throw new Error('rtpengine does not answer');
  }

  #answerTo(cookie: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const end = (reply: string | undefined): void => {
        clearTimeout(late);
        this.#socket.off('message', received);
        resolve(reply);
      };
      const received = (bytes: Buffer): void => {
        const text = bytes.toString('latin1');
        if (text.startsWith(`${cookie} `)) end(text.slice(cookie.length + 1));
      };
      const late = setTimeout(() => end(undefined), ANSWER_MS);
      this.#socket.on('message', received);
    });
  }

  close(): void {
    this.#socket.close();
  }
}
