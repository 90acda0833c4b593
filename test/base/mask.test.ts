import { describe, expect, it } from 'vitest';
import { maskDeep, maskSecrets } from '../../src/base/mask.ts';
import { cpuTimeMs } from '../cpu-time.ts';

describe('masking of secrets in URLs', () => {
  it.each([
    ['https://bob:s3cret@host/a', 'https://***@host/a'],
    ['GET https://s3cret@host failed', 'GET https://***@host failed'],
    ['https://host/a then https://s3cret@host', 'https://host/a then https://***@host'],
    [
      '{"a":"https://h/a","b":"sip:u@h","c":"https://k:s@h/c"}',
      '{"a":"https://h/a","b":"sip:u@h","c":"https://***@h/c"}',
    ],
    ['wss://a:p@ss@host/x and wss://b:q@h', 'wss://***@host/x and wss://***@h'],
    ['sip:alice:pw@host:5060;transport=tcp', 'sip:alice:***@host:5060;transport=tcp'],
    [`sip:alice:${'s3cret'.repeat(20)}@host`, 'sip:alice:***@host'],
    ['https://h/?token=abc&x=1', 'https://h/?token=***&x=1'],
    ['https://h/?a=1&api_key=abc#f', 'https://h/?a=1&api_key=***#f'],
    ['https://h/?access_token=abc.def%2F', 'https://h/?access_token=***'],
    ['{"url":"https://h/?sig=abc"}', '{"url":"https://h/?sig=***"}'],
    ['https://h/?q=sk1live9AbCdEf0123456789xyz', 'https://h/?q=***'],
  ])('%s', (text, masked) => {
    expect(maskSecrets(text)).toBe(masked);
  });

  it.each([
    'mail to ops@example.org',
    'https://h/path?CallUUID=2d5a1f80-5b6c-4d7e-8f90-a1b2c3d4e5f6&From=%2B14155550100',
    'https://h/?ParentAuthID=MA_ABCDEFGH&Event=Hangup',
    'sip:alice@10.0.0.1:5060',
    'sip:alice:@10.0.0.1:5060',
    'Via: SIP/2.0/UDP 10.0.0.1:5060;branch=z9hG4bK0123456789abcdef0123456789abcdef',
    'x=1 y=2',
  ])('does not change %s', (text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  it('masks SRTP keys in SDP', () => {
    const line = (key: string): string =>
      `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}|2^20|1:4`;
    expect(maskSecrets(line('d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj'))).toBe(line('***'));
  });

  it('has linear run time for adversarial input', () => {
    // A pattern with quadratic run time takes minutes.
    for (const piece of ['a.', 'sip:a:', '?a=', '?a', 'a://', 'Authorization: response ']) {
      const text = `${piece.repeat(200_000)}@=`;
      expect(cpuTimeMs(() => expect(maskSecrets(text)).toContain('@='))).toBeLessThan(5000);
    }
  });

  it('does not change the input and copies nothing without secrets', () => {
    const facts = { inner: { url: 'https://a:b@c' }, n: 1 };
    expect(maskDeep(facts)).toEqual({ inner: { url: 'https://***@c' }, n: 1 });
    expect(facts).toEqual({ inner: { url: 'https://a:b@c' }, n: 1 });
    const plain = { to: 'sip:a@b', n: 1 };
    expect(maskDeep(plain)).toBe(plain);
  });

  it('masks secrets at any depth of the log fields', () => {
    const facts = { url: 'https://a:b@c', more: [{ url: 'https://c/?key=k' }], n: 1, u: undefined };
    expect(maskDeep(facts)).toEqual({
      url: 'https://***@c',
      more: [{ url: 'https://c/?key=***' }],
      n: 1,
      u: undefined,
    });
  });

  it('ends at a limited depth, also for a value that contains itself', () => {
    const facts: Record<string, unknown> = { url: 'https://a:b@c' };
    facts['self'] = facts;
    expect(maskDeep(facts)).toMatchObject({ url: 'https://***@c', self: { url: 'https://***@c' } });
  });
});
