import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { MAX_MESSAGE_BYTES } from '../../../src/protocol/sip/parse.ts';
import { serialize } from '../../../src/protocol/sip/serialize.ts';
import {
  type FramerEvent,
  MAX_HEAD_BYTES,
  StreamFramer,
} from '../../../src/protocol/sip/transport/framer.ts';
import { sketch, wire } from './support.ts';

/** Events as text; messages as their bytes. */
const show = (events: readonly FramerEvent[]): string[] =>
  events.map((event) =>
    event.kind === 'message'
      ? Buffer.from(event.bytes).toString('latin1')
      : event.kind === 'error'
        ? `error:${event.status}:${event.reason}`
        : event.kind,
  );

const message = (callId: string, body = '') =>
  serialize(sketch({ callId }).withBody(Buffer.from(body), 'text/plain'));

const STREAM = Buffer.concat([
  Buffer.from('\r\n\r\n'),
  message('one', 'body\r\n\r\nwith an empty line'),
  Buffer.from('\r\n'),
  message('two'),
  Buffer.from('\r\n\r\n'),
  message('three', '\u00fc'.repeat(3_000)),
]);

const WHOLE = show(new StreamFramer().push(STREAM));

describe('stream framing (RFC 3261 §18.3)', () => {
  test('returns messages and pings in order', () => {
    expect(WHOLE.map((text) => text.slice(0, 6))).toEqual([
      'ping',
      'INVITE',
      'INVITE',
      'ping',
      'INVITE',
    ]);
    expect(WHOLE[1]).toContain('body\r\n\r\nwith an empty line');
  });

  test('ends at a head that is not SIP, and reads nothing after it', () => {
    const framer = new StreamFramer();
    const http = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
    const events = framer.push(Buffer.concat([Buffer.from(http), message('one')]));
    expect(show(events)).toEqual(['error:400:Not SIP']);
    expect(framer.push(message('two'))).toEqual([]);
    expect(framer.pendingBytes).toBe(0);
  });

  test('limits head and body together', () => {
    const fill = (bytes: number) => {
      const head = (length: number) => `OPTIONS sip:a SIP/2.0\r\nContent-Length: ${length}\r\n\r\n`;
      const length = bytes - head(60_000).length;
      return Buffer.from(head(length) + 'x'.repeat(length));
    };
    expect(new StreamFramer().push(fill(MAX_MESSAGE_BYTES))).toMatchObject([{ kind: 'message' }]);
    expect(show(new StreamFramer().push(fill(MAX_MESSAGE_BYTES + 1)))).toEqual([
      'error:513:Message Too Large',
    ]);
  });

  test('returns the same events byte by byte', () => {
    const framer = new StreamFramer();
    const events = [...STREAM].flatMap((byte) => framer.push(Uint8Array.of(byte)));
    expect(show(events)).toEqual(WHOLE);
    expect(framer.pendingBytes).toBe(0);
  });

  test('returns the same events for any division', () => {
    const cuts = fc.array(fc.nat(STREAM.length), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (points) => {
        const framer = new StreamFramer();
        const borders = [0, ...points.sort((a, b) => a - b), STREAM.length];
        const events = borders
          .slice(1)
          .flatMap((end, index) => framer.push(STREAM.subarray(borders[index], end)));
        expect(show(events)).toEqual(WHOLE);
      }),
    );
  });

  test('reads a head once, however slowly its body arrives', () => {
    const framer = new StreamFramer();
    const bytes = message('slow', 'x'.repeat(500));
    const bodyAt = bytes.length - 500;
    framer.push(bytes.subarray(0, bodyAt));
    const decoded = vi.spyOn(Buffer.prototype, 'toString');
    const events: FramerEvent[] = [];
    for (let at = bodyAt; at < bytes.length; at += 1)
      events.push(...framer.push(bytes.subarray(at, at + 1)));
    const heads = decoded.mock.calls.length;
    decoded.mockRestore();
    expect(show(events)).toEqual([bytes.toString('latin1')]);
    expect(heads).toBe(0);
  });

  test('keeps the bytes of a message unchanged when the stream continues', () => {
    const framer = new StreamFramer();
    const [first] = framer.push(message('one'));
    framer.push(message('other'));
    expect(show(first === undefined ? [] : [first])[0]).toContain('Call-ID: one');
  });

  test.each(['\r', '\n', '\n\r', '\r\r\n'])('skips %j before a message', (lines) => {
    const [event, ...others] = show(
      new StreamFramer().push(Buffer.concat([Buffer.from(lines), message('one')])),
    );
    expect(event).toMatch(/^INVITE sip:/);
    expect(others).toEqual([]);
  });

  test('RFC 5626 §3.5.1: CRLF after our ping is its pong, otherwise ignored', () => {
    const framer = new StreamFramer();
    expect(framer.push(Buffer.from('\r\n'))).toEqual([]);
    expect(show(framer.push(message('one')))).toHaveLength(1);
    framer.pingSent();
    expect(framer.push(Buffer.from('\r\n'))).toEqual([{ kind: 'pong' }]);
    expect(framer.push(Buffer.from('\r\n\r\n'))).toEqual([{ kind: 'ping' }]);
  });
});

describe('streams with lost framing end with one error', () => {
  const head = (lines: readonly string[]) => wire(['OPTIONS sip:b@x SIP/2.0', ...lines]);

  test.each([
    ['no Content-Length', head(['Call-ID: x']), 'error:400:Missing Content-Length'],
    ['a negative one', head(['l: -1']), 'error:400:Malformed Content-Length'],
    [
      'two that differ',
      head(['l: 5', 'Content-Length : 13']),
      'error:400:Multiple Content-Length Values',
    ],
    ['a body above the limit', head(['l: 65536']), 'error:513:Message Too Large'],
    ['a head without end', Buffer.alloc(MAX_HEAD_BYTES + 1, 'x'), 'error:513:Message Too Large'],
  ])('%s', (_title, bytes, expected) => {
    const framer = new StreamFramer();
    expect(show(framer.push(bytes))).toEqual([expected]);
    expect(framer.push(message('after'))).toEqual([]);
    expect(framer.pendingBytes).toBe(0);
  });

  test('delivers messages before the fault, and the bytes of the fault for the response', () => {
    const framer = new StreamFramer();
    const events = framer.push(Buffer.concat([message('good'), head(['Call-ID: bad'])]));
    expect(events.map(({ kind }) => kind)).toEqual(['message', 'error']);
    expect(events[1]?.kind === 'error' && Buffer.from(events[1].bytes).toString()).toContain(
      'Call-ID: bad',
    );
  });
});
