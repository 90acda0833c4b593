import type { Job, NodeRecord, NodeRef } from './types.ts';

/**
 * Nodes that share a store. Nobody compares clocks here: a node is dead when somebody who watched its beats says so, and
 * is told by its epoch, which has grown.
 */
export interface NodeStore {
  /**
   * A new life of the node; what its earlier ones left is nobody's from now on. `alone`: no other can be using the store, so
   * that theirs is nobody's too. Returns the epoch, from 1.
   */
  begin(nodeId: string, alone: boolean): Promise<number>;
  /** One more beat, and whether the node hears of others in another way too. False: the node was declared dead. */
  beat(node: NodeRef, hears: boolean): Promise<boolean>;
  /** Those that live, as far as anybody has said, by id. */
  list(): Promise<readonly NodeRecord[]>;
  /** Declares dead whoever has not moved since `seen`; of several that try, one is told true. */
  fence(seen: NodeRecord): Promise<boolean>;
  /** Ends the node's life of its own will. */
  leave(node: NodeRef): Promise<void>;
  /** Takes work that nobody does. True: it is the asking node's, now or already. */
  claim(job: Job): Promise<boolean>;
  /** Whose work it is; undefined: nobody's. */
  holder(job: Job): Promise<NodeRef | undefined>;
}

/** What a node is told that waits for no answer. */
export type Hears = (given: unknown, from: string) => void;

/** Messages between nodes. What goes is data: objects, lists, text, numbers, bytes. */
export interface Bus {
  /** Rejects with NODE_UNREACHABLE without an answer in time, with CLUSTER_UNAVAILABLE when nothing can be sent. */
  ask(node: string, what: string, given: readonly unknown[]): Promise<unknown>;
  /** To all other nodes. */
  tell(what: string, given: unknown): void;
  answer(what: string, by: (...given: never[]) => Promise<unknown>): void;
  hear(what: string, by: Hears): void;
}

/**
 * Things that one node has at a time, by key: a conference of one name. Whoever is not heard of any more has lost them to the next who
 * asks. While nobody can be asked each node has what it claims; what two then have, one of them loses.
 */
export interface Claims {
  /** Whose it is: this node's when it was nobody's, held then until it was released as often as it was claimed. Never rejects. */
  claim(key: string): Promise<string>;
  release(key: string): void;
  /** Somebody else has what this node holds. */
  onLost(hear: (key: string) => void): void;
}

/** Which node has a thing, by key: a short way, which may miss some. */
export interface Directory {
  /** This node has it. */
  put(key: string): void;
  drop(key: string): void;
  find(key: string): Promise<string | undefined>;
}
