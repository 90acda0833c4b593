/** INVITE with Replaces: the named dialog and refusals (RFC 3891 §3). */
import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import { answering, invite, inviteCommand, PEER, reply, SERVER, say } from './script.ts';
import { ANSWER, brief, World } from './world.ts';

const PHONE = '192.0.2.60';

/** A phone that we call, and a peer that calls us with Replaces. */
function setUp({ answers }: { answers: boolean }) {
  const world = new World();
  const server = world.agent(SERVER);
  const phone = world.peer(PHONE);
  const picker = world.peer(PEER);
  answering(phone, (request) => {
    if (request.method === 'ACK') return undefined;
    if (request.method === 'BYE') return undefined;
    return answers ? reply(request, 200, { body: ANSWER }) : reply(request, 180);
  });
  server.dispatch(
    inviteCommand({ target: { kind: 'uri', uri: `sip:bob@${PHONE}` }, callId: 'out' }),
  );
  world.advance(20);
  const sent = phone.lastRequest('INVITE');
  const theirs =
    world.sent.findLast(({ from }) => from === PHONE)?.message.toOrUndefined?.tag ?? '';
  const named = `out;to-tag=${sent.from.tag};from-tag=${theirs}`;
  const replace = (value: string, more: readonly string[] = []): string => {
    invite(picker, { headers: [`Replaces: ${value}`, ...more] });
    world.advance(20);
    return brief(picker.lastResponse());
  };
  const replaced = () => (server.count('incoming') > 0 ? server.last('incoming').call.replaces : 0);
  return { world, server, phone, picker, named, replace, replaced };
}

describe('an INVITE with Replaces', () => {
  it('names a leg that rings at a local phone', () => {
    const { named, replace, replaced } = setUp({ answers: false });
    expect(replace(`${named};early-only`, ['Require: replaces'])).toBe('100 INVITE');
    expect(replaced()).toBe(2);
  });

  it("may name it with the tags of the phone's side, as dialog events do (RFC 4235)", () => {
    const { named, replace, replaced } = setUp({ answers: false });
    const turned = named
      .replace('to-tag', 'x')
      .replace('from-tag', 'to-tag')
      .replace('x', 'from-tag');
    expect(replace(`${turned};early-only`)).toBe('100 INVITE');
    expect(replaced()).toBe(2);
  });

  it('names a confirmed leg, but gets 486 with early-only', () => {
    const first = setUp({ answers: true });
    expect(first.replace(`${first.named};early-only`)).toBe('486 INVITE');
    const second = setUp({ answers: true });
    second.replace(second.named);
    expect(second.replaced()).toBe(2);
  });

  it('gets 603 for a dialog that ends, and 481 for an unknown one', () => {
    const { world, server, named, replace } = setUp({ answers: true });
    server.dispatch({ kind: 'hangup', leg: asLegId(2), status: 480, reason: undefined });
    world.advance(10);
    expect(replace(named)).toBe('603 INVITE');
    expect(setUp({ answers: true }).replace('other;to-tag=a;from-tag=b')).toBe('481 INVITE');
  });

  it('gets 481 for an inbound call that is ringing here', () => {
    const world = new World();
    const server = world.agent(SERVER);
    const caller = world.peer(PHONE);
    const picker = world.peer(PEER);
    invite(caller, {});
    world.advance(20);
    server.dispatch({ kind: 'ring', leg: server.last('incoming').call.leg, sdp: undefined });
    world.advance(20);
    const { to, from, callId } = caller.lastResponse();
    const named = `${callId};to-tag=${to.tag};from-tag=${from.tag}`;
    say(picker, {
      method: 'INVITE',
      uri: `sip:100@${SERVER}`,
      callId: 'pick',
      headers: [`Replaces: ${named}`, `Contact: <sip:p@${PEER}>`],
    });
    world.advance(20);
    expect(brief(picker.lastResponse())).toBe('481 INVITE');
  });

  it.each(['out', 'out;to-tag=a', ';to-tag=a;from-tag=b'])(
    'refuses the malformed value %s with 400',
    (value) => {
      expect(setUp({ answers: true }).replace(value)).toBe('400 INVITE');
    },
  );

  it('refuses a repeated header', () => {
    const { named, replace } = setUp({ answers: true });
    expect(replace(named, [`Replaces: ${named}`])).toBe('400 INVITE');
  });
});
