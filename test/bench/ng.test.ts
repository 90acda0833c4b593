import { describe, expect, it } from 'vitest';
import { bdecode, bencode } from '../../bench/media/ng.ts';

describe('bencode as rtpengine uses it', () => {
  it('encodes a request with its keys in order', () => {
    const request = { sdp: 'v=0\r\n', command: 'offer', codec: { mask: ['PCMU'] }, n: -3 };
    expect(bencode(request)).toBe('d5:codecd4:maskl4:PCMUee7:command5:offer1:ni-3e3:sdp5:v=0\r\ne');
  });

  it('decodes what it encoded', () => {
    const value = { a: [1, 'two', { three: '' }], b: 'l:e' };
    expect(bdecode(bencode(value))).toEqual(value);
  });

  it.each(['', 'i5', '5:abc', 'd1:a', 'l', 'x', 'i5ei5e', '-1:a'])('rejects %j', (text) => {
    expect(() => bdecode(text)).toThrow(/bencode/);
  });
});
