import { describe, expect, it } from 'vitest';
import type { ContactBinding } from '../../../src/protocol/sip/registrar/binding.ts';
import {
  DEFAULT_REGISTRAR_LIMITS,
  type RegisterContact,
  type RegisterOutcome,
  type RegisterRequest,
  register,
  secondsLeft,
} from '../../../src/protocol/sip/registrar/register.ts';

const US = 1_000_000;
const key = (uri: string): string => uri;
const contact = (uri: string, more: Partial<RegisterContact> = {}): RegisterContact => ({
  uri,
  key: uri,
  expires: undefined,
  q: 1,
  instanceId: undefined,
  regId: undefined,
  ...more,
});
const request = (more: Partial<RegisterRequest>): RegisterRequest => ({
  username: 'alice',
  contacts: [contact('sip:a@192.0.2.1')],
  expires: undefined,
  callId: 'c1',
  cseq: 1,
  userAgent: 'test',
  flow: { transport: 'udp', address: '192.0.2.1', port: 5060, connectionId: undefined },
  path: [],
  ...more,
});
const run = (current: readonly ContactBinding[], more: Partial<RegisterRequest>, nowUs = 0) =>
  register(current, request(more), key, DEFAULT_REGISTRAR_LIMITS, nowUs);
const bindings = (outcome: RegisterOutcome): readonly ContactBinding[] => {
  if (outcome.status !== 200) throw new Error(`refused with ${outcome.status}`);
  return outcome.bindings;
};
const uris = (outcome: RegisterOutcome) => bindings(outcome).map((b) => b.contactUri);

describe('REGISTER (RFC 3261 §10.3)', () => {
  it('reads expires from the contact, then the header, then 3600; at most the maximum', () => {
    const outcome = run([], {
      expires: 600,
      contacts: [
        contact('sip:a@h', { expires: 120 }),
        contact('sip:b@h'),
        contact('sip:c@h', { expires: 999_999 }),
      ],
    });
    expect(bindings(outcome).map((b) => secondsLeft(b, 0))).toEqual([120, 600, 7200]);
    expect(bindings(run([], {})).map((b) => secondsLeft(b, 0))).toEqual([3600]);
  });

  it('reports at most the remaining and the granted seconds, even if the wall clock was set back', () => {
    const [binding] = bindings(run([], { expires: 600 }));
    if (binding === undefined) throw new Error('no binding');
    const { updatedUs } = binding;
    expect(secondsLeft(binding, updatedUs)).toBe(600);
    expect(secondsLeft(binding, updatedUs + 1)).toBe(599);
    expect(secondsLeft(binding, updatedUs - 3_600_000_000)).toBe(600);
    expect(secondsLeft(binding, updatedUs + 700_000_000)).toBe(0);
  });

  it('refuses a short interval with 423 and the minimum, without changes (step 7)', () => {
    expect(run([], { expires: 59 })).toEqual({ status: 423, minExpires: 60 });
    expect(run([], { expires: 60 }).status).toBe(200);
  });

  it('keeps several contacts and removes one with expires=0', () => {
    const two = bindings(run([], { contacts: [contact('sip:a@h'), contact('sip:b@h')] }));
    const outcome = run(two, { cseq: 2, contacts: [contact('sip:a@h', { expires: 0 })] });
    expect(uris(outcome)).toEqual(['sip:b@h']);
    expect(outcome).toMatchObject({ removed: [{ contactUri: 'sip:a@h' }], saved: [] });
  });

  it('removes all contacts for * with Expires 0, and refuses * otherwise with 400 (step 6)', () => {
    const two = bindings(run([], { contacts: [contact('sip:a@h'), contact('sip:b@h')] }));
    expect(run(two, { contacts: '*', expires: 60 }).status).toBe(400);
    expect(run(two, { contacts: '*', expires: undefined }).status).toBe(400);
    const outcome = run(two, { contacts: '*', expires: 0, callId: 'other' });
    expect(uris(outcome)).toEqual([]);
    expect(outcome).toMatchObject({ removed: two });
  });

  it('refuses a CSeq that is not higher within the same Call-ID, for * too', () => {
    const one = bindings(run([], { cseq: 5 }));
    expect(run(one, { cseq: 5 }).status).toBe(500);
    expect(run(one, { cseq: 4, contacts: '*', expires: 0 }).status).toBe(500);
    expect(run(one, { cseq: 6 }).status).toBe(200);
    expect(run(one, { cseq: 1, callId: 'restarted' }).status).toBe(200);
  });

  it('lists the bindings without changes if there is no Contact', () => {
    const one = bindings(run([], {}));
    expect(run(one, { contacts: [], cseq: 2 })).toMatchObject({
      bindings: one,
      saved: [],
      removed: [],
    });
  });

  it('removes expired bindings', () => {
    const one = bindings(run([], {}));
    const outcome = run(one, { contacts: [], cseq: 2 }, 3600 * US);
    expect(outcome).toMatchObject({ bindings: [], removed: one });
  });

  it('replaces the old contact of the same +sip.instance (a phone that moved)', () => {
    const one = bindings(run([], { contacts: [contact('sip:a@old', { instanceId: 'u1' })] }));
    const outcome = run(one, {
      callId: 'c2',
      contacts: [contact('sip:a@new', { instanceId: 'u1' })],
    });
    expect(uris(outcome)).toEqual(['sip:a@new']);
    expect(outcome).toMatchObject({ removed: [{ contactUri: 'sip:a@old' }] });
  });

  it('keeps two contacts of one instance from the same REGISTER', () => {
    const contacts = ['sip:a@h;transport=udp', 'sip:a@h;transport=tcp'].map((uri) =>
      contact(uri, { instanceId: 'u1' }),
    );
    expect(uris(run([], { contacts }))).toHaveLength(2);
  });

  it('keeps the flows of one instance, and replaces a flow by its number (RFC 5626 §6)', () => {
    const flow = (uri: string, regId: number) =>
      contact(uri, { instanceId: 'u1', regId, key: `u1 ${regId}` });
    const one = bindings(run([], { contacts: [flow('sip:a@h', 1)] }));
    const two = bindings(run(one, { callId: 'c2', contacts: [flow('sip:b@h', 2)] }));
    expect(two.map(({ contactUri }) => contactUri)).toEqual(['sip:a@h', 'sip:b@h']);
    const moved = run(two, { callId: 'c3', contacts: [flow('sip:c@h', 1)] });
    expect(uris(moved).toSorted()).toEqual(['sip:b@h', 'sip:c@h']);
    expect(moved).toMatchObject({ removed: [{ contactUri: 'sip:a@h' }] });
  });

  it('counts the same contact twice in one REGISTER once', () => {
    const contacts = [contact('sip:a@h', { q: 0.5 }), contact('sip:a@h')];
    expect(bindings(run([], { contacts }))).toMatchObject([{ contactUri: 'sip:a@h', q: 1 }]);
  });

  it('refuses more contacts than the limit with 403, without changes', () => {
    const contacts = Array.from({ length: 11 }, (_, i) => contact(`sip:a@h${i}`));
    expect(run([], { contacts }).status).toBe(403);
    expect(run([], { contacts: contacts.slice(1) }).status).toBe(200);
  });
});
