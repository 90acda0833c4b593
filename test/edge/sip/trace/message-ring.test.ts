import { describe, expect, it } from 'vitest';
import { asCallUuid } from '../../../../src/base/ids.ts';
import { MessageRing } from '../../../../src/edge/sip/trace/message-ring.ts';
import { A, B, INVITE, message } from './messages.ts';

const KIB = 1024;
const uuid = (index: number) => asCallUuid(`call ${index}`);
const textsOf = (ring: MessageRing, call = A): readonly string[] =>
  ring.ofCall(call).map(({ bytes }) => Buffer.from(bytes).toString().slice(0, 6).trim());

describe('the message ring', () => {
  it('keeps the messages of a call in order, whenever its owner becomes known', () => {
    const ring = new MessageRing(KIB);
    ring.note(message('c', INVITE, { atMs: 1 }));
    ring.note(message('c', 'SIP/2.0 100 Trying\r\n\r\n', { atMs: 2, direction: 'out' }));
    ring.belongs('c', { uuid: A, parent: undefined });
    ring.note(message('c', 'BYE sip:a SIP/2.0\r\n\r\n', { atMs: 3 }));
    expect(textsOf(ring)).toEqual(['INVITE', 'SIP/2.', 'BYE si']);
  });

  it('returns both legs together, each of them alone, and phones that ring in parallel as one leg', () => {
    const ring = new MessageRing(KIB);
    const leg = 'f'.repeat(32);
    ring.note(message('a', INVITE, { atMs: 1 }));
    ring.belongs('a', { uuid: A, parent: undefined });
    ring.belongs(leg, { uuid: B, parent: A });
    ring.note(message(leg, INVITE, { atMs: 2 }));
    ring.note(message(`${leg}-1`, INVITE, { atMs: 3 }));
    expect(ring.ofConversation(A)).toHaveLength(3);
    expect(ring.ofConversation(B)).toHaveLength(3);
    expect(ring.ofCall(A)).toHaveLength(1);
    expect(ring.ofCall(B)).toHaveLength(2);
    expect(ring.conversationOf(`${leg}-1`)).toEqual({ isCall: true, root: A });
  });

  it('stores no registrations', () => {
    const ring = new MessageRing(KIB);
    expect(ring.note(message('r', 'REGISTER sip:a SIP/2.0\r\n\r\n'))).toBe(false);
    expect(ring.note(message('r', 'SIP/2.0 200 OK\r\n\r\n'))).toBe(false);
    expect(ring.size).toBe(0);
  });

  it('limits the stored bytes and evicts the oldest messages of any sender', () => {
    const ring = new MessageRing(1024 * KIB);
    for (let index = 0; index < 100; index += 1) {
      ring.note(message(`c${index}`, INVITE.padEnd(60 * KIB, 'x'), { atMs: index }));
      ring.belongs(`c${index}`, { uuid: uuid(index), parent: undefined });
    }
    const retained = Array.from({ length: 100 }, (_, index) => ring.ofCall(uuid(index)).length);
    expect(retained[0]).toBe(0);
    expect(retained[99]).toBe(1);
    const total = retained.reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThanOrEqual(12);
    expect(total).toBeLessThanOrEqual(17);
    // The remaining messages are unchanged.
    expect(ring.ofCall(uuid(99))[0]?.bytes.length).toBe(60 * KIB);
  });

  it('continues a long call whose first messages were evicted', () => {
    const ring = new MessageRing(512 * KIB);
    ring.note(message('long', INVITE));
    ring.belongs('long', { uuid: A, parent: undefined });
    for (let index = 0; index < 40; index += 1) {
      ring.note(message(`c${index}`, INVITE.padEnd(60 * KIB, 'x')));
    }
    expect(textsOf(ring)).toEqual([]);
    ring.note(message('long', 'BYE sip:a SIP/2.0\r\n\r\n'));
    expect(textsOf(ring)).toEqual(['BYE si']);
  });

  it('keeps the start and the end of a call with very many messages', () => {
    const ring = new MessageRing(512 * KIB);
    ring.note(message('c', INVITE));
    ring.belongs('c', { uuid: A, parent: undefined });
    for (let index = 0; index < 500; index += 1) {
      ring.note(message('c', `${index}`.padEnd(6), { atMs: 2 + index }));
    }
    const texts = textsOf(ring);
    expect(texts).toHaveLength(200);
    expect(texts[0]).toBe('INVITE');
    expect(texts.at(-1)).toBe('499');
  });

  it('limits the number of Call-IDs and returns nothing for evicted ones', () => {
    const ring = new MessageRing(KIB);
    for (let index = 0; index <= 20_000; index += 1) {
      ring.belongs(`c${index}`, { uuid: uuid(index), parent: undefined });
    }
    expect(ring.size).toBe(20_000);
    expect(ring.conversationOf('c0')).toEqual({ isCall: false });
    expect(ring.conversationOf('c1')).toEqual({ isCall: true, root: uuid(1) });
  });
});
