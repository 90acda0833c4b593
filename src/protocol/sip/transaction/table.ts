/** Finds transactions by key, ID, connection and deadline. */
import { Fifo } from '../../../base/fifo.ts';
import { ownCopy } from '../../../base/text.ts';
import type { SipRequest } from '../message.ts';
import type { ClientTransaction } from './client.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import { mergeKey } from './key.ts';
import type { ServerTransaction } from './server.ts';
import type { TransactionId } from './types.ts';

type AnyTransaction = ClientTransaction | ServerTransaction;

interface Keyed<T> {
  readonly key: string;
  readonly machine: T;
}

interface KeyedServer extends Keyed<ServerTransaction> {
  /** Merge key, or undefined if duplicates of the request are allowed. */
  readonly merge: string | undefined;
}

export class TransactionTable {
  readonly #clients = new Map<TransactionId, Keyed<ClientTransaction>>();
  readonly #servers = new Map<TransactionId, KeyedServer>();
  readonly #clientByKey = new Map<string, ClientTransaction>();
  readonly #serverByKey = new Map<string, ServerTransaction>();
  readonly #byMergeKey = new Map<string, ServerTransaction>();
  readonly #byConnection = new Map<number, Set<ClientTransaction>>();
  /**
   * Answered transactions kept for retransmission, oldest first; the head has not expired. INVITE transactions are
   * excluded.
   */
  readonly #answered = new Fifo<{ readonly machine: ServerTransaction; readonly atMs: number }>();
  readonly #deadlines = new DeadlineQueue<AnyTransaction>();

  get clientCount(): number {
    return this.#clients.size;
  }

  get serverCount(): number {
    return this.#servers.size;
  }

  addClient(keyOfRequest: string, machine: ClientTransaction): void {
    const key = ownCopy(keyOfRequest);
    this.#clients.set(machine.id, { key, machine });
    this.#clientByKey.set(key, machine);
    const { connectionId } = machine.flow;
    if (connectionId === undefined) return;
    const siblings = this.#byConnection.get(connectionId) ?? new Set();
    this.#byConnection.set(connectionId, siblings.add(machine));
  }

  /**
   * Adds a transaction. Entries are kept for half a minute and do not reference the request text. `mergeText`: see
   * `mergeKeyOf`.
   */
  addServer(keyOfRequest: string, machine: ServerTransaction, mergeText: string | undefined): void {
    const key = ownCopy(keyOfRequest);
    const merge = mergeText === undefined ? undefined : ownCopy(mergeText);
    this.#servers.set(machine.id, { key, machine, merge });
    this.#serverByKey.set(key, machine);
    if (merge !== undefined && !this.#byMergeKey.has(merge)) this.#byMergeKey.set(merge, machine);
  }

  client(id: TransactionId): ClientTransaction | undefined {
    return this.#clients.get(id)?.machine;
  }

  server(id: TransactionId): ServerTransaction | undefined {
    return this.#servers.get(id)?.machine;
  }

  clientByKey(key: string): ClientTransaction | undefined {
    return this.#clientByKey.get(key);
  }

  serverByKey(key: string): ServerTransaction | undefined {
    return this.#serverByKey.get(key);
  }

  clientsOf(connectionId: number): readonly ClientTransaction[] {
    return [...(this.#byConnection.get(connectionId) ?? [])];
  }

  /** Returns whether the request already arrived by another path (RFC 3261 §8.2.2.2). */
  isMerged(merge: string | undefined): boolean {
    return merge !== undefined && this.#byMergeKey.has(merge);
  }

  forgetMerge(machine: ServerTransaction): void {
    const merge = this.#servers.get(machine.id)?.merge;
    if (merge !== undefined && this.#byMergeKey.get(merge) === machine)
      this.#byMergeKey.delete(merge);
  }

  noteAnswered(machine: ServerTransaction, nowMs: number): void {
    this.#answered.push({ machine, atMs: nowMs });
  }

  /** Transaction answered first, if that was at or before `untilMs`. */
  longestAnswered(untilMs: number): ServerTransaction | undefined {
    const oldest = this.#answered.first();
    return oldest !== undefined && oldest.atMs <= untilMs ? oldest.machine : undefined;
  }

  updateDeadline(machine: AnyTransaction): void {
    this.#deadlines.update(machine);
  }

  takeDue(nowMs: number): AnyTransaction | undefined {
    return this.#deadlines.takeDue(nowMs);
  }

  deadlineMs(): number | undefined {
    return this.#deadlines.deadlineMs();
  }

  remove(machine: AnyTransaction): void {
    this.#deadlines.remove(machine);
    const client = this.#clients.get(machine.id);
    if (client !== undefined) this.#removeClient(client);
    const server = this.#servers.get(machine.id);
    if (server === undefined) return;
    this.forgetMerge(server.machine);
    this.#servers.delete(machine.id);
    if (this.#serverByKey.get(server.key) === server.machine) this.#serverByKey.delete(server.key);
    this.#forgetAnswered();
  }

  #forgetAnswered(): void {
    for (;;) {
      const oldest = this.#answered.first();
      if (oldest === undefined || this.#servers.has(oldest.machine.id)) return;
      this.#answered.shift();
    }
  }

  #removeClient({ key, machine }: Keyed<ClientTransaction>): void {
    this.#clients.delete(machine.id);
    if (this.#clientByKey.get(key) === machine) this.#clientByKey.delete(key);
    const { connectionId } = machine.flow;
    if (connectionId === undefined) return;
    const siblings = this.#byConnection.get(connectionId);
    siblings?.delete(machine);
    if (siblings?.size === 0) this.#byConnection.delete(connectionId);
  }
}

/** Merge key of requests without To tag. A CANCEL has none, because it shares the CSeq number of its INVITE. */
export const mergeKeyOf = (request: SipRequest): string | undefined =>
  request.to.tag === undefined && request.method !== 'CANCEL' ? mergeKey(request) : undefined;
