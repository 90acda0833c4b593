import type { Job, NodeRecord, NodeRef } from './types.ts';

/**
 * Nodes that share a store. Clocks are not compared: a node is dead once a monitoring node says so, which increments
 * its epoch.
 */
export interface NodeStore {
  /**
   * Begins a new epoch of the node; work of its earlier epochs is orphaned. With `alone`, no other node can be using
   * the store, so the work of all others is orphaned too. Returns the epoch, starting at 1.
   */
  begin(nodeId: string, alone: boolean): Promise<number>;
  /**
   * Writes a beat and whether the node can check reachability through another channel. Returns false if the node was
   * declared dead.
   */
  beat(node: NodeRef, hears: boolean): Promise<boolean>;
  /** Returns the nodes that are not declared dead, by ID. */
  list(): Promise<readonly NodeRecord[]>;
  /** Declares the node dead if it has not changed since `seen`. Returns true to exactly one of several callers. */
  fence(seen: NodeRecord): Promise<boolean>;
  /** Ends the node's epoch on an orderly shutdown. */
  leave(node: NodeRef): Promise<void>;
  /** Claims unassigned work. Returns true if the calling node holds it now. */
  claim(job: Job): Promise<boolean>;
  /** Releases the work, so that another node can claim it. Does nothing if the calling node does not hold it. */
  release(job: Job): Promise<void>;
  /** Returns the node that holds the work, or undefined if it is unassigned. */
  holder(job: Job): Promise<NodeRef | undefined>;
}

/** Handler of a one-way message from another node. */
export type Hears = (given: unknown, from: string) => void;

/** Messages between nodes. Payloads are plain data: objects, lists, text, numbers, bytes. */
export interface Bus {
  /**
   * Sends a request and returns the answer. Rejects with NODE_UNREACHABLE on timeout, or CLUSTER_UNAVAILABLE if the
   * bus is down.
   */
  ask(node: string, what: string, given: readonly unknown[]): Promise<unknown>;
  /** Sends a one-way message to all other nodes. */
  notify(what: string, given: unknown): void;
  answer(what: string, by: (...given: never[]) => Promise<unknown>): void;
  hear(what: string, by: Hears): void;
}

/**
 * Exclusive ownership by key, for example of a conference by name. An unreachable owner loses its keys to the next
 * claimant. While the cluster is unavailable, each node owns the keys that it claims; afterwards one of two owners
 * loses.
 */
export interface Claims {
  /**
   * Returns the owner of the key; an unowned key goes to this node. Held until `release` was called as often as
   * `claim`. Never rejects.
   */
  claim(key: string): Promise<string>;
  release(key: string): void;
  /** Registers a callback for keys that this node lost to another node. */
  onLost(hear: (key: string) => void): void;
}

/** Maps keys to the node that holds them. A cache, which may lack entries. */
export interface Directory {
  /** Records that this node holds the key. */
  put(key: string): void;
  drop(key: string): void;
  find(key: string): Promise<string | undefined>;
}
