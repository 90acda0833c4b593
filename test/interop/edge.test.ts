/** The bundled edge proxy in front of two nodes: phones and browsers, load balancing, draining and node failure. */
import { cpSync, rmSync } from 'node:fs';
import type { Invitation } from 'sip.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Edge, missingModules } from '../deploy/kamailio.ts';
import { Carrier } from '../e2e/carrier.ts';
import { Customer, echoBot, streamXml } from '../e2e/customer.ts';
import { makeUser } from '../e2e/phone.ts';
import {
  eventually,
  freePort,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { missing, type SippOptions, startSipp, workFolder } from './tools.ts';
import { WebPhone } from './web-phone.ts';

const EDGE = '127.0.0.2';
const PHONE = '127.0.0.3';
const FROM = '14155550100';

const isMissing = missing('kamailio', 'sipp', 'sox') || missingModules()?.length !== 0;

describe.skipIf(isMissing)('the edge', () => {
  const folder = workFolder();
  const places: ServicePlace[] = [];
  const nodes: Service[] = [];
  let customer: Customer;
  let carrier: Carrier;
  let edge: Edge;
  let ports: { readonly sip: number; readonly ws: number };
  let user: Awaited<ReturnType<typeof makeUser>>;
  let mediaPort = 6400;

  const settings = {
    // Two nodes, an edge and SIPp on one machine: the event loop is slow.
    CARILLON_OVERLOAD_LOOP_DELAY_MS: '5000',
    CARILLON_SIP_EDGES: EDGE,
    CARILLON_SIP_PUBLIC_HOST: '127.0.0.1',
  };

  /** Starts two nodes with the same accounts by copying one node's data before the start. */
  beforeAll(async () => {
    customer = await Customer.listen();
    carrier = await Carrier.listen(() => ({ kind: 'answered', talkMs: 6000 }));
    const answer_url = customer.xml('/take', streamXml(customer.bot('/echo', echoBot)));
    places.push(await newPlace(settings), await newPlace(settings));
    const [first, second] = places as [ServicePlace, ServicePlace];
    const once = await Service.start(first);
    await once.admin('PATCH', `/accounts/${once.demo.authId}`, {
      concurrent_calls_limit: 50,
      cps_limit: 50,
    });
    await once.admin('POST', `/accounts/${once.demo.authId}/caller-ids`, { number: `+${FROM}` });
    user = await makeUser(once, 'phone', { answer_url });
    const { port } = carrier;
    const north = { name: 'north', host: '127.0.0.1', port, transport: 'udp', prefixes: [''] };
    await once.admin('POST', '/carriers', north);
    await once.stop();
    rmSync(second.dataDir, { recursive: true, force: true });
    cpSync(first.dataDir, second.dataDir, { recursive: true });
    nodes.push(...(await Promise.all(places.map((place) => Service.start(place)))));
    const [sip, ws, inner, http] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    ports = { sip, ws };
    edge = await Edge.start(
      folder.path,
      nodes.map(({ sipPort }) => `127.0.0.1:${sipPort}`),
      {
        PUBLIC_ADDRESS: EDGE,
        PUBLIC_PORT: sip,
        WS_PORT: ws,
        PRIVATE_ADDRESS: EDGE,
        PRIVATE_PORT: inner,
        PRIVATE_HTTP_PORT: http,
        WITH_TOPOLOGY_HIDING: '',
      },
    );
    await takingCalls(2);
  }, 150_000);
  afterAll(async () => {
    await edge?.stop();
    await Promise.all(nodes.map((node) => node.kill()));
    await customer?.close();
    carrier?.close();
    for (const place of places) removePlace(place);
    folder.remove();
  });

  const takingCalls = (count: number): Promise<boolean> =>
    eventually(`${count} nodes that accept calls`, async () => {
      const flags = Object.values(await edge.nodes(EDGE));
      return flags.filter((flag) => flag.startsWith('A')).length === count || undefined;
    });

  /** Starts SIPp at the phone's address, connected through the edge. */
  function peer(scenario: string, more: Partial<SippOptions> = {}) {
    mediaPort += 40;
    return startSipp({
      folder: folder.path,
      scenario,
      calls: 1,
      mediaPort,
      localAddress: PHONE,
      user,
      target: nodes[0]?.sipPort ?? 0,
      more: ['-rsa', `${EDGE}:${ports.sip}`],
      ...more,
    });
  }

  async function calls(count: number, pauseMs = 300): Promise<void> {
    const { status, report } = await peer('answered-call', { calls: count, pauseMs, rate: 3 }).done;
    expect(status, `${report}\n${edge.said}`).toBe(0);
  }

  /** Number of call records of the phones on each node. */
  const records = (): Promise<number[]> =>
    Promise.all(
      nodes.map(async (node) => {
        const { body } = await node.api('GET', 'cdr?per_page=100');
        return (body['data'] as Json[]).filter(({ context }) => context === 'sip-endpoint').length;
      }),
    );

  async function gained(before: readonly number[], total: number): Promise<number[]> {
    return eventually(`${total} records`, async () => {
      const now = await records();
      const more = now.map((count, i) => count - (before[i] ?? 0));
      return more.reduce((a, b) => a + b) === total ? more : undefined;
    });
  }

  const registrationOf = (transport: string): Promise<Service> =>
    eventually(`the registration over ${transport}`, async () => {
      for (const node of nodes) {
        const { body } = await node.admin('GET', '/registrations');
        const all = body['registrations'] as Json[];
        if (all.some((one) => one['transport'] === transport && one['username'] === user.username))
          return node;
      }
      return undefined;
    });

  /** Places a carrier call on `node` whose document dials the phone. */
  async function dial(node: Service, name: string): Promise<void> {
    const address = `sip:${user.username}@127.0.0.1`;
    const document = `<Response><Dial callerId="${FROM}"><User>${address}</User></Dial></Response>`;
    const answer = await node.api('POST', 'Call/', {
      from: FROM,
      to: '14155550110',
      answer_url: customer.xml(`/${name}`, document),
    });
    expect(answer.status, answer.text).toBeLessThan(300);
  }

  it('balances calls over the nodes', async () => {
    const before = await records();
    await calls(12, 4000);
    const [one = 0, two = 0] = await gained(before, 12);
    expect(Math.min(one, two)).toBeGreaterThanOrEqual(4);
  });

  it('forwards registration and calls of a phone over UDP', async () => {
    const localPort = await freePort();
    const registered = await peer('registers', { localPort }).done;
    expect(registered.status, `${registered.report}\n${edge.said}`).toBe(0);
    const node = await registrationOf('udp');
    const called = startSipp({
      folder: folder.path,
      scenario: 'carrier-answers',
      calls: 1,
      limitS: 15,
      localAddress: PHONE,
      localPort,
      mediaPort: 6380,
    });
    await dial(node, 'to-phone');
    const { status, report } = await called.done;
    expect(status, `${report}\n${edge.said}`).toBe(0);
  });

  it('forwards registration and calls of a browser over WebSocket', async () => {
    const phone = await WebPhone.start(`ws://${EDGE}:${ports.ws}`, user);
    await phone.register();
    const node = await registrationOf('ws');
    const session = await phone.call('1000');
    await session.bye();
    await dial(node, 'to-browser');
    const said = await eventually(
      `the call to the browser: ${edge.said}`,
      () => phone.incoming[0] as Invitation | undefined,
    );
    // The edge hides the address of the node.
    expect(String(said.request)).toContain(`${EDGE}:`);
    for (const { sipPort } of nodes) expect(String(said.request)).not.toContain(`:${sipPort}`);
    await phone.stop();
  });

  it('routes calls to the other node after one was killed', async () => {
    const [, second] = nodes;
    const before = await records();
    await second?.kill();
    await calls(6);
    const [place] = places.slice(1);
    nodes[1] = await Service.start(place as ServicePlace);
    expect((await gained(before, 6))[0]).toBe(6);
    await takingCalls(2);
  });

  it('stops sending new calls to a draining node within three seconds', async () => {
    const before = await records();
    const begunMs = performance.now();
    await nodes[0]?.admin('POST', '/drain');
    await takingCalls(1);
    expect(performance.now() - begunMs).toBeLessThan(3000);
    await calls(6);
    expect((await gained(before, 6))[1]).toBe(6);
  });

  it('is the only path from untrusted addresses to the nodes', async () => {
    const before = (await nodes[1]?.get('/metrics'))?.text ?? '';
    const direct = startSipp({
      folder: folder.path,
      scenario: 'answered-call',
      calls: 1,
      localAddress: PHONE,
      user,
      target: nodes[1]?.sipPort ?? 0,
      mediaPort: 6360,
      limitS: 3,
    });
    expect((await direct.done).status).not.toBe(0);
    expect(before).not.toContain('reason="stranger"} 1');
    expect((await nodes[1]?.get('/metrics'))?.text).toMatch(/reason="stranger"\} [1-9]/);
  });
});
