/** Free file descriptors of this process: without one it accepts no connection and opens no port for a call. */
import { closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { RepeatedTask } from '../base/repeated-task.ts';

export interface DescriptorNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Reads how many descriptors are open and how many may be. Default: of this process. */
  readonly count?: () => DescriptorCount;
  /** Called with a cause when descriptors run out, and with undefined once enough are free again. */
  readonly onChange: (cause: string | undefined) => void;
}

export interface DescriptorCount {
  readonly open: number;
  readonly limit: number;
}

const EVERY_MS = 500;
/** Fewer free descriptors are too few: a share of the limit, within these bounds. */
const LOW_SHARE = 0.05;
const LOW_MIN = 24;
const LOW_MAX = 64;
/** Held open from the start and closed while descriptors are low, so that `/readyz` can still be answered. */
const RESERVE = 8;

/** Counts twice a second. SIP connections are refused early, so that the operator's HTTP requests still find a descriptor. */
export class DescriptorWatch {
  readonly #needs: DescriptorNeeds;
  readonly #rounds: RepeatedTask;
  readonly #reserve: number[] = [];
  #last: DescriptorCount = { open: 0, limit: Number.POSITIVE_INFINITY };
  /** Connections accepted since the last count. */
  #accepted = 0;
  #cause: string | undefined;

  constructor(needs: DescriptorNeeds) {
    this.#needs = needs;
    this.#rounds = new RepeatedTask({
      clock: needs.clock,
      everyMs: EVERY_MS,
      round: async () => this.look(),
    });
  }

  start(): void {
    this.#fillReserve();
    this.look();
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
    this.#releaseReserve();
  }

  /** Open descriptors and their limit at the last count. */
  get count(): DescriptorCount {
    return this.#last;
  }

  /** Whether a SIP connection that has just been accepted may stay. */
  mayKeep(): boolean {
    this.#accepted += 1;
    const { open, limit } = this.#last;
    return limit - open - this.#accepted > lowMark(limit) / 2;
  }

  /** Counts now. */
  look(): void {
    const { logger, onChange, count = countOwn } = this.#needs;
    const { open, limit } = count();
    this.#last = { open, limit };
    this.#accepted = 0;
    const low = lowMark(limit);
    const free = limit - open;
    const isLow = free < (this.#cause === undefined ? low : 2 * low);
    if (isLow === (this.#cause !== undefined)) return;
    if (isLow) {
      this.#cause = `file descriptors run out: ${open} of ${limit} are open (ulimit -n)`;
      this.#releaseReserve();
      logger.error({ open, limit }, 'no new calls: file descriptors run out');
    } else {
      this.#cause = undefined;
      this.#fillReserve();
      logger.warn({ open, limit }, 'file descriptors are free again');
    }
    onChange(this.#cause);
  }

  #fillReserve(): void {
    try {
      while (this.#reserve.length < RESERVE) this.#reserve.push(openSync('/dev/null', 'r'));
    } catch {
      // No descriptor is free; the next count reports it.
    }
  }

  #releaseReserve(): void {
    for (const descriptor of this.#reserve.splice(0)) closeSync(descriptor);
  }
}

const lowMark = (limit: number): number =>
  Math.min(LOW_MAX, Math.max(LOW_MIN, Math.floor(limit * LOW_SHARE)));

let knownLimit = Number.POSITIVE_INFINITY;

/** A process without a free descriptor cannot read files of /proc: then all of the last known limit are open. */
function countOwn(): DescriptorCount {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    knownLimit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? knownLimit);
    // Linux 6.2 and later give the number as the size of the folder; before, it is 0.
    const open = statSync('/proc/self/fd').size || readdirSync('/proc/self/fd').length;
    return { open, limit: knownLimit };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isFull = code === 'EMFILE' || code === 'ENFILE';
    return { open: isFull ? knownLimit : 0, limit: knownLimit };
  }
}
