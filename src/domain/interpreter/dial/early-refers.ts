import { noOperation } from '../../../base/no-operation.ts';
import type { Call } from '../../call/call.ts';
import type { Refer } from '../../call/needs.ts';
import type { VerbContext } from '../needs.ts';

/** So long a REFER waits for the conversation that it is about; its sender asks again after T2 at the latest (RFC 3261 §17.1.2.2). */
const PATIENCE_MS = 4000;

/**
 * REFERs of the two parties of a Dial. A called party may send one as soon as it has answered, while its caller's 200 is still on its
 * way: that waits until both are connected.
 */
export class EarlyRefers {
  readonly #deal: (refer: Refer, by: Call) => void;
  readonly #undo: readonly (() => void)[];
  readonly #clock: VerbContext['needs']['clock'];
  #cancelWait: () => void = noOperation;
  #waiting: { readonly refer: Refer; readonly by: Call }[] | undefined = [];

  constructor(
    parties: readonly Call[],
    { clock }: Pick<VerbContext['needs'], 'clock'>,
    deal: (refer: Refer, by: Call) => void,
  ) {
    this.#deal = deal;
    this.#clock = clock;
    this.#undo = parties.map((by) => by.observe({ referred: (refer) => this.#heard(refer, by) }));
  }

  /** From now on each is dealt with at once. */
  connected(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#cancelWait();
    for (const { refer, by } of waiting) this.#deal(refer, by);
  }

  stop(): void {
    for (const undo of this.#undo) undo();
    this.#cancelWait();
    this.#refuse();
  }

  #heard(refer: Refer, by: Call): void {
    if (this.#waiting === undefined) {
      this.#deal(refer, by);
      return;
    }
    if (this.#waiting.push({ refer, by }) > 1) return;
    const dueMs = this.#clock.monotonicMs() + PATIENCE_MS;
    this.#cancelWait = this.#clock.at(dueMs, () => this.#refuse());
  }

  #refuse(): void {
    for (const { refer } of this.#waiting?.splice(0) ?? []) refer.refuse();
  }
}
