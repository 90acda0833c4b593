/** Calls to carriers through the edges: a carrier sees only edge addresses, and the failure of one edge loses no call. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/system-random.ts';
import {
  answerChallenge,
  strongestChallenge,
} from '../../src/protocol/sip/auth/answer-challenge.ts';
import { parseAuth } from '../../src/protocol/sip/header/auth.ts';
import { missingModules } from '../deploy/kamailio.ts';
import { Customer } from '../e2e/customer.ts';
import { makeUser, type SipUser } from '../e2e/phone.ts';
import { eventually, type Json } from '../e2e/service.ts';
import {
  fresh,
  headerIn,
  headersIn,
  type Received,
  sdpOf,
  uriIn,
  WirePeer,
} from '../e2e/wire-peer.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { missing } from '../interop/tools.ts';
import { postgresMissing } from '../postgres.ts';
import { Front, frontPorts, NAME } from './edge-fleet.ts';
import { Fleet, HAS_NETWORK } from './fleet.ts';

const FIRST = { outside: '127.0.0.11', inside: '127.0.0.21' };
const SECOND = { outside: '127.0.0.12', inside: '127.0.0.22' };
const CARRIER = '127.0.0.31';
const PHONE = '127.0.0.32';
const SIP_PORT = 5060;
const FROM = '14155550100';
/** Time limit after an edge failure, ms. Nodes detect it after 3.5 s; until then an INVITE waits 2 s before failover. */
const SOON_MS = 7_000;
const WAITS = '<Response><GetDigits timeout="60" retries="1"/></Response>';

const lacks =
  !HAS_NETWORK ||
  !HAS_REDIS ||
  postgresMissing !== undefined ||
  missing('kamailio', 'dnsmasq') ||
  missingModules()?.length !== 0;

/** Record-Route order of a request in the opposite direction within the dialog. */
const routesIn = (received: Received, isCaller: boolean): readonly string[] => {
  const routes = headersIn(received, 'Record-Route').flatMap((line) => line.split(/,\s*/));
  return (isCaller ? routes.toReversed() : routes).map((route) => `Route: ${route}`);
};

describe.skipIf(lacks)(
  'calls through edges (needs a separate network namespace, kamailio, dnsmasq, PostgreSQL, Redis)',
  () => {
    let fleet: Fleet;
    let front: Front;
    let customer: Customer;
    let carrier: WirePeer;
    let phone: WirePeer;
    let user: SipUser;
    let turn = 0;
    /** Requests that the carrier received. */
    const seen: Received[] = [];

    beforeAll(async () => {
      front = new Front([FIRST, SECOND], await frontPorts());
      [carrier, phone] = [await WirePeer.udp(CARRIER, SIP_PORT), await WirePeer.udp(PHONE)];
      customer = await Customer.listen();
      const edges = `${FIRST.inside},${SECOND.inside}`;
      fleet = await Fleet.start(2, {
        more: {
          CARILLON_SIP_EDGES: edges,
          CARILLON_SIP_OUTBOUND_EDGES: edges,
          CARILLON_SIP_PUBLIC_HOST: NAME,
          CARILLON_SIP_CARRIER_PROBE_MS: '1000',
        },
      });
      await front.named();
      const nodes = fleet.nodes.map(({ service }) => `127.0.0.1:${service.sipPort}`);
      const topology = { WITH_TOPOLOGY_HIDING: '', TOPOLOGY_KEY: 'of-both-edges' };
      await front.start(nodes, { ADVERTISED: NAME, ...topology });
      const first = fleet.node(0);
      const number = { number: `+${FROM}` };
      await first.admin('POST', `/accounts/${first.demo.authId}/caller-ids`, number);
      const north = { name: 'north', host: CARRIER, transport: 'udp', prefixes: [''] };
      await first.admin('POST', '/carriers', north);
      user = await makeUser(first, 'moving', { answer_url: customer.xml('/wait', WAITS) });
    });
    afterAll(async () => {
      await front?.stop();
      await fleet?.stop();
      await customer?.close();
      for (const peer of [carrier, phone]) peer?.close();
    });

    const next = async (peer: WirePeer, method: string): Promise<Received> => {
      const received = await peer.request(method, SOON_MS);
      if (peer === carrier) seen.push(received);
      return received;
    };

    /** Places a call over REST on a node. */
    async function requested(
      node: number,
      to: string,
      { document = WAITS, ...more }: Json & { readonly document?: string } = {},
    ): Promise<() => Promise<string>> {
      turn += 1;
      const path = `/wait-${turn}`;
      const { status, text } = await fleet
        .node(node)
        .api(
          'POST',
          'Call/',
          { from: FROM, to, answer_url: customer.xml(path, document), ...more },
          fleet.node(0).demo,
        );
      expect(status, text).toBeLessThan(300);
      return async () => {
        const { form } = await eventually('the answer URL', () => customer.at(path)[0]);
        return form['CallUUID'] ?? '';
      };
    }

    /** Places a call that the carrier answers. */
    async function placed(
      node: number,
      document?: string,
    ): Promise<{ invite: Received; uuid: string }> {
      const uuid = await requested(node, `1415555${2000 + turn}`, document ? { document } : {});
      const invite = await next(carrier, 'INVITE');
      carrier.answer(invite, '200 OK', { body: sdpOf() });
      await next(carrier, 'ACK');
      return { invite, uuid: await uuid() };
    }

    /** Sends the caller's BYE through this edge. */
    function bye(invite: Received, edge: string): void {
      const text = carrier.textOf({
        method: 'BYE',
        uri: uriIn(headerIn(invite, 'Contact')),
        cseq: 1,
        from: `${headerIn(invite, 'To')};tag=peer`,
        to: headerIn(invite, 'From'),
        callId: headerIn(invite, 'Call-ID'),
        headers: routesIn(invite, false),
      });
      carrier.send(text, SIP_PORT, edge);
    }

    const recordWith = (query: string, fits: (one: Json) => boolean): Promise<Json> =>
      eventually(`the record, ${query}`, async () => {
        const path = `cdr?per_page=100&${query}`;
        const { body } = await fleet.node(1).api('GET', path, undefined, fleet.node(0).demo);
        return (body['data'] as Json[]).find(fits);
      });
    const record = (uuid: string): Promise<Json> => recordWith('', (one) => one['uuid'] === uuid);
    const recordOf = (number: string): Promise<Json> =>
      recordWith(`to_number=${number}`, () => true);

    const hangUp = (node: number, uuid: string) =>
      fleet.node(node).api('DELETE', `Call/${uuid}/`, undefined, fleet.node(0).demo);

    /** Sends a request of the phone through this edge, answers the digest challenge, and returns the response. */
    async function said(
      edge: string,
      lines: Partial<Parameters<WirePeer['textOf']>[0]> & { readonly method: string },
    ): Promise<Received> {
      const { method } = lines;
      const own = `<sip:${user.username}@${NAME}>`;
      const request = {
        uri: `sip:${NAME}`,
        from: `${own};tag=${fresh('t')}`,
        to: own,
        cseq: 1,
        callId: fresh('phone'),
        headers: [],
        ...lines,
      };
      phone.send(phone.textOf(request), SIP_PORT, edge);
      const answer = await phone.response(method, 'final');
      if (answer.status !== 401) return answer;
      const branch = /branch=([^;\s]+)/.exec(headerIn(answer, 'Via'))?.[1] ?? '';
      const to = headerIn(answer, 'To');
      const ack = { ...request, method: 'ACK', to, branch, headers: [], body: '' };
      if (method === 'INVITE') phone.send(phone.textOf(ack), SIP_PORT, edge);
      const challenges = headersIn(answer, 'WWW-Authenticate').map(parseAuth);
      const known = strongestChallenge(challenges.filter((one) => one !== undefined));
      if (known === undefined) throw new Error(`no challenge in ${answer.text}`);
      const { uri } = request;
      const proof = answerChallenge(known, user, { method, uri }, 1, systemRandom);
      const headers = [...request.headers, `Authorization: ${proof}`];
      const again = { ...request, cseq: request.cseq + 1, headers };
      phone.send(phone.textOf(again), SIP_PORT, edge);
      return phone.response(method, 'final');
    }

    const nodePlaces = (): readonly string[] =>
      fleet.nodes.map(({ service }) => `:${service.sipPort}`);

    /** Waits until the carrier has answered an OPTIONS of both edges. */
    const isUp = (): Promise<true> =>
      eventually('the carrier is up', async () => {
        const requested = fleet.nodes.map(({ service }) => service.admin('GET', '/carriers'));
        const all = (await Promise.all(requested)).flatMap(
          ({ body }) => body['carriers'] as Json[],
        );
        return all.every(({ up }) => up === true) || undefined;
      });

    it('the carrier sees an edge but no node, and exchanges requests through the edge in both directions', async () => {
      await isUp();
      const { invite, uuid } = await placed(0);
      expect(headerIn(invite, 'Record-Route')).toContain(NAME);
      bye(invite, FIRST.outside);
      expect((await carrier.response('BYE', 'final')).status).toBe(200);
      expect(await record(uuid)).toMatchObject({ hangup_source: 'Callee' });
      const other = await placed(1);
      await hangUp(0, other.uuid);
      carrier.answer(await next(carrier, 'BYE'), '200 OK');
      const places = [FIRST.inside, SECOND.inside, 'X-Carillon', ...nodePlaces()];
      expect(seen.map(({ method }) => method)).toEqual(['INVITE', 'ACK', 'INVITE', 'ACK', 'BYE']);
      for (const { from, text, body } of seen) {
        expect(from).toMatchObject({ address: FIRST.outside, port: SIP_PORT });
        // RTP bypasses the edge, so the node's address appears only in the SDP.
        const head = text.slice(0, text.length - body.length);
        expect(places.filter((place) => head.includes(place))).toEqual([]);
      }
    });

    it('forwards busy and CANCEL as without an edge', async () => {
      await requested(0, '14155552901');
      carrier.answer(await next(carrier, 'INVITE'), '486 Busy Here');
      await next(carrier, 'ACK');
      expect(await recordOf('14155552901')).toMatchObject({ hangup_cause: 'USER_BUSY' });
      await requested(1, '14155552902', { ring_timeout: 1 });
      const invite = await next(carrier, 'INVITE');
      carrier.answer(invite, '180 Ringing');
      carrier.answer(await next(carrier, 'CANCEL'), '200 OK');
      carrier.answer(invite, '487 Request Terminated');
      await next(carrier, 'ACK');
      expect(await recordOf('14155552902')).toMatchObject({ hangup_cause: 'NO_ANSWER' });
    });

    it('after one edge dies, calls to the carrier and calls of a phone continue through the other', async () => {
      const registered = await said(FIRST.outside, { method: 'REGISTER' });
      expect(registered.status, registered.text).toBe(200);
      const dialog = { callId: fresh('moving'), from: `<sip:${user.username}@${NAME}>;tag=mine` };
      const uri = `sip:1000@${NAME}`;
      const answer = await said(FIRST.outside, {
        method: 'INVITE',
        uri,
        to: `<${uri}>`,
        body: sdpOf({ address: PHONE }),
        ...dialog,
      });
      expect(answer.status, answer.text).toBe(200);
      const inside = {
        uri: uriIn(headerIn(answer, 'Contact')),
        to: headerIn(answer, 'To'),
        ...dialog,
        headers: routesIn(answer, true),
      };
      const ack = { ...inside, method: 'ACK', cseq: 2 };
      phone.send(phone.textOf(ack), SIP_PORT, FIRST.outside);
      const [one, two, three] = [await placed(0), await placed(1), await placed(0)];

      await front.edges[0]?.kill();
      seen.length = 0;
      const begunMs = performance.now();
      const four = await placed(0);
      expect(performance.now() - begunMs).toBeLessThan(SOON_MS);
      await hangUp(1, one.uuid);
      await hangUp(0, two.uuid);
      for (let i = 0; i < 2; i += 1) carrier.answer(await next(carrier, 'BYE'), '200 OK');
      bye(three.invite, SECOND.outside);
      expect((await carrier.response('BYE', 'final')).status).toBe(200);
      expect(await record(three.uuid)).toMatchObject({ hangup_source: 'Callee' });
      await hangUp(0, four.uuid);
      carrier.answer(await next(carrier, 'BYE'), '200 OK');
      expect(new Set(seen.map(({ from }) => from.address))).toEqual(new Set([SECOND.outside]));

      const held = { ...inside, cseq: 3, body: sdpOf({ direction: 'sendonly', version: 2 }) };
      phone.send(phone.textOf({ ...held, method: 'INVITE' }), SIP_PORT, SECOND.outside);
      const resumed = await phone.response('INVITE', 'final');
      expect(resumed.status, resumed.text).toBe(200);
      expect(resumed.body).toContain('a=recvonly');
      phone.send(phone.textOf({ ...inside, method: 'ACK', cseq: 3 }), SIP_PORT, SECOND.outside);
      phone.send(phone.textOf({ ...inside, method: 'BYE', cseq: 4 }), SIP_PORT, SECOND.outside);
      expect((await phone.response('BYE', 'final')).status).toBe(200);

      // The phone registered at the first edge without an outbound flow, so the second edge reaches it directly.
      const dial = `<Dial><User>sip:${user.username}@${NAME}</User></Dial>`;
      const five = await placed(1, `<Response>${dial}</Response>`);
      const ringing = await next(phone, 'INVITE');
      expect(ringing.from).toMatchObject({ address: SECOND.outside });
      phone.answer(ringing, '603 Decline');
      await next(phone, 'ACK');
      // The service requests the document again, and it dials again.
      await hangUp(0, five.uuid);
      carrier.answer(await next(carrier, 'BYE'), '200 OK');
      await record(five.uuid);
      await isUp();
      expect(await fleet.node(1).admin('POST', '/verify')).toMatchObject({
        body: { ok: true, faults: [] },
      });
    });
  },
);
