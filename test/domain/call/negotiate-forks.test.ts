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

describe('ICE credentials of an offer that several forks answer', () => {
  const FINGERPRINT = `sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`;
  const byDtls = { ...srtpRule('optional', { secured: true }), byDtls: true };
  const browser = (ufrag: string, setup = 'passive'): string =>
    theirs('0', 'a=rtcp-mux', 'a=mid:0', `a=ice-ufrag:${ufrag}`, `a=ice-pwd:${'p'.repeat(24)}`)
      .replace('RTP/AVP', 'UDP/TLS/RTP/SAVPF')
      .concat(`a=fingerprint:${FINGERPRINT}\r\na=setup:${setup}\r\n`);

  function session() {
    let bytes = 0;
    return new Negotiation(
      { address: '198.51.100.1', port: 20_000 },
      {
        sessionId: 1,
        bytes: (length) => {
          bytes += 1;
          return new Uint8Array(length).fill(bytes);
        },
        fingerprint: FINGERPRINT,
      },
    );
  }

  const ufragIn = (sdp: string): string => /^a=ice-ufrag:(.*)\r$/m.exec(sdp)?.[1] ?? '';

  it('are those of the offer for every fork', () => {
    const negotiation = session();
    const localUfrag = ufragIn(negotiation.offers(byDtls, ALL).sdp);
    for (const remoteUfrag of ['aaaa', 'bbbb', 'aaaa']) {
      expect(negotiation.settleFirst(browser(remoteUfrag))).toMatchObject({
        value: { ice: { localUfrag, remoteUfrag } },
      });
    }
  });

  it('are those of the offer after an ICE restart of another fork', () => {
    const negotiation = session();
    const localUfrag = ufragIn(negotiation.offers(byDtls, ALL).sdp);
    negotiation.settleFirst(browser('aaaa'));
    const restarted = negotiation.answer(browser('cccc', 'actpass'), byDtls, {
      families: ['IP4'],
      codecs: ALL,
    });
    expect(restarted.ok && ufragIn(restarted.value.sdp)).not.toBe(localUfrag);
    expect(negotiation.settleFirst(browser('bbbb'))).toMatchObject({
      value: { ice: { localUfrag, remoteUfrag: 'bbbb' } },
    });
  });
});
