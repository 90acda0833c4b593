import { noOperation } from '../../../base/no-operation.ts';
import type { Call } from '../../call/call.ts';
import type { Refer } from '../../call/needs.ts';
import type { VerbContext } from '../needs.ts';

/**
 * Time that an early REFER waits for the connection, in ms. Its sender retransmits after at most T2 (RFC 3261
 * §17.1.2.2).
 */
const TIMEOUT_MS = 4000;
/** REFERs that wait. Further ones are refused: at most one can succeed. */
const MAX_WAITING = 10;

/**
 * Handles REFERs from both parties of a Dial. A called party may send REFER after its answer but before both parties
 * are connected. Such a REFER is queued until then.
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
    this.#undo = parties.map((by) =>
      by.observe({ referred: (refer) => this.#received(refer, by) }),
    );
  }

  /** Processes queued REFERs, and later ones immediately. */
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

  #received(refer: Refer, by: Call): void {
    if (this.#waiting === undefined) {
      this.#deal(refer, by);
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      refer.refuse();
      return;
    }
    if (this.#waiting.push({ refer, by }) > 1) return;
    const dueMs = this.#clock.monotonicMs() + TIMEOUT_MS;
    this.#cancelWait = this.#clock.at(dueMs, () => this.#refuse());
  }

  #refuse(): void {
    for (const { refer } of this.#waiting?.splice(0) ?? []) refer.refuse();
  }
}
