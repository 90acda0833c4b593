/** In-process bus between nodes. Payloads are copied as data. A node that is cut off does not answer. */
import { ServiceError } from '../../../src/base/errors.ts';
import type { Bus, Directory, Hears } from '../../../src/domain/cluster/needs.ts';

type Answers = Map<string, (...given: never[]) => Promise<unknown>>;

export class MemoryBus {
  readonly cutOff = new Set<string>();
  readonly entries = new Map<string, string>();
  /** Requests sent to other nodes: `from>to what`. */
  readonly requested: string[] = [];
  readonly #nodes = new Map<string, { answers: Answers; listeners: Map<string, Hears> }>();

  join(nodeId: string): { readonly bus: Bus; readonly directory: Directory } {
    const self = { answers: new Map() as Answers, listeners: new Map<string, Hears>() };
    this.#nodes.set(nodeId, self);
    const bus: Bus = {
      ask: async (node, what, given) => {
        this.requested.push(`${nodeId}>${node} ${what}`);
        const by = this.#nodes.get(node)?.answers.get(what);
        if (by === undefined || this.cutOff.has(node) || this.cutOff.has(nodeId))
          throw new ServiceError('NODE_UNREACHABLE', `node ${node} does not answer`);
        return wire(await by(...(wire(given) as never[])));
      },
      notify: (what, given) => {
        for (const [node, { listeners }] of this.#nodes)
          if (node !== nodeId && !this.cutOff.has(node)) listeners.get(what)?.(wire(given), nodeId);
      },
      answer: (what, by) => void self.answers.set(what, by),
      hear: (what, by) => void self.listeners.set(what, by),
    };
    const directory: Directory = {
      put: (key) => void this.entries.set(key, nodeId),
      drop: (key) => void this.entries.delete(key),
      find: async (key) => this.entries.get(key),
    };
    return { bus, directory };
  }
}

const wire = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
