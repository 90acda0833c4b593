import { expect, it } from 'vitest';
import { SipTraces } from '../../src/service/sip-traces.ts';

const MIB = 2 ** 20;

const note = (traces: SipTraces, callId: string, text: number | string): void =>
  traces.note({
    atMs: 1,
    direction: 'in',
    callId,
    text: typeof text === 'string' ? text : 'INVITE '.padEnd(text, 'x'),
    flow: {
      transport: 'udp',
      localAddress: '127.0.0.1',
      localPort: 5060,
      remoteAddress: '127.0.0.2',
      remotePort: 5060,
      connectionId: undefined,
    },
  } as Parameters<SipTraces['note']>[0]);

it('messages are kept within a number of characters: the oldest calls make way', () => {
  const traces = new SipTraces();
  for (let i = 0; i < 20; i += 1) note(traces, `call ${i}`, MIB);
  expect(traces.of('call 3')).toEqual([]);
  expect(traces.of('call 4')).toHaveLength(1);
  expect(traces.of('call 19')).toHaveLength(1);
  note(traces, 'call 4', 7);
  expect(traces.of('call 4')).toEqual([]);
  expect(traces.of('call 5')).toHaveLength(1);
});

it('calls are kept up to a number, each with its messages in order', () => {
  const traces = new SipTraces();
  for (let i = 0; i < 5001; i += 1) note(traces, `call ${i}`, 10 + i);
  expect(traces.of('call 0')).toEqual([]);
  note(traces, 'call 1', 8);
  expect(traces.of('call 1').map(({ text }) => text.length)).toEqual([11, 8]);
});

it('messages are shown without the credentials that they were kept with', () => {
  const traces = new SipTraces();
  note(
    traces,
    'call',
    'INVITE sip:a SIP/2.0\r\nAuthorization: Digest username="u", response="1"\r\n\r\n',
  );
  expect(traces.of('call').map(({ text }) => text)).toEqual([
    'INVITE sip:a SIP/2.0\r\nAuthorization: Digest (masked)\r\n\r\n',
  ]);
});

it('phones that register take no place of the calls', () => {
  const traces = new SipTraces();
  note(traces, 'call', 'INVITE sip:a SIP/2.0\r\n\r\n');
  for (let i = 0; i < 5000; i += 1) {
    note(traces, `phone ${i}`, 'REGISTER sip:a SIP/2.0\r\n\r\n');
    note(traces, `phone ${i}`, 'SIP/2.0 200 OK\r\n\r\n');
  }
  note(traces, 'call', 'SIP/2.0 200 OK\r\n\r\n');
  expect(traces.of('call')).toHaveLength(2);
  expect(traces.of('phone 4999')).toEqual([]);
});
