/** Outgoing REFER: the request, and the handling of the peer's responses and NOTIFYs (RFC 3515, 4488). */
import { describe, expect, it } from 'vitest';
import type { ReferStep } from '../../../src/protocol/sip/sip.ts';
import { answering, invite, PEER, reply, SERVER, say } from './script.ts';
import { ANSWER, brief, OFFER, REALM, World } from './world.ts';

function talking() {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM, trustedSource: () => 'carrier' });
  const peer = world.peer(PEER);
  invite(peer);
  world.advance(20);
  const { leg } = server.last('incoming').call;
  server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
  world.advance(20);
  const tag = peer.lastResponse().to.tag ?? '';
  let cseq = 1;
  const inDialog = (method: string, headers: readonly string[], body?: string): string => {
    if (method !== 'ACK') cseq += 1;
    const to = `<sip:100@${SERVER}>;tag=${tag}`;
    const more = body === undefined ? {} : { body };
    say(peer, { method, uri: `sip:${SERVER}:5060`, to, cseq, headers, ...more });
    world.advance(20);
    return brief(peer.lastResponse());
  };
  inDialog('ACK', []);
  const answers = (status: number | undefined, headers: ReadonlyArray<[string, string]> = []) =>
    answering(peer, (request) =>
      status === undefined || request.method !== 'REFER'
        ? undefined
        : reply(request, status, { headers }),
    );
  const refers = (more: { to?: string; guarded?: boolean } = {}) => {
    const { to = 'tel:+14155550177', guarded = false } = more;
    const guard = guarded ? { receivedAt: [], allow: [] } : undefined;
    server.dispatch({ kind: 'refer', leg, to, by: '+14155550100', guard });
    world.advance(30);
  };
  const notifies = (status: number | string, state = 'active;expires=60', event = 'refer') =>
    inDialog(
      'NOTIFY',
      [`Event: ${event}`, `Subscription-State: ${state}`, 'Content-Type: message/sipfrag'],
      typeof status === 'string' ? status : `SIP/2.0 ${status} X\r\n`,
    );
  const steps = (): ReferStep[] =>
    server.events.flatMap((event) => (event.kind === 'referStep' ? [event.step] : []));
  return { world, server, peer, leg, inDialog, answers, refers, notifies, steps };
}

describe('outgoing REFER', () => {
  it('names the target and the referrer; NOTIFYs up to a final status are reported', () => {
    const { peer, answers, refers, notifies, steps } = talking();
    answers(202);
    refers();
    const sent = peer.lastRequest('REFER');
    expect(sent.header('refer-to')).toBe('<tel:+14155550177>');
    expect(sent.header('referred-by')).toBe(`<sip:+14155550100@${SERVER}>`);
    expect(sent.header('refer-sub')).toBe('true');
    expect(sent.header('max-forwards')).toBe('70');
    expect(notifies(100)).toBe('200 NOTIFY');
    expect(notifies(180, 'active', `refer;id=${sent.cseq.sequence}`)).toBe('200 NOTIFY');
    expect(notifies(200, 'terminated;reason=noresource')).toBe('200 NOTIFY');
    expect(steps()).toEqual([
      { what: 'accepted', status: 202 },
      { what: 'progress', status: 100 },
      { what: 'progress', status: 180 },
      { what: 'done', status: 200 },
    ]);
    expect(notifies(200)).toBe('481 NOTIFY');
  });

  it.each([403, 404, 480, 603])(
    'refused with %d: the session continues and may send another REFER',
    (status) => {
      const { server, peer, answers, refers, steps } = talking();
      answers(status);
      refers();
      expect(steps()).toEqual([{ what: 'refused', status }]);
      expect(server.count('ended')).toBe(0);
      answers(202);
      refers();
      expect(steps().at(-1)).toEqual({ what: 'accepted', status: 202 });
      expect(peer.received.map(brief).filter((what) => what === 'BYE')).toEqual([]);
    },
  );

  it('a 481 ends the dialog', () => {
    const { server, answers, refers } = talking();
    answers(481);
    refers();
    expect(server.last('ended').end).toMatchObject({ how: 'sessionExpired', status: 481 });
  });

  it('fails by timeout without response, and the session continues', () => {
    const { world, server, answers, refers, steps } = talking();
    answers(undefined);
    refers();
    world.advance(40_000);
    expect(steps()).toEqual([{ what: 'failed', why: 'timeout' }]);
    expect(server.count('ended')).toBe(0);
  });

  it('allows one REFER at a time', () => {
    const { peer, answers, refers, steps } = talking();
    answers(202);
    refers();
    refers();
    expect(steps().at(-1)).toEqual({ what: 'failed', why: 'state' });
    expect(peer.received.map(brief).filter((what) => what === 'REFER')).toHaveLength(1);
  });

  it('accepts a NOTIFY before the 202; a subscription that ends without outcome is a failure', () => {
    const { answers, refers, notifies, steps } = talking();
    answers(undefined);
    refers();
    expect(notifies(100)).toBe('200 NOTIFY');
    expect(notifies('', 'terminated;reason=timeout')).toBe('200 NOTIFY');
    expect(steps()).toEqual([
      { what: 'progress', status: 100 },
      { what: 'failed', why: 'untold' },
    ]);
  });

  it('accepted with Refer-Sub: false is final (RFC 4488)', () => {
    const { answers, refers, steps } = talking();
    answers(202, [['Refer-Sub', 'false']]);
    refers();
    expect(steps().at(-1)).toEqual({ what: 'done', status: 202 });
  });

  it('ignores NOTIFYs of a forgotten REFER; the next one is identified only by its ID', () => {
    const { server, leg, peer, answers, refers, notifies, steps } = talking();
    answers(202);
    refers();
    server.dispatch({ kind: 'forgetRefer', leg });
    expect(notifies(180)).toBe('200 NOTIFY');
    refers();
    const { sequence } = peer.lastRequest('REFER').cseq;
    expect(notifies(200)).toBe('481 NOTIFY');
    expect(notifies(200, 'terminated', `refer;id=${sequence}`)).toBe('200 NOTIFY');
    expect(steps().map(({ what }) => what)).toEqual(['accepted', 'accepted', 'done']);
  });

  it('checks the target address before sending', () => {
    const { world, server, peer, leg, answers, refers, steps } = talking();
    answers(202);
    world.dns.set('nowhere.test', []);
    refers({ to: 'sip:a@nowhere.test', guarded: true });
    expect(steps()).toEqual([{ what: 'failed', why: 'unreachable' }]);
    const guard = { receivedAt: [], allow: [] };
    server.dispatch({ kind: 'refer', leg, to: 'sip:a@198.51.100.7', by: 'x', guard });
    expect(peer.received.map(brief)).not.toContain('REFER');
    world.advance(30);
    expect(peer.lastRequest('REFER').header('refer-to')).toBe('<sip:a@198.51.100.7>');
  });

  it.each([
    ['489 NOTIFY', 'presence', 200],
    ['481 NOTIFY', 'refer;id=999', 200],
    ['400 NOTIFY', 'refer', 'no status line'],
  ] as const)('answers %s to a NOTIFY of %s with %s', (expected, event, status) => {
    const { answers, refers, notifies, steps } = talking();
    answers(202);
    refers();
    expect(notifies(status, 'active', event)).toBe(expected);
    expect(steps()).toEqual([{ what: 'accepted', status: 202 }]);
  });
});

describe('a refused re-INVITE (RFC 6141)', () => {
  it('leaves the session unchanged: the next one is answered, and no end is reported', () => {
    const { server, inDialog } = talking();
    server.onOffer = () => undefined;
    expect(inDialog('INVITE', [], OFFER)).toBe('488 INVITE');
    expect(server.count('ended')).toBe(0);
    inDialog('ACK', []);
    server.onOffer = () => ANSWER;
    expect(inDialog('INVITE', [], OFFER)).toBe('200 INVITE');
  });
});
