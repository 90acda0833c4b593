/** Finds out which node has a call or a conference, and lets that node do what was asked of this one. */
import { ServiceError } from '../../base/errors.ts';
import { RecentMap } from '../../base/recent-map.ts';
import type { Bus, Directory } from './needs.ts';

export interface PeersNeeds {
  readonly bus: Bus;
  readonly directory: Directory;
  readonly nodeId: string;
  /** Nodes that live, this one among them; undefined: that is not known at the moment. */
  readonly living: () => readonly string[] | undefined;
}

/** One question in two forms: to this node, and to another. */
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

/** Owners that are remembered: the last to be asked for. */
const OWNERS = 10_000;

export class Peers {
  readonly #needs: PeersNeeds;
  /** Who had a thing when it was asked for last: asked without a look into the directory, which costs as much as the question. */
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

  /** Nodes that live, this one among them; none, when that is not known at the moment. */
  living(): readonly string[] {
    return this.#needs.living() ?? [];
  }

  /**
   * The answer of the node that has what is asked for; the last one that is `isMissing` when no node has. Rejects with NODE_UNREACHABLE
   * when none has it and one did not answer, or it is not known who there is: that one may.
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
      this.#owners.delete(key); // unless it has it still
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
    const asked = await Promise.allSettled(others.map((node) => this.#ask(node, question)));
    for (const [at, one] of asked.entries())
      if (one.status === 'fulfilled' && !isMissing(one.value))
        return this.#remembered(key, others[at], one.value);
    for (const one of asked) if (one.status === 'rejected') throw one.reason;
    return here;
  }

  #remembered<T>(key: string | undefined, owner: string | undefined, answer: T): T {
    if (key !== undefined && owner !== undefined) this.#owners.set(key, owner);
    return answer;
  }

  /** The answers of all nodes, this one's first. Rejects when one does not answer. */
  async all<T>(question: Question<T>): Promise<readonly T[]> {
    const others = this.#others().map((node) => this.#ask(node, question));
    return Promise.all([question.here(), ...others]);
  }

  #others(): readonly string[] {
    const { living, nodeId } = this.#needs;
    const known = living();
    if (known === undefined)
      throw new ServiceError('NODE_UNREACHABLE', 'it is not known which nodes there are');
    return known.filter((node) => node !== nodeId);
  }

  async #owner(key: string): Promise<string | undefined> {
    try {
      return await this.#needs.directory.find(key);
    } catch (error) {
      if (error instanceof ServiceError) return undefined; // all are asked
      throw error;
    }
  }

  async #ask<T>(node: string, { what, given }: Question<T>): Promise<T> {
    return (await this.#needs.bus.ask(node, what, given)) as T;
  }
}
