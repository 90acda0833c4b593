/** The bundled edge in front of nodes that refuse calls or do not respond: failover order and load counters. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../e2e/service.ts';
import { eventually } from '../eventually.ts';
import { Edge, missingModules } from './kamailio.ts';

const EDGE = '127.0.0.2';
/** Final response of a node to an INVITE, or no response. */
type Answer = { readonly status: string; readonly headers?: readonly string[] } | 'silence';

const UNAVAILABLE: Answer = { status: '503 Service Unavailable', headers: ['Retry-After: 5'] };
const LIMIT: Answer = {
  status: '503 Service Unavailable',
  headers: ['Reason: Q.850;cause=34;text="Concurrency Limit Breached"'],
};
const FAULT: Answer = {
  status: '500 Server Error',
  headers: ['Reason: Q.850;cause=41;text="Internal Error"'],
};
const ANSWER_URL: Answer = {
  status: '500 Server Error',
  headers: ['Reason: Q.850;cause=41;text="Error Reaching Answer URL"'],
};

const headerLines = (request: string, names: RegExp): readonly string[] =>
  request.split('\r\n').filter((line) => names.test(line));

class FakeNode {
  readonly port: number;
  readonly socket: Socket;
  answer: Answer = UNAVAILABLE;
  invites: string[] = [];
  #last: { readonly request: string; readonly from: RemoteInfo } | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.port = socket.address().port;
    socket.on('message', (bytes, from) => this.#received(bytes.toString(), from));
  }

  static async open(): Promise<FakeNode> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new FakeNode(socket);
  }

  #received(request: string, from: RemoteInfo): void {
    if (request.startsWith('OPTIONS')) this.#reply(request, from, '200 OK');
    if (!request.startsWith('INVITE')) return;
    this.#last = { request, from };
    this.invites.push(request);
    if (this.answer === 'silence') return;
    const { status, headers } = this.answer;
    this.#reply(request, from, '100 Trying');
    this.#reply(request, from, status, headers);
  }

  /** Sends a response to the last INVITE, possibly after its transaction has ended. */
  late(status: string): void {
    if (this.#last !== undefined) this.#reply(this.#last.request, this.#last.from, status);
  }

  #reply(request: string, from: RemoteInfo, status: string, more: readonly string[] = []): void {
    const copied = headerLines(request, /^(via|from|call-id|cseq|record-route):/i);
    const to = headerLines(request, /^to:/i).map((line) => `${line};tag=n${this.port}`);
    const lines = [`SIP/2.0 ${status}`, ...copied, ...to, ...more, 'Content-Length: 0', '', ''];
    this.socket.send(lines.join('\r\n'), from.port, from.address);
  }
}

describe.skipIf(missingModules()?.length !== 0)('the edge in front of failing nodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-failover-'));
  const nodes: FakeNode[] = [];
  const allResponses: string[] = [];
  let caller: Socket;
  let edge: Edge;
  let port: number;
  let calls = 0;

  beforeAll(async () => {
    while (nodes.length < 4) nodes.push(await FakeNode.open());
    caller = createSocket('udp4');
    caller.bind(0, '127.0.0.3');
    await once(caller, 'listening');
    caller.on('message', (bytes) => received(bytes.toString()));
    const [sip, ws, inner, http] = [
      ...[await freePort(), await freePort(), await freePort(), await freePort()],
    ];
    port = sip ?? 0;
    const at = nodes.map((node) => `127.0.0.1:${node.port}`);
    edge = await Edge.start(folder, at, {
      PUBLIC_ADDRESS: EDGE,
      PUBLIC_PORT: port,
      WS_PORT: ws ?? 0,
      FLOOD_LIMIT: 2000,
      PRIVATE_ADDRESS: EDGE,
      PRIVATE_PORT: inner ?? 0,
      PRIVATE_HTTP_PORT: http ?? 0,
    });
  }, 60_000);
  beforeEach(async () => {
    for (const node of nodes) {
      node.answer = UNAVAILABLE;
      node.invites = [];
    }
    allResponses.length = 0;
    await eventually('active nodes', async () => {
      const flags = Object.values(await edge.nodes(EDGE));
      return flags.every((flag) => flag.startsWith('A')) || undefined;
    });
  });
  afterAll(async () => {
    await edge?.stop();
    caller?.close();
    for (const { socket } of nodes) socket.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends one INVITE and returns its Call-ID. */
  function invite(): string {
    calls += 1;
    const callId = `call-${calls}`;
    const own = `127.0.0.3:${caller.address().port}`;
    const lines = [
      `INVITE sip:1000@${EDGE}:${port} SIP/2.0`,
      `Via: SIP/2.0/UDP ${own};branch=z9hG4bK${callId};rport`,
      'Max-Forwards: 70',
      `From: <sip:caller@${own}>;tag=${callId}`,
      `To: <sip:1000@${EDGE}>`,
      ...[`Call-ID: ${callId}`, 'CSeq: 1 INVITE', `Contact: <sip:caller@${own}>`],
      ...['Content-Length: 0', '', ''],
    ];
    caller.send(lines.join('\r\n'), port, EDGE);
    return callId;
  }

  /** Acknowledges each final response on the branch of its INVITE (RFC 3261 section 17.1.1.3). */
  function received(response: string): void {
    allResponses.push(response);
    if (!/^SIP\/2\.0 [3-6]/.test(response)) return;
    const copied = headerLines(response, /^(via|from|to|call-id):/i);
    const lines = [`ACK sip:1000@${EDGE}:${port} SIP/2.0`, ...copied, 'CSeq: 1 ACK'];
    caller.send(
      [...lines, 'Max-Forwards: 70', 'Content-Length: 0', '', ''].join('\r\n'),
      port,
      EDGE,
    );
  }

  /** Returns the node that gets the first call. With equal loads it is always the same. */
  async function preferred(): Promise<FakeNode> {
    for (const node of nodes) node.answer = { status: '486 Busy Here' };
    await final(invite());
    const found = nodes.find(({ invites }) => invites.length > 0);
    if (found === undefined) throw new Error('the edge has sent no INVITE');
    found.invites = [];
    return found;
  }

  const responses = (callId: string): readonly string[] =>
    allResponses
      .filter((one) => one.includes(`Call-ID: ${callId}\r\n`))
      .map((one) => one.split('\r\n')[0]?.slice(8, 11) ?? '');

  const final = (callId: string): Promise<string> =>
    eventually(`the final response to ${callId}`, () =>
      responses(callId).find((status) => status >= '200'),
    );

  /** Number of calls that the edge counts for each node. */
  async function loads(): Promise<readonly number[]> {
    const text = await edge.notify(EDGE, 'dispatcher.list', ['full']);
    return [...text.matchAll(/"DLGLOAD":\s*(\d+)/g)].map(([, count]) => Number(count));
  }

  /** Uptime of the edge, seconds. */
  const upS = async (): Promise<number> =>
    Number(/"uptime":\s*(\d+)/.exec(await edge.notify(EDGE, 'core.uptime'))?.[1]);

  const tried = (): number => nodes.reduce((sum, { invites }) => sum + invites.length, 0);

  it('counts no call that all nodes refused', async () => {
    const ids = Array.from({ length: 40 }, () => invite());
    for (const id of ids) expect(await final(id)).toBe('503');
    expect(allResponses.at(-1)).toContain('Retry-After: ');
    expect(await loads()).toEqual([0, 0, 0, 0]);
  });

  it('tries at most two further nodes for one call', async () => {
    expect(await final(invite())).toBe('503');
    expect(tried()).toBe(3);
  });

  it.each([
    ['500 of a fault', FAULT],
    ['408 without a Reason', { status: '408 Request Timeout' }],
    ['silence for a second', 'silence' as const],
  ])('fails over to the next node after %s', async (_, answer) => {
    const failing = await preferred();
    failing.answer = answer;
    expect(await final(invite())).toBe('486');
    expect(failing.invites.length).toBeGreaterThan(0);
    expect(await loads()).toEqual([0, 0, 0, 0]);
  });

  it.each([
    ['limit of the account', LIMIT, '503'],
    ['fault of the answer URL', ANSWER_URL, '500'],
  ])('forwards the %s, which is the same on all nodes', async (_, answer, status) => {
    for (const node of nodes) node.answer = answer;
    expect(await final(invite())).toBe(status);
    expect(tried()).toBe(1);
    if (status === '503') expect(allResponses.join()).toMatch(/^Reason: .*Limit Breached"\r\n/m);
    expect(await loads()).toEqual([0, 0, 0, 0]);
  });

  it('drops late responses of a stopped node after the caller has a final response', async () => {
    const stopped = await preferred();
    stopped.answer = 'silence';
    const id = invite();
    expect(await final(id)).toBe('486');
    expect(stopped.invites.length).toBeGreaterThan(0);
    // The edge keeps a transaction for five seconds after its end.
    const forgotten = (await upS()) + 7;
    await eventually(
      'an edge without the transaction',
      async () => (await upS()) >= forgotten || undefined,
    );
    stopped.late('180 Ringing');
    stopped.late('500 Server Error');
    const next = invite();
    await final(next);
    expect(responses(id).filter((status) => status !== '100')).toEqual(['486']);
  });
});
