/** Minimal SIP user agents for calls through the service: callers that send INVITE, and a callee that answers immediately. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { CALLEE_PORT } from '../calls/sipp.ts';
import { HOST } from './sides.ts';

/** Timeout of the first INVITE. It is not retransmitted, because loopback does not lose packets. */
const TIMEOUT_MS = 10_000;

interface Message {
  /** Request or status line. */
  readonly first: string;
  readonly head: string;
  readonly sdp: string;
}

function parse(bytes: Buffer): Message {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const head = end < 0 ? text : text.slice(0, end);
  return {
    first: head.slice(0, head.indexOf('\r\n')),
    head,
    sdp: end < 0 ? '' : text.slice(end + 4),
  };
}

const header = (message: Message, name: string): string =>
  new RegExp(`^${name}:\\s*(.*?)\\r?$`, 'im').exec(message.head)?.[1] ?? '';

const headers = (message: Message, name: string): readonly string[] =>
  message.head.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name}:`));

async function bound(port: number): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(port, HOST);
  await once(socket, 'listening');
  return socket;
}

/** Answers each INVITE with what `answer` makes of its offer, and everything else with 200. */
export class CalleeEnd {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async start(answer: (offer: string, callId: string) => string): Promise<CalleeEnd> {
    const socket = await bound(CALLEE_PORT);
    const answers = new Map<string, string>();
    socket.on('message', (bytes, from) => {
      const request = parse(bytes);
      if (request.first.startsWith('ACK ') || request.first.startsWith('SIP/2.0 ')) return;
      const callId = header(request, 'call-id');
      let sdp = '';
      if (request.first.startsWith('INVITE ')) {
        sdp = answers.get(callId) ?? answer(request.sdp, callId);
        answers.set(callId, sdp);
      }
      socket.send(okTo(request, sdp), from.port, from.address);
    });
    return new CalleeEnd(socket);
  }

  stop(): void {
    this.#socket.close();
  }
}

function okTo(request: Message, sdp: string): string {
  return [
    'SIP/2.0 200 OK',
    ...['via', 'record-route', 'from'].flatMap((name) => headers(request, name)),
    `To: ${header(request, 'to').replace(/;tag=.*/, '')};tag=callee`,
    `Call-ID: ${header(request, 'call-id')}`,
    `CSeq: ${header(request, 'cseq')}`,
    `Contact: <sip:callee@${HOST}:${CALLEE_PORT}>`,
    ...(sdp === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${sdp.length}`,
    '',
    sdp,
  ].join('\r\n');
}

/** Places one call and leaves it; what the other side answered. */
export async function placeCall(port: number, user: string, offer: string): Promise<string> {
  const socket = await bound(0);
  const own = `${HOST}:${socket.address().port}`;
  const callId = `${own}-media`;
  const request = (method: string, target: string, to: string, sdp: string): string =>
    [
      `${method} ${target} SIP/2.0`,
      `Via: SIP/2.0/UDP ${own};branch=z9hG4bK${method}${socket.address().port}`,
      'Max-Forwards: 70',
      `From: <sip:14155550199@${own}>;tag=caller`,
      `To: ${to}`,
      `Call-ID: ${callId}`,
      `CSeq: 1 ${method}`,
      `Contact: <sip:14155550199@${own}>`,
      ...(sdp === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${sdp.length}`,
      '',
      sdp,
    ].join('\r\n');
  const target = `sip:${user}@${HOST}:${port}`;
  const answered = new Promise<Message>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('no answer to INVITE')), TIMEOUT_MS);
    socket.on('message', (bytes, from) => {
      const message = parse(bytes);
      if (!message.first.startsWith('SIP/2.0 ')) {
        socket.send(okTo(message, ''), from.port, from.address);
        return;
      }
      const status = Number(message.first.split(' ')[1]);
      if (status < 200 || !header(message, 'cseq').endsWith('INVITE')) return;
      clearTimeout(late);
      if (status >= 300) reject(new Error(`INVITE: ${message.first}`));
      else resolve(message);
    });
  });
  socket.send(request('INVITE', target, `<${target}>`, offer), port, HOST);
  const ok = await answered;
  const contact = /<([^>]*)>/.exec(header(ok, 'contact'))?.[1] ?? target;
  socket.send(request('ACK', contact, header(ok, 'to'), ''), port, HOST);
  // The call ends with the service: its socket stays for what comes.
  socket.unref();
  return ok.sdp;
}
