import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/base/errors.ts';
import { Peers } from '../../src/domain/cluster/cluster.ts';
import type { Bus } from '../../src/domain/cluster/needs.ts';
import { LogRing } from '../../src/edge/log/log-ring.ts';
import type { ServiceStatus } from '../../src/edge/rest/server.ts';
import { createNodeOperations } from '../../src/service/node-operations.ts';

type Answer = (...given: never[]) => Promise<unknown>;

/** Two nodes on one bus. `dead` is listed in the store, but does not answer. */
function twoNodes() {
  const answers = new Map<string, Answer>();
  const drained: string[] = [];
  const nodeOf = (id: string) => {
    const bus: Bus = {
      ask: async (node, what, given) => {
        const answer = answers.get(`${node} ${what}`);
        if (answer === undefined) throw new ServiceError('NODE_UNREACHABLE', 'no answer');
        return answer(...(given as never[]));
      },
      answer: (what, by) => void answers.set(`${id} ${what}`, by),
      notify: () => undefined,
      hear: () => undefined,
    };
    const recent = new LogRing();
    recent.add(JSON.stringify({ level: 'info', time: 't', msg: `hello from ${id}` }));
    const directory = { put: () => undefined, drop: () => undefined, find: async () => undefined };
    return createNodeOperations({
      nodeId: id,
      nodes: {
        list: async () =>
          ['a', 'b', 'dead'].map((name) => ({
            id: name,
            epoch: 1,
            beats: 1,
            begunUs: 5,
            hears: true,
          })),
      },
      peers: new Peers({ bus, directory, nodeId: id, living: () => ['a', 'b'] }),
      recent,
      status: async () => ({ version: id, draining: false }) as ServiceStatus,
      drain: () => void drained.push(id),
    });
  };
  return { a: nodeOf('a'), b: nodeOf('b'), drained };
}

describe('operations of one node', () => {
  it('list all nodes with their status; one that does not answer has none', async () => {
    const { a } = twoNodes();
    expect(await a.nodes()).toMatchObject([
      { id: 'a', isSelf: true, status: { version: 'a' } },
      { id: 'b', isSelf: false, status: { version: 'b' } },
      { id: 'dead', isSelf: false, status: undefined },
    ]);
  });

  it('drain and read the log of the named node only', async () => {
    const { a, drained } = twoNodes();
    expect(await a.drainNode('b')).toBe(true);
    expect(await a.drainNode('unknown')).toBe(false);
    expect(drained).toEqual(['b']);
    expect(await a.log({ limit: 5 }, 'b')).toMatchObject({
      node: 'b',
      lines: [{ message: 'hello from b' }],
    });
    expect(await a.log({ limit: 5 })).toMatchObject({ node: 'a' });
    expect(await a.log({ limit: 5 }, 'unknown')).toBeUndefined();
  });
});
