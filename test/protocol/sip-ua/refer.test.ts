/** REFER of a peer: 202 and NOTIFY with the truth (RFC 3515, 4488, 3891). */
import { describe, expect, it } from 'vitest';
import { invite, PEER, type RequestScript, SERVER, say } from './script.ts';
import { ANSWER, brief, REALM, World } from './world.ts';

function talking() {
  const world = new World();
  const server = world.agent(SERVER, { realm: REALM, trustedSource: () => 'carrier' });
  const peer = world.peer(PEER);
  invite(peer);
  world.advance(20);
  const { leg } = server.last('incoming').call;
  server.tell({ kind: 'answer', leg, sdp: ANSWER });
  world.advance(20);
  const tag = peer.lastResponse().to.tag ?? '';
  let cseq = 1;
  const inDialog = (
    method: string,
    headers: readonly string[],
    more: Partial<RequestScript> = {},
  ) => {
    if (method !== 'ACK') cseq += 1;
    const to = `<sip:100@${SERVER}>;tag=${tag}`;
    say(peer, { method, uri: `sip:${SERVER}:5060`, to, cseq, headers, ...more });
    world.advance(20);
    return cseq;
  };
  inDialog('ACK', []);
  const tell = (kind: 'answerRefer' | 'notifyRefer', refer: number, status: number): void => {
    server.tell({ kind, leg, refer, status });
    world.advance(20);
  };
  const notified = () =>
    peer.heard.flatMap((m) =>
      m.kind === 'request' && m.method === 'NOTIFY'
        ? [[m.header('event'), m.header('subscription-state')?.split(';')[0], m.bodyText.trim()]]
        : [],
    );
  return { world, server, peer, leg, tag, inDialog, tell, notified };
}

describe('REFER', () => {
  it('is answered by whoever owns the leg, and told of in NOTIFYs until a final status', () => {
    const { server, peer, inDialog, tell, notified } = talking();
    const id = inDialog('REFER', ['Refer-To: <sip:carol@x.test>', 'Referred-By: <sip:bob@x.test>']);
    expect(server.last('referred')).toMatchObject({
      refer: { id, to: 'sip:carol@x.test', replaces: undefined, referredBy: '<sip:bob@x.test>' },
    });
    tell('answerRefer', id, 202);
    tell('notifyRefer', id, 180);
    tell('notifyRefer', id, 200);
    tell('notifyRefer', id, 486);
    expect(peer.heard.map(brief)).toContain('202 REFER');
    expect(notified()).toEqual([
      ['refer', 'active', 'SIP/2.0 100 Trying'],
      ['refer', 'active', 'SIP/2.0 180 Ringing'],
      ['refer', 'terminated', 'SIP/2.0 200 OK'],
    ]);
    const second = inDialog('REFER', ['Refer-To: <sip:dave@x.test>']);
    tell('answerRefer', second, 202);
    expect(notified().at(-1)?.[0]).toBe(`refer;id=${second}`);
  });

  it('refused is not told of; with Refer-Sub: false neither (RFC 4488)', () => {
    const { peer, inDialog, tell, notified } = talking();
    const refused = inDialog('REFER', ['Refer-To: <sip:carol@x.test>']);
    tell('answerRefer', refused, 403);
    tell('notifyRefer', refused, 200);
    expect(brief(peer.lastResponse())).toBe('403 REFER');
    const quiet = inDialog('REFER', ['Refer-To: <sip:carol@x.test>', 'Refer-Sub: false']);
    tell('answerRefer', quiet, 202);
    tell('notifyRefer', quiet, 200);
    expect(peer.lastResponse().header('refer-sub')).toBe('false');
    expect(notified()).toEqual([]);
  });

  it('with Replaces names the leg of that dialog, or none (RFC 3891)', () => {
    const { server, leg, tag, inDialog } = talking();
    const replaces = (text: string) =>
      `Refer-To: <sip:carol@x.test?Replaces=${encodeURIComponent(text)}&X=1>`;
    inDialog('REFER', [replaces(`script-1;to-tag=${tag};from-tag=peer`)]);
    expect(server.last('referred')).toMatchObject({
      replaced: leg,
      refer: { to: 'sip:carol@x.test' },
    });
    inDialog('REFER', [replaces('script-1;to-tag=other;from-tag=peer')]);
    expect(server.last('referred').replaced).toBeUndefined();
    expect(server.last('referred').refer.replaces).toBeDefined();
    inDialog('REFER', ['Refer-To: <sip:carol@x.test?Replaces=%ff>']);
    expect(server.last('referred').replaced).toBeUndefined();
  });

  it.each([
    ['400', []],
    ['400', ['Refer-To: <sip:a@x.test>, <sip:b@x.test>']],
    ['403', ['Refer-To: <sip:a@x.test;method=BYE>']],
    ['403', ['Refer-To: <mailto:a@x.test>']],
  ] as const)('%s to %j', (status, headers) => {
    const { server, peer, inDialog } = talking();
    inDialog('REFER', headers);
    expect(brief(peer.lastResponse())).toBe(`${status} REFER`);
    expect(server.count('referred')).toBe(0);
  });

  it('of a few at once the next waits its turn: 491', () => {
    const { peer, inDialog } = talking();
    for (let time = 0; time < 5; time += 1) inDialog('REFER', ['Refer-To: <sip:a@x.test>']);
    expect(brief(peer.lastResponse())).toBe('491 REFER');
  });
});
