/** Runs a transition table, the common structure of the four transactions. */
import { TimerSet } from '../../../base/timer-set.ts';
import type { TransactionId, TransactionOutput } from './types.ts';

/** Failure reports that every transaction can make to its user. */
export type Report = 'reportTimeout' | 'reportTransportError';

type Cell<State, Action> = readonly [next: State, ...actions: (Action | Report)[]];

/**
 * `table[state][event]` is the next state followed by actions. Events without a cell are ignored in that state. Timers
 * are events too; a state change stops timers without a cell in the new state.
 */
export type Table<State extends string, Event extends string, Action extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, Cell<State, Action>>>>>
>;

export interface Shape<State extends string, Event extends string, Action extends string> {
  readonly table: Table<State | 'terminated', Event, Action>;
  readonly initial: State;
}

/** Granularity in milliseconds of timers that only end a transaction, so that one wakeup ends many. */
const ENDS_TOGETHER_MS = 100;
const NONE: readonly never[] = [];

export abstract class TableMachine<
  State extends string,
  Event extends string,
  Timer extends Event,
  Action extends string,
> {
  readonly id: TransactionId;
  queuedMs: number | undefined;
  readonly #shape: Shape<State, Event, Action>;
  readonly #timers = new TimerSet<Timer>();
  #state: State | 'terminated';
  #outputs: readonly TransactionOutput[] = NONE;

  constructor(id: TransactionId, shape: Shape<State, Event, Action>) {
    this.id = id;
    this.#shape = shape;
    this.#state = shape.initial;
  }

  get state(): State | 'terminated' {
    return this.#state;
  }

  expire(nowMs: number): readonly TransactionOutput[] {
    for (const timer of this.#timers.takeDue(nowMs)) this.fire(timer, nowMs);
    return this.takeOutputs();
  }

  deadlineMs(): number | undefined {
    return this.#timers.deadlineMs();
  }

  protected abstract perform(action: Action, nowMs: number): void;

  protected fire(event: Event, nowMs: number): void {
    const { table } = this.#shape;
    const cell: Cell<State | 'terminated', Action> | undefined = table[this.#state][event];
    if (cell === undefined) return;
    const next = cell[0];
    if (next !== this.#state) {
      this.#state = next;
      const row = table[next];
      this.#timers.keepOnly((timer) => row[timer] !== undefined);
    }
    for (let at = 1; at < cell.length; at += 1) this.#act(cell[at] as Action | Report, nowMs);
    if (next === 'terminated') this.emit({ kind: 'terminated', transaction: this.id });
  }

  #act(action: Action | Report, nowMs: number): void {
    if (action === 'reportTimeout') this.emit({ kind: 'timeout', transaction: this.id });
    else if (action === 'reportTransportError') {
      this.emit({ kind: 'transportError', transaction: this.id });
    } else this.perform(action, nowMs);
  }

  protected arm(timer: Timer, dueMs: number): void {
    this.#timers.set(timer, dueMs);
  }

  /** Arms the end of the transaction after `waitMs`, rounded up; immediately if it is 0. */
  protected armEnd(timer: Timer, waitMs: number, nowMs: number): void {
    const dueMs = nowMs + waitMs;
    this.arm(timer, waitMs === 0 ? dueMs : Math.ceil(dueMs / ENDS_TOGETHER_MS) * ENDS_TOGETHER_MS);
  }

  protected emit(output: TransactionOutput): void {
    this.#outputs = this.#outputs === NONE ? [output] : this.#outputs.concat(output);
  }

  protected takeOutputs(): readonly TransactionOutput[] {
    const outputs = this.#outputs;
    this.#outputs = NONE;
    return outputs;
  }
}
