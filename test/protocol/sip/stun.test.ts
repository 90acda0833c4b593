/** STUN keep-alives (RFC 5626 §8), with the addresses of the test vectors of RFC 5769. */
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { answerBinding, isStun } from '../../../src/protocol/sip/sip.ts';

const HEADER = '2112a442b7e7a701bc34d686fa87dfae';
const SOURCE = { address: '192.0.2.1', port: 32853 };

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
/** A Binding request with these attributes. */
const request = (attributes = '', type = '0001'): Buffer => {
  const length = (attributes.length / 2).toString(16).padStart(4, '0');
  return hex(`${type}${length}${HEADER}${attributes}`);
};
const answered = (bytes: Uint8Array, source = SOURCE): string | undefined => {
  const answer = answerBinding(bytes, source);
  return answer && Buffer.from(answer).toString('hex');
};
/** The request with a FINGERPRINT, its last bit flipped if `wrong`. */
const marked = (attributes: string, wrong = 0): Buffer => {
  const whole = request(`${attributes}8028000400000000`);
  const covered = whole.subarray(0, whole.length - 8);
  whole.writeUInt32BE(((crc32(covered) ^ 0x5354554e ^ wrong) >>> 0) as number, whole.length - 4);
  return whole;
};

describe('a STUN Binding request', () => {
  it.each([
    ['IPv4', SOURCE, `0101000c${HEADER}002000080001a147e112a643`],
    [
      'IPv6',
      { address: '2001:db8:1234:5678:11:2233:4455:6677', port: 32853 },
      `01010018${HEADER}002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9`,
    ],
    [
      'shortened IPv6',
      { address: 'fe80::1%eth0', port: 32853 },
      `01010018${HEADER}002000140002a147df92a442b7e7a701bc34d686fa87dfaf`,
    ],
  ])('is answered with the mapped address: %s', (_, source, expected) => {
    expect(answered(request(), source)).toBe(expected);
  });

  it('is answered regardless of SOFTWARE and USERNAME', () => {
    expect(answered(request('802200047465737400060004616c6963'))).toMatch(/^0101000c/);
  });

  it('gets a fingerprint back if it has one', () => {
    const answer = answerBinding(marked(''), SOURCE);
    const bytes = Buffer.from(answer ?? []);
    const covered = bytes.subarray(0, bytes.length - 8);
    expect(bytes.readUInt16BE(2)).toBe(20);
    expect(bytes.readUInt32BE(bytes.length - 4)).toBe((crc32(covered) ^ 0x5354554e) >>> 0);
  });

  it('with an attribute that must be understood gets 420 and its type', () => {
    const answer = answered(request('0003000400000002'));
    expect(answer).toMatch(/^0111/);
    expect(answer).toContain(
      `00090015${'00000414'}${Buffer.from('Unknown Attribute').toString('hex')}`,
    );
    expect(answer).toContain('000a00020003');
  });
});

describe('no answer to', () => {
  it.each([
    ['a Binding indication', request('', '0011')],
    ['a Binding response', request('', '0101')],
    ['another method', request('', '0003')],
    ['a length beyond the datagram', hex(`00010008${HEADER}`)],
    ['bytes behind the message', Buffer.concat([request(), Buffer.alloc(4)])],
    [
      'a length that is not a multiple of four',
      Buffer.concat([hex(`00010002${HEADER}`), hex('0000')]),
    ],
    ['an attribute beyond the message', request('8022000874657374')],
    ['a wrong fingerprint', marked('', 1)],
    ['a fingerprint that is not last', request(`${'8028000400000000'}80220000`)],
    ['a short header', hex(`00010000${HEADER}`).subarray(0, 19)],
  ])('%s', (_, bytes) => {
    expect(answered(bytes)).toBeUndefined();
  });
});

it.each([
  'OPTIONS sip:a@b SIP/2.0\r\n\r\n',
  'SIP/2.0 200 OK\r\n\r\n',
  '\r\n\r\n',
  '\r\n'.repeat(20),
])('does not treat SIP and its keep-alives as STUN: %j', (text) => {
  expect(isStun(Buffer.from(text))).toBe(false);
});
