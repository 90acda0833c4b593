/** Phones that register over WSS as browsers do: a challenge, its answer, 200. */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { PASSWORD, REALM } from '../sip-transports/user.ts';

const SERVICE = fileURLToPath(new URL('../sip-transports/service.ts', import.meta.url));
const HOST = '127.0.0.1';
const CONNECTIONS = 20;
/** Under way on each connection. */
const AT_ONCE = 10;

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

class Phones {
  done = 0;
  readonly #socket: WebSocket;
  readonly #name: string;
  #begun = 0;

  constructor(name: string, socket: WebSocket) {
    this.#name = name;
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#received(data.toString('latin1')));
    for (let i = 0; i < AT_ONCE; i += 1) this.#next();
  }

  close(): void {
    this.#socket.terminate();
  }

  #next(): void {
    this.#begun += 1;
    this.#register(`${this.#name}x${this.#begun}`, 1, '');
  }

  #received(text: string): void {
    const user = /^Call-ID: (\w+)@/m.exec(text)?.[1] ?? '';
    const nonce = /^WWW-Authenticate: .*nonce="([^"]+)", algorithm=MD5/m.exec(text)?.[1];
    if (text.startsWith('SIP/2.0 200')) {
      this.done += 1;
      this.#next();
    } else if (nonce !== undefined) {
      const ha = [md5(`${user}:${REALM}:${PASSWORD}`), md5(`REGISTER:sip:${HOST}`)];
      const response = md5(`${ha[0]}:${nonce}:00000001:c:auth:${ha[1]}`);
      this.#register(
        user,
        2,
        `Authorization: Digest username="${user}", realm="${REALM}", nonce="${nonce}", uri="sip:${HOST}", algorithm=MD5, qop=auth, nc=00000001, cnonce="c", response="${response}"\r\n`,
      );
    }
  }

  #register(user: string, sequence: number, authorization: string): void {
    this.#socket.send(
      `REGISTER sip:${HOST} SIP/2.0\r\nVia: SIP/2.0/WSS x.invalid;branch=z9hG4bK${user}${sequence}\r\nMax-Forwards: 70\r\nFrom: <sip:${user}@${HOST}>;tag=t\r\nTo: <sip:${user}@${HOST}>\r\nCall-ID: ${user}@x\r\nCSeq: ${sequence} REGISTER\r\nContact: <sip:${user}@x.invalid;transport=ws>;expires=600\r\n${authorization}Content-Length: 0\r\n\r\n`,
    );
  }
}

/** A second, and what the service uses of the processor for one, µs. */
export async function registrations(
  seconds: number,
): Promise<{ perSecond: number; cpuUs: number }> {
  const child = fork(SERVICE);
  const [{ wss }] = (await once(child, 'message')) as [{ wss: number }];
  const cpuUs = async (): Promise<number> => {
    const answer = once(child, 'message');
    child.send('cpu');
    const [{ cpuUs: used }] = await answer;
    return used;
  };
  const phones: Phones[] = [];
  for (let i = 0; i < CONNECTIONS; i += 1) {
    const socket = new WebSocket(`wss://${HOST}:${wss}`, 'sip', { rejectUnauthorized: false });
    await once(socket, 'open');
    phones.push(new Phones(`u${i}`, socket));
  }
  const done = (): number => phones.reduce((sum, one) => sum + one.done, 0);
  const [first, used, beganMs] = [done(), await cpuUs(), performance.now()];
  await new Promise((over) => void setTimeout(over, seconds * 1000));
  const count = done() - first;
  const [tookS, spent] = [(performance.now() - beganMs) / 1000, (await cpuUs()) - used];
  for (const one of phones) one.close();
  child.disconnect();
  return { perSecond: count / tookS, cpuUs: spent / count };
}
