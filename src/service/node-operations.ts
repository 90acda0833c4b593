/** Requests of the operator to one node of the cluster: its state, its log and its drain. */
import { ServiceError } from '../base/errors.ts';
import type { Peers } from '../domain/cluster/cluster.ts';
import type { NodeStore } from '../domain/cluster/needs.ts';
import type { LogRing } from '../edge/log/log-ring.ts';
import type {
  LogQuery,
  LogView,
  NodeView,
  Operations,
  ServiceStatus,
} from '../edge/rest/server.ts';

export interface NodeOperationsParts {
  readonly nodeId: string;
  readonly nodes: Pick<NodeStore, 'list'>;
  /** Undefined: this process is the only node. */
  readonly peers: Peers | undefined;
  readonly recent: Pick<LogRing, 'find'>;
  readonly status: () => Promise<ServiceStatus>;
  readonly drain: () => void;
}

type NodeOperations = Pick<Operations, 'nodes' | 'drainNode' | 'log'>;

export function createNodeOperations(parts: NodeOperationsParts): NodeOperations {
  const { nodeId, nodes, peers } = parts;
  const own = {
    status: async (): Promise<ServiceStatus> => parts.status(),
    drain: async (): Promise<true> => {
      parts.drain();
      return true;
    },
    log: async (query: LogQuery): Promise<LogView> => ({
      node: nodeId,
      lines: parts.recent.find(query),
    }),
  };
  for (const [name, run] of Object.entries(own)) {
    peers?.bus.answer(`node.${name}`, run as (...given: readonly unknown[]) => Promise<unknown>);
  }
  /** Sends a request to a node. Returns undefined if no live node has the ID. */
  const ask = async <T>(node: string, name: string, given: readonly unknown[]) => {
    const isLive = (await nodes.list()).some(({ id }) => id === node);
    if (!isLive || peers === undefined) return undefined;
    return (await peers.bus.ask(node, `node.${name}`, given)) as T;
  };
  return {
    nodes: async () => {
      const records = await nodes.list();
      return Promise.all(
        records.map(async ({ id, epoch, begunUs }): Promise<NodeView> => {
          const isSelf = id === nodeId;
          const status = isSelf
            ? await own.status()
            : await peers?.bus
                .ask(id, 'node.status', [])
                .then((answer) => answer as ServiceStatus, unreachable);
          return { id, epoch, isSelf, begunUs, status };
        }),
      );
    },
    drainNode: async (node) => {
      if (node === nodeId) return own.drain();
      return (await ask<true>(node, 'drain', [])) === true;
    },
    log: async (query, node = nodeId) =>
      node === nodeId ? own.log(query) : ask<LogView>(node, 'log', [query]),
  };
}

/** Returns undefined if the node did not answer. */
function unreachable(error: unknown): undefined {
  if (error instanceof ServiceError) return undefined;
  throw error;
}
