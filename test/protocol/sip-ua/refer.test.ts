/** REFER of a peer: 202 and NOTIFYs with the actual outcome (RFC 3515, 4488, 3891). */
import { describe, expect, it } from 'vitest';
import { invite, PEER, type RequestScript, SERVER, say } from './script.ts';
import { ANSWER, brief, REALM, World } from './world.ts';

type Scene = ReturnType<typeof talking>;

function talking() {
  const world = new World();
  let trusted = true;
  const trustedSource = () => (trusted ? 'carrier' : undefined);
  const server = world.agent(SERVER, { realm: REALM, trustedSource });
  const peer = world.peer(PEER);
  invite(peer);
  world.advance(20);
  const { leg } = server.last('incoming').call;
  server.dispatch({ kind: 'answer', leg, sdp: ANSWER });
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
  const dispatch = (kind: 'answerRefer' | 'notifyRefer', refer: number, status: number): void => {
    server.dispatch({ kind, leg, refer, status });
    world.advance(20);
  };
  const notified = () =>
    peer.received.flatMap((m) =>
      m.kind === 'request' && m.method === 'NOTIFY'
        ? [[m.header('event'), m.header('subscription-state')?.split(';')[0], m.bodyText.trim()]]
        : [],
    );
  /** Sends a REFER in the session; returns its ID and CSeq. */
  const refers = (headers: readonly string[]) => {
    const sequence = inDialog('REFER', headers);
    return { id: server.last('referred').refer.id, sequence };
  };
  const distrust = (): void => {
    trusted = false;
  };
  return { world, server, peer, leg, tag, inDialog, dispatch, notified, refers, distrust };
}

describe('REFER', () => {
  it('is answered by the owner of the leg and notified until a final status', () => {
    const { server, peer, refers, dispatch, notified } = talking();
    const { id } = refers(['Refer-To: <sip:carol@x.test>', 'Referred-By: <sip:bob@x.test>']);
    expect(server.last('referred')).toMatchObject({
      refer: { id, to: 'sip:carol@x.test', replaces: undefined, referredBy: '<sip:bob@x.test>' },
    });
    dispatch('answerRefer', id, 202);
    dispatch('notifyRefer', id, 180);
    dispatch('notifyRefer', id, 200);
    dispatch('notifyRefer', id, 486);
    expect(peer.received.map(brief)).toContain('202 REFER');
    expect(notified()).toEqual([
      ['refer', 'active', 'SIP/2.0 100 Trying'],
      ['refer', 'active', 'SIP/2.0 180 Ringing'],
      ['refer', 'terminated', 'SIP/2.0 200 OK'],
    ]);
    const second = refers(['Refer-To: <sip:dave@x.test>']);
    dispatch('answerRefer', second.id, 202);
    expect(notified().at(-1)?.[0]).toBe(`refer;id=${second.sequence}`);
  });

  it('sends no NOTIFY after a refusal or with Refer-Sub: false (RFC 4488)', () => {
    const { peer, refers, dispatch, notified } = talking();
    const refused = refers(['Refer-To: <sip:carol@x.test>']).id;
    dispatch('answerRefer', refused, 403);
    dispatch('notifyRefer', refused, 200);
    expect(brief(peer.lastResponse())).toBe('403 REFER');
    const quiet = refers(['Refer-To: <sip:carol@x.test>', 'Refer-Sub: false']).id;
    dispatch('answerRefer', quiet, 202);
    dispatch('notifyRefer', quiet, 200);
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
  ] as const)('answers %s to %j', (status, headers) => {
    const { server, peer, inDialog } = talking();
    inDialog('REFER', headers);
    expect(brief(peer.lastResponse())).toBe(`${status} REFER`);
    expect(server.count('referred')).toBe(0);
  });

  it('refuses the next of several simultaneous REFERs with 491', () => {
    const { server, peer, inDialog } = talking();
    for (let time = 0; time < 5; time += 1) inDialog('REFER', ['Refer-To: <sip:a@x.test>']);
    expect(peer.received.map(brief).filter((word) => / REFER/.test(word))).toEqual(['491 REFER']);
    expect(server.count('referred')).toBe(4);
  });

  it('takes the next one after each refusal or final status', () => {
    const { server, refers, dispatch } = talking();
    for (let time = 0; time < 5; time += 1)
      dispatch('answerRefer', refers(['Refer-To: <sip:a@x.test>']).id, 403);
    for (let time = 0; time < 5; time += 1) {
      const { id } = refers(['Refer-To: <sip:a@x.test>']);
      dispatch('answerRefer', id, 202);
      dispatch('notifyRefer', id, 486);
    }
    expect(server.count('referred')).toBe(10);
  });

  it('is accepted once', () => {
    const { peer, refers, dispatch, notified } = talking();
    const { id } = refers(['Refer-To: <sip:a@x.test>']);
    dispatch('answerRefer', id, 202);
    dispatch('answerRefer', id, 202);
    dispatch('answerRefer', id, 403);
    expect(peer.received.map(brief).filter((word) => / REFER/.test(word))).toEqual(['202 REFER']);
    expect(notified()).toHaveLength(1);
  });

  it('is not notified before its owner has accepted it', () => {
    const { refers, dispatch, notified } = talking();
    dispatch('notifyRefer', refers(['Refer-To: <sip:a@x.test>']).id, 180);
    expect(notified()).toEqual([]);
  });

  it('is refused with 403 before the answer of the call', () => {
    const world = new World();
    const server = world.agent(SERVER, { realm: REALM, trustedSource: () => 'carrier' });
    const peer = world.peer(PEER);
    invite(peer);
    world.advance(20);
    server.dispatch({ kind: 'ring', leg: server.last('incoming').call.leg, sdp: undefined });
    world.advance(20);
    const to = `<sip:100@${SERVER}>;tag=${peer.lastResponse().to.tag}`;
    const headers = ['Refer-To: <sip:a@x.test>'];
    say(peer, { method: 'REFER', uri: `sip:${SERVER}:5060`, to, cseq: 2, headers });
    world.advance(20);
    expect(brief(peer.lastResponse())).toBe('403 REFER');
    expect(server.count('referred')).toBe(0);
  });
});

describe('REFER outside the session that it refers to (RFC 7647 §4, RFC 4538)', () => {
  const CALLER = `<sip:alice@${SERVER}>;tag=new`;
  const outside = (
    { world, peer }: Pick<ReturnType<typeof talking>, 'world' | 'peer'>,
    target: string,
    more: Partial<RequestScript> = {},
  ): string => {
    say(peer, {
      method: 'REFER',
      uri: `sip:${SERVER}:5060`,
      callId: 'outside',
      from: CALLER,
      cseq: 7,
      headers: ['Refer-To: <sip:carol@x.test>', `Target-Dialog: ${target}`, 'Require: tdialog'],
      ...more,
    });
    world.advance(20);
    return brief(peer.lastResponse());
  };

  it('belongs to the named session and is notified in a separate dialog', () => {
    const scene = talking();
    const { server, peer, tag, dispatch, refers, notified } = scene;
    outside(scene, `script-1;local-tag=peer;remote-tag=${tag}`);
    const { refer } = server.last('referred');
    expect(refer.to).toBe('sip:carol@x.test');
    dispatch('answerRefer', refer.id, 202);
    const accepted = peer.lastResponse();
    expect(brief(accepted)).toBe('202 REFER');
    expect(accepted.to.tag).not.toBe(tag);
    const { callId, from, to } = peer.lastRequest('NOTIFY');
    expect([callId, from.tag, to.tag]).toEqual(['outside', accepted.to.tag, 'new']);
    // A REFER in the session continues in parallel.
    dispatch('answerRefer', refers(['Refer-To: <sip:dave@x.test>']).id, 202);
    expect(peer.lastRequest('NOTIFY').callId).toBe('script-1');
    dispatch('notifyRefer', refer.id, 200);
    expect(notified().at(-1)).toEqual(['refer', 'terminated', 'SIP/2.0 200 OK']);
    expect(peer.lastRequest('NOTIFY').callId).toBe('outside');
    expect(server.ua.dialogs).toBe(1);
  });

  it('accepts an unsubscription, and no other subscription', () => {
    const scene = talking();
    const { world, server, peer, tag, dispatch } = scene;
    outside(scene, `script-1;local-tag=peer;remote-tag=${tag}`);
    const { id } = server.last('referred').refer;
    dispatch('answerRefer', id, 202);
    const ours = peer.lastResponse().to.tag;
    const next = (method: string, cseq: number, headers: readonly string[]): string => {
      const to = `<sip:${SERVER}:5060>;tag=${ours}`;
      say(peer, {
        method,
        uri: `sip:${SERVER}:5060`,
        callId: 'outside',
        from: CALLER,
        to,
        cseq,
        headers,
      });
      world.advance(20);
      return brief(peer.lastResponse());
    };
    expect(next('INFO', 8, [])).toBe('405 INFO');
    expect(next('SUBSCRIBE', 8, ['Expires: 0'])).toBe('500 SUBSCRIBE');
    expect(next('SUBSCRIBE', 9, ['Event: refer', 'Expires: 0'])).toBe('200 SUBSCRIBE');
    expect(server.ua.dialogs).toBe(1);
    const before = peer.received.length;
    dispatch('notifyRefer', id, 200);
    expect(peer.received).toHaveLength(before);
  });

  it.each([
    ['noresource', 'the session ends', (scene: Scene) => scene.inDialog('BYE', [])],
    ['timeout', 'it expires', (scene: Scene) => scene.world.advance(181_000)],
  ])('ends its subscription with %s when %s without an outcome', (reason, _when, end) => {
    const scene = talking();
    const { world, server, peer, tag, dispatch } = scene;
    outside(scene, `script-1;local-tag=peer;remote-tag=${tag}`);
    const { id } = server.last('referred').refer;
    dispatch('answerRefer', id, 202);
    world.advance(100_000);
    dispatch('notifyRefer', id, 180);
    world.advance(100_000);
    expect(server.ua.dialogs).toBe(2);
    end(scene);
    const last = peer.lastRequest('NOTIFY');
    expect(last.callId).toBe('outside');
    expect(last.header('subscription-state')).toBe(`terminated;reason=${reason}`);
    expect(server.ua.dialogs).toBe(reason === 'timeout' ? 1 : 0);
    world.advance(200_000);
    expect(peer.lastRequest('NOTIFY').cseq).toEqual(last.cseq);
    expect(server.ua.timers).toBe(0);
  });

  it.each([
    'script-1;local-tag=peer;remote-tag=other',
    'other;local-tag=peer;remote-tag=TAG',
    'script-1;local-tag=peer',
    '',
  ])('refuses one that names %j with 403', (target) => {
    const scene = talking();
    expect(outside(scene, target.replace('TAG', scene.tag))).toBe('403 REFER');
    expect(scene.server.count('referred')).toBe(0);
    expect(scene.server.ua.dialogs).toBe(1);
  });

  it('refuses another source with 403 and challenges an unknown peer', () => {
    const scene = talking();
    const { world, tag } = scene;
    const target = `script-1;local-tag=peer;remote-tag=${tag}`;
    const other = world.peer('192.0.2.77');
    expect(outside({ world, peer: other }, target)).toBe('403 REFER');
    scene.distrust();
    expect(outside(scene, target, { callId: 'again' })).toBe('401 REFER');
    expect(scene.server.count('referred')).toBe(0);
  });
});
