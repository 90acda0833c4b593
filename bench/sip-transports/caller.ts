/** Calls over one kept flow: INVITE, 100, 180, 200, ACK, BYE, 200. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { WebSocket } from 'ws';

export type Transport = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';

interface Wire {
  send(text: string): void;
  close(): void;
}

const HOST = '127.0.0.1';
const SDP =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 6000 RTP/AVP 0\r\n';

export class Caller {
  readonly #transport: Transport;
  /** Call-IDs without an end. */
  readonly #open = new Set<string>();
  /** Answers that refused. */
  readonly #refusals = new Set<string>();
  #wire: Wire | undefined;
  #begun = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async open(port: number): Promise<void> {
    const received = (text: string): void => this.#received(text);
    this.#wire = await WIRES[this.#transport](port, received);
  }

  close(): void {
    this.#wire?.close();
  }

  /** Places calls at a fixed rate for a fixed time. Resolves when the last call has ended. */
  async place(rate: number, seconds: number): Promise<number> {
    const [first, beganMs] = [this.#begun, performance.now()];
    const calls = rate * seconds;
    while (this.#begun - first < calls) {
      const due = Math.min(calls, Math.floor(((performance.now() - beganMs) / 1000) * rate));
      while (this.#begun - first < due) this.#invite();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const lateMs = performance.now() + 3000;
    while (this.#open.size > 0 && performance.now() < lateMs) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { size } = this.#open;
    const why = [...this.#refusals].join(', ');
    if (size > 0)
      throw new Error(`${this.#transport}: ${size} of ${calls} calls did not end ${why}`);
    return calls;
  }

  #invite(): void {
    this.#begun += 1;
    const id = `${this.#transport}${this.#begun}`;
    this.#open.add(id);
    this.#request('INVITE', id, '', SDP);
  }

  #received(text: string): void {
    const cseq = /^CSeq: \d+ (\w+)/m.exec(text)?.[1];
    const id = /^Call-ID: (\w+)@/m.exec(text)?.[1] ?? '';
    if (/^SIP\/2\.0 [3-6]/.test(text)) this.#refusals.add(text.slice(8, text.indexOf('\r')));
    if (!text.startsWith('SIP/2.0 200')) return;
    const tag = /^To: [^\r]*(;tag=[^;\r]+)/m.exec(text)?.[1] ?? '';
    if (cseq === 'BYE') this.#open.delete(id);
    else {
      this.#request('ACK', id, tag);
      this.#request('BYE', id, tag);
    }
  }

  #request(method: string, id: string, tag: string, body = ''): void {
    const lines = [
      `${method} sip:14155550003@${HOST} SIP/2.0`,
      `Via: SIP/2.0/${this.#transport.toUpperCase()} ${HOST}:5999;rport;branch=z9hG4bK-${id}-${method}`,
      'Max-Forwards: 70',
      `From: <sip:14155550100@${HOST}>;tag=c${id}`,
      `To: <sip:14155550003@${HOST}>${tag}`,
      `Call-ID: ${id}@${HOST}`,
      `CSeq: ${method === 'BYE' ? 2 : 1} ${method}`,
      `Contact: <sip:14155550100@${HOST}:5999>`,
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
    ];
    this.#wire?.send(`${lines.join('\r\n')}\r\n\r\n${body}`);
  }
}

type Open = (port: number, received: (text: string) => void) => Promise<Wire>;

/** Messages of a stream: a head, and as much body as it says. */
function cutting(received: (text: string) => void): (chunk: Buffer) => void {
  let pending = '';
  return (chunk) => {
    pending += chunk.toString('latin1');
    for (;;) {
      const head = pending.indexOf('\r\n\r\n');
      if (head === -1) return;
      const end = head + 4 + Number(/^Content-Length: (\d+)/im.exec(pending)?.[1] ?? 0);
      if (pending.length < end) return;
      received(pending.slice(0, end));
      pending = pending.slice(end);
    }
  };
}

async function webSocket(url: string, received: (text: string) => void): Promise<Wire> {
  const socket = new WebSocket(url, 'sip', { rejectUnauthorized: false });
  await once(socket, 'open');
  socket.on('message', (data: Buffer) => received(data.toString('latin1')));
  return { send: (text) => socket.send(text), close: () => socket.terminate() };
}

const WIRES: Readonly<Record<Transport, Open>> = {
  udp: async (port, received) => {
    const socket = createSocket('udp4');
    socket.bind(0, HOST);
    await once(socket, 'listening');
    socket.setRecvBufferSize(4 * 1024 * 1024);
    socket.on('message', (bytes) => received(bytes.toString('latin1')));
    return { send: (text) => socket.send(text, port, HOST), close: () => socket.close() };
  },
  tcp: async (port, received) => {
    const socket = connect(port, HOST).setNoDelay(true);
    await once(socket, 'connect');
    socket.on('data', cutting(received));
    return { send: (text) => socket.write(text), close: () => socket.destroy() };
  },
  tls: async (port, received) => {
    const socket = tlsConnect({ port, host: HOST, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.setNoDelay(true).on('data', cutting(received));
    return { send: (text) => socket.write(text), close: () => socket.destroy() };
  },
  ws: (port, received) => webSocket(`ws://${HOST}:${port}`, received),
  wss: (port, received) => webSocket(`wss://${HOST}:${port}`, received),
};
