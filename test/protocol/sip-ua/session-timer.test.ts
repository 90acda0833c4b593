import { describe, expect, it } from 'vitest';
import { invite, PEER, SERVER, say } from './script.ts';
import { ANSWER, brief, OFFER, World } from './world.ts';

/** An inbound call, answered unless it is refused. */
function called(headers: readonly string[]) {
  const world = new World();
  const callee = world.agent(SERVER);
  const peer = world.peer(PEER);
  invite(peer, { headers });
  world.advance(20);
  if (callee.count('incoming') > 0) {
    callee.dispatch({ kind: 'answer', leg: callee.last('incoming').call.leg, sdp: ANSWER });
    world.advance(20);
  }
  const response = peer.lastResponse();
  const dialog = {
    uri: `sip:${SERVER}`,
    to: `<sip:100@${SERVER}>;tag=${response.to.tag}`,
  };
  if (response.status === 200) say(peer, { ...dialog, method: 'ACK' });
  world.advance(20);
  return { world, callee, peer, response, dialog };
}

const TIMER = 'Supported: timer';

describe('session timer of the callee (RFC 4028)', () => {
  it('does not start for a caller without support', () => {
    const { world, callee, response } = called(['Session-Expires: 120']);
    expect(response.header('session-expires')).toBeUndefined();
    world.advance(7_200_000);
    expect(callee.count('ended')).toBe(0);
  });

  it('lets the caller refresh and says so with Require (§9)', () => {
    const { response } = called([TIMER, 'Session-Expires: 600']);
    expect(response.header('session-expires')).toBe('600;refresher=uac');
    expect(response.tokens('require')).toEqual(['timer']);
  });

  it('refreshes if the caller asks for it', () => {
    const { world, peer, response } = called([
      TIMER,
      'Session-Expires: 600;refresher=uas',
      'Allow: INVITE, UPDATE',
    ]);
    expect(response.header('session-expires')).toBe('600;refresher=uas');
    world.advance(301_000);
    expect(peer.lastRequest('UPDATE').header('session-expires')).toBe('600;refresher=uac');
  });

  it("shortens a long interval to ours, but not below the caller's Min-SE", () => {
    expect(called([TIMER, 'Session-Expires: 90000']).response.header('session-expires')).toBe(
      '1800;refresher=uac',
    );
    const high = called([TIMER, 'Session-Expires: 90000', 'Min-SE: 3600']);
    expect(high.response.header('session-expires')).toBe('3600;refresher=uac');
  });

  it('refuses an interval below 90 s with 422 and Min-SE (§9)', () => {
    const { callee, response } = called([TIMER, 'Session-Expires: 60']);
    expect([response.status, response.header('min-se')]).toEqual([422, '90']);
    expect(callee.count('incoming')).toBe(0);
  });

  it('ends the call with BYE if the caller does not refresh in time (§10)', () => {
    const { world, callee, peer } = called([TIMER, 'Session-Expires: 300']);
    const startMs = world.nowMs;
    world.advance(267_000);
    expect(callee.count('ended')).toBe(0);
    world.advance(1_100);
    const { end } = callee.last('ended');
    expect(end).toMatchObject({ by: 'local', how: 'sessionExpired' });
    expect(Math.abs((end.dueMs ?? 0) - startMs - 268_000)).toBeLessThan(200);
    expect(peer.lastRequest('BYE').callId).toBe('script-1');
  });

  it('is extended by each refresh, by UPDATE or by re-INVITE', () => {
    const { world, callee, peer, dialog } = called([TIMER, 'Session-Expires: 300']);
    const headers = [TIMER, 'Session-Expires: 300;refresher=uac'];
    for (const [index, method] of ['UPDATE', 'INVITE', 'UPDATE', 'INVITE'].entries()) {
      world.advance(200_000);
      const cseq = index + 2;
      const body = method === 'INVITE' ? { body: OFFER } : {};
      say(peer, { ...dialog, method, cseq, headers, ...body });
      world.advance(20);
      expect(brief(peer.lastResponse())).toBe(`200 ${method}`);
      expect(peer.lastResponse().header('session-expires')).toBe('300;refresher=uac');
      if (method === 'INVITE') say(peer, { ...dialog, method: 'ACK', cseq });
    }
    expect(callee.count('ended')).toBe(0);
  });
});
