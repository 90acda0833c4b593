/** Messages, flows and small helpers for the SIP tests. */
import {
  createRequest,
  type HeaderInit,
  type SipMessage,
  type SipRequest,
} from '../../../src/protocol/sip/message.ts';
import { parseMessage } from '../../../src/protocol/sip/parse.ts';
import type { TransactionOutput } from '../../../src/protocol/sip/transaction/types.ts';
import type { Flow } from '../../../src/protocol/sip/transport/flow.ts';

export const UDP: Flow = {
  transport: 'udp',
  localAddress: '192.0.2.1',
  localPort: 5060,
  remoteAddress: '192.0.2.7',
  remotePort: 5060,
  connectionId: undefined,
};

export const TCP: Flow = { ...UDP, transport: 'tcp', remotePort: 40_001, connectionId: 9 };

/** Joins lines by CRLF, adds the empty line that ends the head, then `body`. */
export const wire = (lines: readonly string[], body = ''): Buffer =>
  Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'utf8');

export function parsed(bytes: Uint8Array): SipMessage {
  const result = parseMessage(bytes);
  if (!result.ok) throw new Error(`not parsed: ${result.error.reason}`);
  return result.message;
}

export function parsedRequest(bytes: Uint8Array): SipRequest {
  const message = parsed(bytes);
  if (message.kind !== 'request') throw new Error('a response');
  return message;
}

export interface RequestSketch {
  readonly method?: string;
  readonly branch?: string;
  readonly via?: string;
  readonly callId?: string;
  readonly cseq?: number;
  readonly fromTag?: string;
  readonly toTag?: string;
  readonly uri?: string;
  readonly extra?: HeaderInit;
}

export function sketch(parts: RequestSketch = {}): SipRequest {
  const method = parts.method ?? 'INVITE';
  const via = parts.via ?? `SIP/2.0/UDP 192.0.2.7:5060;branch=${parts.branch ?? 'z9hG4bKone'}`;
  const toTag = parts.toTag === undefined ? '' : `;tag=${parts.toTag}`;
  return createRequest({
    method,
    requestUri: parts.uri ?? 'sip:bob@example.com',
    headers: [
      ['Via', via],
      ['Max-Forwards', '70'],
      ['From', `<sip:alice@example.com>;tag=${parts.fromTag ?? 'a1'}`],
      ['To', `<sip:bob@example.com>${toTag}`],
      ['Call-ID', parts.callId ?? 'call-1'],
      ['CSeq', `${parts.cseq ?? 1} ${method}`],
      ['Contact', '<sip:alice@192.0.2.7>'],
      ...(parts.extra ?? []),
    ],
  });
}

/** Outputs as short words: `send:100`, `send:ACK`, `response:200`, `request:INVITE`, `timeout`, … */
export const words = (outputs: readonly TransactionOutput[]): string[] =>
  outputs.map((output) => {
    if (output.kind === 'send') {
      const { message } = output;
      return `send:${message.kind === 'request' ? message.method : message.status}`;
    }
    if (output.kind === 'response' || output.kind === 'strayResponse') {
      return `${output.kind}:${output.response.status}`;
    }
    if (output.kind === 'request') return `request:${output.request.method}`;
    return output.kind;
  });

interface Timed {
  deadlineMs(): number | undefined;
  expire(nowMs: number): readonly TransactionOutput[];
}

/** Runs the machine's timers up to `untilMs` and returns each output with its time. */
export function run(machine: Timed, untilMs: number): { atMs: number; word: string }[] {
  const log: { atMs: number; word: string }[] = [];
  for (;;) {
    const due = machine.deadlineMs();
    if (due === undefined || due > untilMs) return log;
    for (const word of words(machine.expire(due))) log.push({ atMs: due, word });
  }
}

/** Times of one word in such a log. */
export const momentsOf = (log: readonly { atMs: number; word: string }[], word: string): number[] =>
  log.filter((entry) => entry.word === word).map((entry) => entry.atMs);
