/** Answers of several called parties to one offer: a proxy forked the INVITE (RFC 3261 §13.2.2.4). */
import { describe, expect, it } from 'vitest';
import { type CodecName, srtpRule } from '../../../src/domain/call/needs.ts';
import { Negotiation } from '../../../src/domain/call/negotiate.ts';

const ALL: readonly CodecName[] = ['OPUS', 'G722', 'PCMU', 'PCMA'];
const RULE = srtpRule('off', { secured: false });

const negotiation = (address6?: string) =>
  new Negotiation(
    { address: '198.51.100.1', address6, port: 20_000 },
    { sessionId: 1, bytes: (length) => new Uint8Array(length), fingerprint: undefined },
  );

const theirs = (formats: string, ...lines: string[]): string =>
  [
    ...['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0'],
    ...[`m=audio 40000 RTP/AVP ${formats}`, ...lines, ''],
  ].join('\r\n');

const update = (session: Negotiation, sdp: string): string => {
  const answer = session.answer(sdp, RULE, { families: ['IP4', 'IP6'], codecs: ALL });
  if (!answer.ok) throw new Error(answer.error.detail);
  return answer.value.sdp;
};

const originOf = (sdp: string): string => /^o=.*$/m.exec(sdp)?.[0] ?? '';

describe('answer of a fork after an UPDATE of another fork', () => {
  it('is read against the offer of the INVITE, with its codecs and payload types', () => {
    const session = negotiation();
    const { sdp } = session.offers(RULE, ALL);
    expect(session.settleFirst(theirs('0'))).toMatchObject({ ok: true });
    update(session, theirs('0 97', 'a=rtpmap:97 opus/48000/2'));
    expect(session.settleFirst(theirs('8'))).toMatchObject({ value: { codec: { name: 'PCMA' } } });
    expect(session.settleFirst(theirs('107', 'a=rtpmap:107 opus/48000/2'))).toMatchObject({
      value: { payloadType: { send: 107, receive: 96 } },
    });
    // The fork has received one description of ours, so the next one has the next version (RFC 3264 §8).
    expect(originOf(sdp)).toContain(' 1 1 IN');
    expect(originOf(update(session, theirs('9')))).toContain(' 1 2 IN');
  });

  it('keeps the payload types of the fork that answered', () => {
    const session = negotiation();
    session.offers(RULE, ALL);
    update(session, theirs('97', 'a=rtpmap:97 opus/48000/2'));
    session.settleFirst(theirs('107', 'a=rtpmap:107 opus/48000/2'));
    expect(session.offer(RULE, ALL)).toContain('a=rtpmap:96 opus/48000/2');
  });

  it('belongs to the address family whose offer the fork received', () => {
    const session = negotiation('2001:db8::1');
    session.offers(RULE, ALL);
    session.offeredTo('IP4');
    update(session, theirs('0'));
    session.offeredTo('IP6');
    expect(session.family).toBe('IP4');
    expect(session.settleFirst(theirs('8')).ok).toBe(true);
    expect(session.family).toBe('IP6');
    expect(
      update(session, theirs('0').replaceAll('IN IP4 192.0.2.1', 'IN IP6 2001:db8::2')),
    ).toMatch(/^c=IN IP6 2001:db8::1$/m);
  });

  it('leaves later offers of the dialog to the last description', () => {
    const session = negotiation();
    session.offers(RULE, ALL);
    session.settleFirst(theirs('0'));
    session.offer(RULE, ['PCMA']);
    expect(session.settle(theirs('0'))).toMatchObject({ ok: false });
    expect(session.settle(theirs('8'))).toMatchObject({ ok: true });
  });
});
