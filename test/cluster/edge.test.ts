/** The edge in `deploy/kamailio/` in front of two nodes: calls go to healthy nodes, and every node reaches every phone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Edge, missingModules } from '../deploy/kamailio.ts';
import { Customer, echoBot, streamXml } from '../e2e/customer.ts';
import { Handset } from '../e2e/handset.ts';
import { makeUser, startCall } from '../e2e/phone.ts';
import { eventually, freePort, type Json, type Service } from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Fleet } from './fleet.ts';

const HAS_KAMAILIO = missingModules()?.length === 0;
/** Time limit for failover of new calls after a node failure, ms. */
const ELSEWHERE_MS = 3000;

describe.skipIf(!HAS_KAMAILIO || !HAS_REDIS || postgresMissing !== undefined)(
  'two nodes behind Kamailio (needs kamailio, PostgreSQL and redis-server)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-edge-'));
    let fleet: Fleet;
    let edge: Edge;
    let customer: Customer;
    /** The service as phones see it: the edge's address. */
    let viaEdge: Service;

    beforeAll(async () => {
      fleet = await Fleet.start(2);
      customer = await Customer.listen();
      const port = await freePort();
      const nodes = fleet.nodes.map(({ service }) => `127.0.0.1:${service.sipPort}`);
      edge = await Edge.start(folder, nodes, {
        PUBLIC_ADDRESS: '127.0.0.1',
        PUBLIC_PORT: port,
        WS_PORT: await freePort(),
        PRIVATE_ADDRESS: '127.0.0.1',
        PRIVATE_PORT: await freePort(),
        PRIVATE_HTTP_PORT: await freePort(),
      });
      viaEdge = { sipPort: port } as Service;
    });
    afterAll(async () => {
      await edge?.stop();
      await fleet?.stop();
      await customer?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('every node reaches a phone that registered through the edge', async () => {
      const node = fleet.node(0);
      for (const at of [0, 1, 0, 1]) {
        const name = `bob${at}${Math.trunc(performance.now())}`;
        const silent = { answer_url: customer.xml('/silent', '<Response/>') };
        const bob = await makeUser(node, name, silent, node.demo);
        const phone = await Handset.waiting(viaEdge, bob);
        for (const each of [0, 1])
          await eventually(`the registration at node ${each}: ${edge.said}`, async () => {
            const { body } = await fleet.node(each).admin('GET', '/registrations');
            const all = body['registrations'] as Json[];
            return all.some(({ username }) => username === bob.username) || undefined;
          });
        const document = `<Response><Dial><User>sip:${bob.username}@127.0.0.1</User></Dial></Response>`;
        const caller = await makeUser(
          node,
          `caller${name}`,
          { answer_url: customer.xml(`/${name}`, document) },
          node.demo,
        );
        const call = await startCall(fleet.node(at), caller, { seconds: 20 });
        await call.answered;
        call.hangUp();
        await call.report;
        await phone.close();
      }
    });

    it('forwards calls to the nodes, and to the other node within three seconds after one is killed', async () => {
      const user = await makeUser(
        fleet.node(0),
        'carol',
        { answer_url: customer.xml('/answer', streamXml(customer.bot('/bot', echoBot))) },
        fleet.node(0).demo,
      );
      const talk = async (): Promise<boolean> => {
        const call = await startCall(viaEdge, user, { seconds: 1 });
        return (await call.report).setupMs !== undefined;
      };
      for (let round = 0; round < 4; round += 1) expect(await talk(), edge.said).toBe(true);
      await fleet.node(0).kill();
      const killedMs = performance.now();
      const call = await startCall(viaEdge, user, { seconds: 5 });
      await call.answered;
      const tookMs = performance.now() - killedMs;
      process.stdout.write(
        `a new call was answered by another node ${Math.round(tookMs)} ms after the kill\n`,
      );
      expect(tookMs).toBeLessThan(ELSEWHERE_MS);
      call.hangUp();
      await call.report;
    });
  },
);
