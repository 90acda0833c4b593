import { asCallUuid } from '../../../../src/base/ids.ts';
import type { TracedMessage } from '../../../../src/edge/sip/trace/message-ring.ts';
import type { Flow } from '../../../../src/protocol/sip/sip.ts';

export const flowTo = (
  remoteAddress: string,
  remotePort = 5060,
  more: Partial<Flow> = {},
): Flow => ({
  transport: 'udp',
  localAddress: '127.0.0.1',
  localPort: 5060,
  remoteAddress,
  remotePort,
  connectionId: undefined,
  ...more,
});

export const message = (
  callId: string,
  text: string,
  more: Partial<TracedMessage> = {},
): TracedMessage => ({
  direction: 'in',
  atMs: 1,
  callId,
  bytes: Buffer.from(text),
  flow: flowTo('192.0.2.1'),
  ...more,
});

export const A = asCallUuid('aaaaaaaa-0000-4000-8000-000000000000');
export const B = asCallUuid('bbbbbbbb-0000-4000-8000-000000000000');
export const INVITE = 'INVITE sip:a@b SIP/2.0\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n';
