/** Two edges found by DNS SRV: addresses that phones see, and failover of phones and calls when one edge dies. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingModules } from '../deploy/kamailio.ts';
import { Customer } from '../e2e/customer.ts';
import { Handset } from '../e2e/handset.ts';
import { makeUser, type SipUser } from '../e2e/phone.ts';
import { eventually, type Service } from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { Baresip } from '../interop/baresip.ts';
import { missing } from '../interop/tools.ts';
import { postgresMissing } from '../postgres.ts';
import { Front, frontPorts, NAME, NAME_SERVER } from './edge-fleet.ts';
import { Fleet, HAS_NETWORK } from './fleet.ts';

const FIRST = { outside: '127.0.0.11', inside: '127.0.0.21' };
const SECOND = { outside: '127.0.0.1', inside: '127.0.0.22' };
const REGISTERS_S = 10;
/** Time for one failed registration refresh at the first edge plus the next refresh, ms. */
const AGAIN_MS = 70_000;
const STORY_MS = 240_000;

const lacks =
  !HAS_NETWORK ||
  !HAS_REDIS ||
  postgresMissing !== undefined ||
  missing('kamailio', 'baresip', 'dnsmasq', 'sox') ||
  missingModules()?.length !== 0;

describe.skipIf(lacks)(
  'two edges by DNS SRV (needs a separate network namespace, kamailio, dnsmasq, baresip, PostgreSQL, Redis)',
  () => {
    let fleet: Fleet;
    let front: Front;
    let customer: Customer;
    let viaSecond: Service;
    const phones: Baresip[] = [];

    beforeAll(async () => {
      front = new Front([FIRST, SECOND], await frontPorts());
      fleet = await Fleet.start(2, {
        more: {
          CARILLON_SIP_EDGES: `${FIRST.inside},${SECOND.inside}`,
          CARILLON_SIP_PUBLIC_HOST: NAME,
          CARILLON_SIP_REGISTER_EXPIRES_MIN_S: String(REGISTERS_S),
        },
      });
      customer = await Customer.listen();
      const nodes = fleet.nodes.map(({ service }) => `127.0.0.1:${service.sipPort}`);
      await front.named();
      await front.start(nodes, {
        ADVERTISED: NAME,
        WITH_TOPOLOGY_HIDING: '',
        TOPOLOGY_KEY: 'of-both-edges',
      });
      viaSecond = { sipPort: front.ports.sip } as Service;
    });
    afterAll(async () => {
      await Promise.all(phones.map((phone) => phone.stop()));
      await front?.stop();
      await fleet?.stop();
      await customer?.close();
    });

    /** Starts a phone that is configured only with the domain name. */
    async function phone(name: string, transport: 'udp' | 'tcp' | 'tls') {
      const silent = { answer_url: customer.xml('/silent', '<Response/>') };
      const user = await makeUser(fleet.node(0), name, silent, fleet.node(0).demo);
      const account = `<sip:${user.username}@${NAME};transport=${transport}>;auth_pass=${user.password}`;
      const started = await Baresip.start(
        join(front.folder, name),
        `${account};regint=${REGISTERS_S};answermode=auto;audio_codecs=PCMU/8000`,
        {
          settings: [
            `dns_server ${NAME_SERVER}:53`,
            'sip_verify_server yes',
            `sip_cafile ${front.authorityFile}`,
          ],
          traces: true,
        },
      );
      phones.push(started);
      return { user, phone: started };
    }

    const bindings = (): string =>
      spawnSync('redis-cli', ['-u', fleet.redis.url, 'HVALS', 'carillon:bindings'], {
        encoding: 'utf8',
      }).stdout;

    /** Waits until the nodes reach the user through this edge. */
    const isBehind = ({ username }: SipUser, { inside }: typeof FIRST): Promise<true> =>
      eventually(
        `${username} behind ${inside}`,
        () => {
          const own = bindings()
            .split('\n')
            .filter((line) => line.includes(username));
          return own.some((line) => line.includes(inside)) || undefined;
        },
        AGAIN_MS,
      ).catch((error: unknown) => {
        const said = phones.map(({ output }) => output.slice(-3000)).join('\n');
        throw new Error(`${String(error)}\n${bindings()}\n${said}`);
      });

    async function callTo({ username }: SipUser): Promise<Handset> {
      const document = `<Response><Dial><User>sip:${username}@${NAME}</User></Dial></Response>`;
      const answer_url = customer.xml(`/to-${username}`, document);
      const name = `caller${Math.trunc(performance.now())}`;
      const caller = await makeUser(fleet.node(0), name, { answer_url }, fleet.node(0).demo);
      const handset = await Handset.call(viaSecond, caller);
      await handset.answered;
      return handset;
    }

    const hearsMore = (handset: Handset): Promise<true> => {
      const from = handset.received.length;
      return eventually('more speech', () => {
        const since = handset.received.subarray(from);
        return since.filter((sample) => Math.abs(sample) > 1000).length > 4000 || undefined;
      });
    };

    it('phones find the first edge by each transport, receive calls through it, and see no private address', async () => {
      for (const transport of ['udp', 'tcp', 'tls'] as const) {
        const one = await phone(`seen${transport}`, transport);
        await isBehind(one.user, FIRST);
        const call = await callTo(one.user);
        await one.phone.event('CALL_ESTABLISHED');
        await call.hangUp();
        await one.phone.event('CALL_CLOSED');
        const said = one.phone.output;
        expect(said).toMatch(new RegExp(`^Via: SIP/2.0/${transport} ${NAME}[:;]`, 'im'));
        expect(said).toMatch(new RegExp(`^Record-Route: <sip:${NAME}`, 'im'));
        for (const hidden of [FIRST.inside, SECOND.inside, ...nodePorts()])
          expect(
            said.split('\n').filter((line) => line.includes(hidden)),
            transport,
          ).toEqual([]);
      }
    });

    const nodePorts = (): readonly string[] =>
      fleet.nodes.map(({ service }) => `:${service.sipPort}`);

    it(
      'when one edge dies, a call keeps its audio and ends through the other, where phones register and receive calls',
      async () => {
        const bob = await phone('bob', 'udp');
        const tom = await phone('tom', 'tls');
        await Promise.all([isBehind(bob.user, FIRST), isBehind(tom.user, FIRST)]);
        const call = await callTo(bob.user);
        await bob.phone.event('CALL_ESTABLISHED');
        await hearsMore(call);
        await front.edges[0]?.kill();
        await hearsMore(call);
        await call.hangUp();
        await Promise.all([isBehind(bob.user, SECOND), isBehind(tom.user, SECOND)]);
        for (const { user } of [bob, tom]) {
          const again = await callTo(user);
          await hearsMore(again);
          await again.hangUp();
        }
        const { body } = await fleet.node(1).admin('POST', '/verify');
        expect(body).toMatchObject({ ok: true });
      },
      STORY_MS,
    );
  },
);
