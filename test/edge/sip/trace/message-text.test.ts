import { describe, expect, it } from 'vitest';
import { addressBytes, captureOf } from '../../../../src/edge/sip/trace/capture.ts';
import { ladderOf } from '../../../../src/edge/sip/trace/ladder.ts';
import {
  callIdOf,
  masked,
  maskedMessage,
  messageWithoutKeys,
} from '../../../../src/edge/sip/trace/message-text.ts';
import { flowTo, INVITE, message } from './messages.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('the displayed text of a message', () => {
  it('contains no credentials in any form, and everything else', () => {
    const text =
      'INVITE sip:a SIP/2.0\r\ni: abc@x\r\nAUTHORIZATION : Digest username="u",\r\n response="1"\r\nProxy-Authorization: Digest x\r\nVia: v\r\n\r\n';
    expect(masked(text)).toBe(
      'INVITE sip:a SIP/2.0\r\ni: abc@x\r\nAUTHORIZATION : Digest (masked)\r\nProxy-Authorization: Digest (masked)\r\nVia: v\r\n\r\n',
    );
  });

  it.each([
    ['Identity: eyJhbGciOi.eyJh.c2ln;info=<https://x>', 'Identity: ***'],
    ['y: eyJhbGciOi.eyJh.c2ln', 'y: ***'],
    ['X-PH-Access-Token: t0ps3cret', 'X-PH-Access-Token: ***'],
    ['Identity-Info: <https://x>', 'Identity-Info: <https://x>'],
    [
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0c2VjcmV0c2VjcmV0|2^20',
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 ***',
    ],
    ['a=ice-pwd:c2VjcmV0c2VjcmV0', 'a=ice-pwd: ***'],
  ])('%s → %s', (line, shown) => {
    expect(masked(`X\r\n${line}\r\nZ`)).toBe(`X\r\n${shown}\r\nZ`);
  });

  it.each([
    [
      'Content-Type: application/dtmf-relay',
      'Signal=5\r\nDuration=160\r\n',
      'Signal=***\r\nDuration=160\r\n',
    ],
    [
      'c: Application/DTMF-Relay;x=y',
      ' signal = 11\r\n duration = 160',
      ' signal =***\r\n duration = 160',
    ],
    ['Content-Type:\r\n application/dtmf', '5', '***'],
    ['Content-Type: application/dtmf', '5\r\n4', '***\r\n***'],
    ['Content-Type: application/vnd.nortelnetworks.digits', 'p=Digit\r\nd=4', 'p=***\r\nd=***'],
    ['Content-Type: application/sdp', 'a=sendrecv', 'a=sendrecv'],
  ])('contains no pressed keys (%s)', (type, body, shown) => {
    const info = (text: string): string =>
      `INFO sip:a SIP/2.0\r\n${type}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    expect(maskedMessage(bytes(info(body))).toString()).toBe(info(shown));
    expect(Buffer.from(messageWithoutKeys(bytes(info(body)))).toString()).toBe(info(shown));
  });

  it('has the correct Content-Length', () => {
    const body = 'v=0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0c2VjcmV0c2VjcmV0\r\n';
    const shown = maskedMessage(
      bytes(`INVITE sip:a SIP/2.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    ).toString();
    const [head = '', rest = ''] = shown.split('\r\n\r\n');
    expect(head).toContain(`Content-Length: ${rest.length}`);
    expect(rest).not.toContain('inline');
  });

  it('has the Call-ID of the head, in any spelling', () => {
    expect(callIdOf(bytes('INVITE sip:a SIP/2.0\r\nCall-ID: abc@x\r\n\r\n'))).toBe('abc@x');
    const inBody = 'INVITE sip:a SIP/2.0\r\ni: abc@x\r\n\r\nv=0\r\nCall-ID: other\r\n';
    expect(callIdOf(bytes(inBody))).toBe('abc@x');
    expect(callIdOf(bytes('INVITE sip:a SIP/2.0\r\nCall-ID: abc@x \r\n\r\n'))).toBe('abc@x');
    expect(callIdOf(bytes('INVITE sip:a SIP/2.0\r\nVia: v\r\n\r\nCall-ID: no\r\n'))).toBe(
      undefined,
    );
    const far = `INVITE sip:a SIP/2.0\r\nX: ${'y'.repeat(5000)}\r\nCall-ID: far\r\n\r\n`;
    expect(callIdOf(bytes(far))).toBe('far');
  });
});

describe('a ladder diagram', () => {
  it('shows sender, receiver and message', () => {
    const carrier = flowTo('198.51.100.7', 5060, { transport: 'tls' });
    const lines = ladderOf(
      [
        message('a', INVITE, { atMs: 0 }),
        message('b', INVITE, { atMs: 20, direction: 'out', flow: carrier }),
        message('b', 'SIP/2.0 486 Busy Here\r\nCSeq: 1 INVITE\r\n\r\n', {
          atMs: 40,
          flow: carrier,
        }),
        message('a', 'SIP/2.0 486 Busy Here\r\nCSeq: 1 INVITE\r\n\r\n', {
          atMs: 41,
          direction: 'out',
        }),
      ],
      'Carillon',
    ).split('\n');
    expect(lines[0]).toMatch(/udp 192\.0\.2\.1:5060 +Carillon +tls 198\.51\.100\.7:5060$/);
    expect(lines[2]).toMatch(/^00:00:00\.000 +\|-+ INVITE -+>\| +\|$/);
    expect(lines[3]).toMatch(/^00:00:00\.020 +\| +\|-+ INVITE -+>\|$/);
    expect(lines[4]).toMatch(/^00:00:00\.040 +\| +\|<-+ 486 Busy Here INVITE -+\|$/);
    expect(lines[5]).toMatch(/^00:00:00\.041 +\|<-+ 486 Busy Here INVITE -+\| +\|$/);
    expect(ladderOf([], 'Carillon')).toBe('');
    const evil = 'SIP/2.0 486 \u001b[2J\u009b1m\r\nCSeq: 1 INVITE\u0007\r\n\r\n';
    const shown = ladderOf([message('a', evil)], 'Carillon');
    expect(shown).toContain('486 ?[2J?1m INVITE?');
  });
});

describe('a capture file', () => {
  it('contains each message in a UDP packet with correct addresses, lengths and checksums', () => {
    const file = captureOf([
      message('a', INVITE, { atMs: 1_700_000_000_123.456 }),
      message('a', INVITE, { direction: 'out', flow: flowTo('2001:db8::7', 5070) }),
    ]);
    expect(file.readUInt32LE(0)).toBe(0xa1b2c3d4);
    expect(file.readUInt32LE(24)).toBe(1_700_000_000);
    expect(file.readUInt32LE(28)).toBe(123_456);
    const length = file.readUInt32LE(32);
    const packet = file.subarray(40, 40 + length);
    expect([...packet.subarray(12, 20)]).toEqual([192, 0, 2, 1, 127, 0, 0, 1]);
    expect(packet.readUInt16BE(2)).toBe(length);
    expect(sumOf(packet.subarray(0, 20))).toBe(0xffff);
    expect(packet.subarray(28).toString()).toBe(INVITE);
    const second = file.subarray(40 + length + 16);
    expect(second[0]).toBe(0x60);
    expect(second.subarray(24, 40)).toEqual(addressBytes('2001:db8::7', true));
    expect(second.subarray(48).toString()).toBe(INVITE);
  });

  it('writes IPv4 and IPv6 addresses', () => {
    expect(addressBytes('::ffff:192.0.2.1', true).toString('hex')).toBe(
      '00000000000000000000ffffc0000201',
    );
    expect(addressBytes('2001:db8:1:2:3:4:5:6', true).toString('hex')).toBe(
      '20010db8000100020003000400050006',
    );
    expect(addressBytes('host', false)).toEqual(Buffer.alloc(4));
  });
});

function sumOf(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < header.length; at += 2) sum += header.readUInt16BE(at);
  return (sum & 0xffff) + (sum >> 16);
}
