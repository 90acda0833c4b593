/** Nodes that lose Redis or PostgreSQL report it, refuse calls and write no record of refused calls. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Service } from '../e2e/service.ts';
import { HAS_REDIS } from '../edge/cluster/redis.ts';
import { postgresMissing } from '../postgres.ts';
import { Callers } from './callers.ts';
import { Fleet } from './fleet.ts';

/** Time in ms for a node to notice that a component fails, and that it works again. */
const NOTICED_MS = 5000;
const RECOVERED_MS = 30_000;

/** Sends one request over UDP and returns the final response. */
async function responseTo(method: 'OPTIONS' | 'INVITE', node: Service): Promise<string> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  const id = `${method}-${port}`;
  socket.send(
    [
      `${method} sip:1000@127.0.0.1:${node.sipPort} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${id};rport`,
      `From: <sip:nobody@127.0.0.1>;tag=${id}`,
      `To: <sip:1000@127.0.0.1:${node.sipPort}>`,
      `Call-ID: ${id}`,
      `CSeq: 1 ${method}`,
      `Contact: <sip:nobody@127.0.0.1:${port}>`,
      'Max-Forwards: 70',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n'),
    node.sipPort,
    '127.0.0.1',
  );
  try {
    for (;;) {
      const [message] = (await once(socket, 'message', {
        signal: AbortSignal.timeout(5000),
      })) as [Buffer];
      const text = message.toString();
      if (!text.startsWith('SIP/2.0 1')) return text;
    }
  } finally {
    socket.close();
  }
}

describe.skipIf(!HAS_REDIS || postgresMissing !== undefined)(
  'a node that cannot serve calls (needs PostgreSQL and redis-server)',
  () => {
    let fleet: Fleet;
    let callers: Callers;
    beforeAll(async () => {
      fleet = await Fleet.start(2);
      callers = await Callers.of(fleet);
    });
    afterAll(async () => {
      await fleet?.stop();
      await callers?.close();
    });

    const notReady = (node: Service): Promise<string> =>
      eventually(
        'a node that is not ready',
        async () => {
          const { status, text } = await node.get('/readyz');
          return status === 503 ? text : undefined;
        },
        NOTICED_MS,
      );

    const ready = (node: Service): Promise<true> =>
      eventually(
        'a ready node',
        async () => (await node.get('/readyz')).status === 200 || undefined,
        RECOVERED_MS,
      );

    async function refusesCalls(node: Service): Promise<void> {
      expect(await responseTo('OPTIONS', node)).toMatch(/^SIP\/2\.0 503 /);
      const refusal = await responseTo('INVITE', node);
      expect(refusal).toMatch(/^SIP\/2\.0 503 /);
      expect(refusal).toMatch(/^Retry-After: *\d+/im);
      await expect(callers.call(0, 2).then((call) => call.answered)).rejects.toThrow();
    }

    async function servesAgain(): Promise<void> {
      for (const { service } of fleet.nodes) await ready(service);
      expect(await responseTo('OPTIONS', fleet.node(0))).toMatch(/^SIP\/2\.0 200 /);
      const { call, uuid } = await callers.acceptedOn(0);
      call.hangUp();
      await call.report;
      await callers.allIsOver(fleet.node(1), [uuid]);
    }

    it('without Redis: not ready with the cause, 503 with Retry-After, no records, no callbacks', async () => {
      await fleet.redis.kill();
      for (const { service } of fleet.nodes) expect(await notReady(service)).toMatch(/redis/i);
      for (let count = 0; count < 3; count += 1) await refusesCalls(fleet.node(0));
      expect(await callers.records(fleet.node(0))).toEqual([]);
      await fleet.redis.start();
      await servesAgain();
      expect(await callers.records(fleet.node(0))).toHaveLength(1);
      expect(callers.customer.at('/hangup')).toHaveLength(1);
    });

    it('without PostgreSQL: not ready with the cause, 503 with Retry-After, no records, no callbacks', async () => {
      fleet.postgres.stop();
      for (const { service } of fleet.nodes)
        expect(await notReady(service)).toMatch(/store|postgres/i);
      await refusesCalls(fleet.node(0));
      fleet.postgres.start();
      await servesAgain();
      expect(await callers.records(fleet.node(0))).toHaveLength(2);
      expect(callers.customer.at('/hangup')).toHaveLength(2);
    });
  },
);
