/** Outgoing INVITE without SDP: the called party offers, our ACK answers (RFC 3264 §5, RFC 3261 §13.2.1). */
import { describe, expect, it } from 'vitest';
import { asLegId } from '../../../src/base/ids.ts';
import { answering, inviteCommand, PEER, reply, SERVER } from './script.ts';
import { ANSWER, brief, OFFER, World } from './world.ts';

function called(headers: readonly (readonly [string, string])[] = []) {
  const world = new World();
  const caller = world.agent(SERVER, { realm: 'carillon.test' });
  const peer = world.peer(PEER);
  answering(peer, (request) => {
    if (request.method === 'INVITE')
      return [reply(request, 183, { body: OFFER }), reply(request, 200, { body: OFFER, headers })];
    return request.method === 'BYE' ? reply(request, 200) : undefined;
  });
  caller.dispatch(inviteCommand({ callId: 'delayed', sdp: undefined }));
  world.advance(30);
  const sentBy = (method: string) => peer.received.filter((message) => brief(message) === method);
  return { world, caller, peer, sentBy };
}

describe('a delayed offer', () => {
  it('sends an INVITE without SDP and 100rel, and an ACK with the answer', () => {
    const { world, caller, peer, sentBy } = called();
    const invite = peer.lastRequest('INVITE');
    expect(invite.body.length).toBe(0);
    expect(invite.header('content-type')).toBeUndefined();
    expect(invite.tokens('supported')).not.toContain('100rel');
    expect(caller.last('progress').sdp).toBeUndefined();
    expect(caller.last('connected').sdp).toBe(OFFER);
    expect(sentBy('ACK')).toEqual([]);
    caller.dispatch({ kind: 'acknowledge', leg: asLegId(2), sdp: ANSWER });
    world.advance(10);
    expect(peer.lastRequest('ACK').bodyText).toBe(ANSWER);
    expect(peer.lastRequest('ACK').header('content-type')).toBe('application/sdp');
  });

  it('repeats the ACK for a repeated 200, but sends none before there is an answer', () => {
    const { world, caller, peer, sentBy } = called();
    const again = (): void => {
      peer.sendText(`${SERVER}:5060`, reply(peer.lastRequest('INVITE'), 200, { body: OFFER }));
      world.advance(10);
    };
    again();
    expect(sentBy('ACK')).toHaveLength(0);
    caller.dispatch({ kind: 'acknowledge', leg: asLegId(2), sdp: ANSWER });
    again();
    expect(sentBy('ACK').map(({ bodyText }) => bodyText)).toEqual([ANSWER, ANSWER]);
  });

  it('acknowledges and then ends a call whose offer cannot be answered', () => {
    const { world, caller, sentBy } = called();
    caller.dispatch({ kind: 'hangup', leg: asLegId(2), status: 488, reason: undefined });
    world.advance(30);
    expect(sentBy('ACK').map(({ bodyText }) => bodyText)).toEqual(['']);
    expect(sentBy('BYE')).toHaveLength(1);
    expect(caller.count('ended')).toBe(1);
  });

  it('refreshes the session with the answered SDP (RFC 4028)', () => {
    const { world, caller, peer } = called([
      ['Session-Expires', '200;refresher=uac'],
      ['Require', 'timer'],
    ]);
    caller.dispatch({ kind: 'acknowledge', leg: asLegId(2), sdp: ANSWER });
    world.advance(110_000);
    expect(peer.lastRequest('INVITE').cseq.sequence).toBe(2);
    expect(peer.lastRequest('INVITE').bodyText).toBe(ANSWER);
  });
});
