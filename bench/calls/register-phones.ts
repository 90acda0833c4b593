/** Registers phones with digest (RFC 3261 §10, RFC 7616) over one socket, with a fixed number of concurrent requests. */
import { hash } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { setTimeout as pause } from 'node:timers/promises';
import { HOST } from './sipp.ts';

export interface Login {
  readonly username: string;
  readonly password: string;
}

interface Phone extends Login {
  readonly contact: number;
  nonce: string | undefined;
  realm: string;
  uses: number;
  cseq: number;
  sentMs: number;
}

export interface Registered {
  readonly count: number;
  /** Responses other than 200 or a challenge, and requests without a response. */
  readonly failed: number;
  /** Number of failed requests by response; `no answer` after two seconds. */
  readonly reasons: ReadonlyMap<string, number>;
  readonly seconds: number;
  /** Milliseconds from the first request to the 200, sorted. */
  readonly delaysMs: readonly number[];
}

const AT_ONCE = 64;
const LOST_MS = 2000;
const EXPIRES_S = 3600;
const BUFFER_BYTES = 8 * 1024 * 1024;
const md5 = (text: string): string => hash('md5', text);

export class RegisterPhones {
  readonly #phones: readonly Phone[];
  readonly #socket: Socket;
  readonly #port: number;
  readonly #waiting = new Map<number, Phone>();
  #next = 0;
  #limit = 0;
  #reasons = new Map<string, number>();
  #delaysMs: number[] = [];

  private constructor(socket: Socket, port: number, phones: readonly Phone[]) {
    this.#socket = socket;
    this.#port = port;
    this.#phones = phones;
    socket.on('message', (message) => this.#answered(message.toString('latin1')));
  }

  /** `contacts` phones for each login. */
  static async start(port: number, logins: readonly Login[], contacts: number) {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, HOST, resolve));
    socket.setRecvBufferSize(BUFFER_BYTES);
    const fresh = { nonce: undefined, realm: '', uses: 0, cseq: 0, sentMs: 0 };
    const phones = logins.flatMap((login) =>
      Array.from({ length: contacts }, (_, contact) => ({ ...login, contact, ...fresh })),
    );
    return new RegisterPhones(socket, port, phones);
  }

  /** Every phone once, then from the first again, until so many have registered. */
  async register(count: number): Promise<Registered> {
    const startedMs = performance.now();
    [this.#limit, this.#reasons, this.#delaysMs] = [this.#next + count, new Map(), []];
    for (let begun = 0; begun < AT_ONCE; begun += 1) this.#begin();
    while (this.#waiting.size > 0) {
      await pause(100);
      for (const [index, phone] of this.#waiting)
        if (performance.now() - phone.sentMs > LOST_MS) this.#finish(index, 'no answer');
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const delaysMs = this.#delaysMs.sort((a, b) => a - b);
    const failed = count - delaysMs.length;
    return { count: delaysMs.length, failed, reasons: this.#reasons, seconds, delaysMs };
  }

  stop(): void {
    this.#socket.close();
  }

  #begin(): void {
    if (this.#next >= this.#limit) return;
    const index = this.#next % this.#phones.length;
    const phone = this.#phones[index];
    this.#next += 1;
    if (phone === undefined) return;
    phone.sentMs = performance.now();
    this.#waiting.set(index, phone);
    this.#send(index, phone);
  }

  #answered(message: string): void {
    const index = Number(/^Call-ID: (\d+)@/m.exec(message)?.[1]);
    const phone = this.#waiting.get(index);
    // An answer to an earlier request of this phone says nothing new.
    if (phone === undefined || !message.includes(`CSeq: ${phone.cseq} REGISTER`)) return;
    if (message.startsWith('SIP/2.0 200')) this.#finish(index);
    else if (message.startsWith('SIP/2.0 401')) this.#challenged(index, phone, message);
    else this.#finish(index, message.slice('SIP/2.0 '.length, message.indexOf('\r')));
  }

  #challenged(index: number, phone: Phone, message: string): void {
    phone.nonce = /nonce="([^"]+)"/.exec(message)?.[1];
    phone.realm = /realm="([^"]+)"/.exec(message)?.[1] ?? '';
    phone.uses = 0;
    this.#send(index, phone);
  }

  #finish(index: number, failure?: string): void {
    const phone = this.#waiting.get(index);
    this.#waiting.delete(index);
    if (failure === undefined) this.#delaysMs.push(performance.now() - (phone?.sentMs ?? 0));
    else this.#reasons.set(failure, (this.#reasons.get(failure) ?? 0) + 1);
    this.#begin();
  }

  #send(index: number, phone: Phone): void {
    phone.cseq += 1;
    const { username, cseq } = phone;
    const own = `${HOST}:${this.#socket.address().port}`;
    const lines = [
      `REGISTER sip:${HOST}:${this.#port} SIP/2.0`,
      `Via: SIP/2.0/UDP ${own};branch=z9hG4bK${index}.${cseq}`,
      'Max-Forwards: 70',
      `From: <sip:${username}@${HOST}>;tag=${index}`,
      `To: <sip:${username}@${HOST}>`,
      `Call-ID: ${index}@${HOST}`,
      `CSeq: ${cseq} REGISTER`,
      `Contact: <sip:${username}-${phone.contact}@${own}>`,
      `Expires: ${EXPIRES_S}`,
      ...this.#authorization(phone),
      'Content-Length: 0',
    ];
    this.#socket.send(`${lines.join('\r\n')}\r\n\r\n`, this.#port, HOST);
  }

  #authorization(phone: Phone): readonly string[] {
    const { username, password, realm, nonce } = phone;
    if (nonce === undefined) return [];
    phone.uses += 1;
    const uri = `sip:${HOST}:${this.#port}`;
    const count = phone.uses.toString(16).padStart(8, '0');
    const ha1 = md5(`${username}:${realm}:${password}`);
    const response = md5(`${ha1}:${nonce}:${count}:0a4f113b:auth:${md5(`REGISTER:${uri}`)}`);
    const known = `username="${username}", realm="${realm}", nonce="${nonce}", uri="${uri}"`;
    return [
      `Authorization: Digest ${known}, qop=auth, nc=${count}, cnonce="0a4f113b", response="${response}", algorithm=MD5`,
    ];
  }
}
