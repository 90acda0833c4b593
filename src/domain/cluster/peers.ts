/** Finds the node that holds a call or conference and forwards the request to it. */
import { ServiceError } from '../../base/errors.ts';
import { RecentMap } from '../../base/recent-map.ts';
import type { Bus, Directory } from './needs.ts';

export interface PeersNeeds {
  readonly bus: Bus;
  readonly directory: Directory;
  readonly nodeId: string;
  /** IDs of the live nodes, including this one. Undefined if unknown at the moment. */
  readonly living: () => readonly string[] | undefined;
}

/** A request in two forms: run locally, or sent to another node. */
export interface Question<T> {
  readonly here: () => Promise<T>;
  readonly what: string;
  readonly given: readonly unknown[];
}

interface Search<T> {
  readonly others: readonly string[];
  readonly question: Question<T>;
  readonly here: T;
}

/** Maximum number of remembered owners. The least recently used is evicted. */
const OWNERS = 10_000;

export class Peers {
  readonly #needs: PeersNeeds;
  /** Last known owner per key. Used before the directory, because a directory lookup costs as much as a request. */
  readonly #owners = new RecentMap<string>(OWNERS);

  constructor(needs: PeersNeeds) {
    this.#needs = needs;
  }

  get bus(): Bus {
    return this.#needs.bus;
  }

  get directory(): Directory {
    return this.#needs.directory;
  }

  get nodeId(): string {
    return this.#needs.nodeId;
  }

  /** Returns the IDs of the live nodes, including this one. Empty if unknown at the moment. */
  living(): readonly string[] {
    return this.#needs.living() ?? [];
  }

  /**
   * Returns the answer of the node that holds the key, or the last `isMissing` answer if no node has it. Rejects with
   * NODE_UNREACHABLE if no node has it and one did not answer or the nodes are unknown.
   */
  async ofOwner<T>(
    key: string | undefined,
    question: Question<T>,
    isMissing: (answer: T) => boolean,
  ): Promise<T> {
    const here = await question.here();
    if (!isMissing(here)) return here;
    const { nodeId, living } = this.#needs;
    const known = key === undefined ? undefined : this.#owners.get(key);
    if (key !== undefined && known !== undefined && living()?.includes(known) === true) {
      this.#owners.delete(key); // stored again below if the node still holds it
      const answer = await this.#ask(known, question);
      if (!isMissing(answer)) return this.#remembered(key, known, answer);
    }
    const owner = key === undefined ? undefined : await this.#owner(key);
    if (owner !== undefined && owner !== nodeId) {
      const hasDied = living()?.includes(owner) === false;
      const answer = await this.#ask(owner, question).catch((error: unknown) => {
        if (!hasDied) throw error;
        return here;
      });
      if (!isMissing(answer)) return this.#remembered(key, owner, answer);
    }
    const others = this.#others().filter((node) => node !== owner);
    return this.#ofAny(key, { others, question, here }, isMissing);
  }

  async #ofAny<T>(
    key: string | undefined,
    { others, question, here }: Search<T>,
    isMissing: (answer: T) => boolean,
  ): Promise<T> {
    const requested = await Promise.allSettled(others.map((node) => this.#ask(node, question)));
    for (const [at, one] of requested.entries())
      if (one.status === 'fulfilled' && !isMissing(one.value))
        return this.#remembered(key, others[at], one.value);
    for (const one of requested) if (one.status === 'rejected') throw one.reason;
    return here;
  }

  #remembered<T>(key: string | undefined, owner: string | undefined, answer: T): T {
    if (key !== undefined && owner !== undefined) this.#owners.set(key, owner);
    return answer;
  }

  /** Returns the answers of all nodes, starting with this one. Rejects if one does not answer. */
  async all<T>(question: Question<T>): Promise<readonly T[]> {
    const others = this.#others().map((node) => this.#ask(node, question));
    return Promise.all([question.here(), ...others]);
  }

  #others(): readonly string[] {
    const { living, nodeId } = this.#needs;
    const known = living();
    if (known === undefined)
      throw new ServiceError('NODE_UNREACHABLE', 'the list of live nodes is unknown');
    return known.filter((node) => node !== nodeId);
  }

  async #owner(key: string): Promise<string | undefined> {
    try {
      return await this.#needs.directory.find(key);
    } catch (error) {
      if (error instanceof ServiceError) return undefined; // falls back to querying all nodes
      throw error;
    }
  }

  async #ask<T>(node: string, { what, given }: Question<T>): Promise<T> {
    return (await this.#needs.bus.ask(node, what, given)) as T;
  }
}
