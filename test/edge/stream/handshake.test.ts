import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openingFault, openingRequest } from '../../../src/edge/stream/handshake.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
/** Example of RFC 6455 §1.3. */
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

const answer = (status: string, ...fields: string[]): string => [status, ...fields].join('\r\n');
const GOOD = [
  'HTTP/1.1 101 Switching Protocols',
  'Upgrade: websocket',
  'Connection: Upgrade',
  `Sec-WebSocket-Accept: ${ACCEPT}`,
] as const;
const without = (name: string): string =>
  answer(...(GOOD.filter((line) => !line.startsWith(name)) as [string]));

describe('opening request (RFC 6455 §4.1)', () => {
  const request = (url: string, headers: Record<string, string> = {}): string[] =>
    openingRequest({ url: new URL(url), headers, key: KEY }).split('\r\n');

  it('requests the path and query of the URL at its host and port', () => {
    const [line, host, ...rest] = request('ws://bot.example.com:9000/a%20b?x=1&y=2');
    expect(line).toBe('GET /a%20b?x=1&y=2 HTTP/1.1');
    expect(host).toBe('Host: bot.example.com:9000');
    expect(rest).toEqual([
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Key: ${KEY}`,
      'Sec-WebSocket-Version: 13',
      '',
      '',
    ]);
  });

  it('writes an empty path as /, omits a default port, and keeps the brackets of IPv6', () => {
    expect(request('wss://bot.example.com').slice(0, 2)).toEqual([
      'GET / HTTP/1.1',
      'Host: bot.example.com',
    ]);
    expect(request('ws://[::1]:81/')[1]).toBe('Host: [::1]:81');
  });

  it('omits an invalid value, which cannot split the request', () => {
    const lines = request('ws://h/', { 'X-Good': 'yes', 'X-Bad': 'a\r\nX-Injected: 1' });
    expect(lines).toContain('X-Good: yes');
    expect(lines.join('\n')).not.toContain('Injected');
  });
});

describe('response to the opening request (RFC 6455 §4.1)', () => {
  it('accepts the example of §1.3', () => {
    expect(
      createHash('sha1').update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64'),
    ).toBe(ACCEPT);
    expect(openingFault(answer(...GOOD), KEY)).toBeUndefined();
  });

  it('compares names and tokens case-insensitively and reads lists and repeated fields', () => {
    const head = answer(
      'HTTP/1.1 101',
      'UPGRADE:WebSocket',
      'connection: keep-alive',
      'Connection: x, UPGRADE',
      `sec-websocket-accept:  ${ACCEPT} `,
    );
    expect(openingFault(head, KEY)).toBeUndefined();
  });

  it('accepts an unrequested subprotocol', () => {
    const head = answer(...GOOD, 'Sec-WebSocket-Protocol: audio.example.com');
    expect(openingFault(head, KEY)).toBeUndefined();
  });

  it.each([
    [answer('HTTP/1.1 302 Found', 'Location: ws://other/'), 'HTTP 302'],
    [answer('HTTP/1.1 401 Unauthorized'), 'HTTP 401'],
    [answer('HTTP/2 101'), 'HTTP/1.1'],
    ['SSH-2.0-OpenSSH_9.2', 'HTTP/1.1'],
    ['', 'HTTP/1.1'],
    [without('Upgrade'), 'Upgrade: websocket'],
    [without('Connection'), 'Connection: Upgrade'],
    [without('Sec'), 'Sec-WebSocket-Accept'],
    [answer(...GOOD, 'Sec-WebSocket-Accept: another'), 'Sec-WebSocket-Accept'],
    [answer(...GOOD, 'Sec-WebSocket-Extensions: permessage-deflate'), 'extension'],
  ])('rejects %j', (head, words) => {
    expect(openingFault(head, KEY)).toContain(words);
  });
});
