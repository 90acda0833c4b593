/**
 * Issues one-time credentials with which another node may place one call to this node within 5 s. The bus delivers
 * the name and the password. Calls between nodes without a ticket are refused.
 */
import type { Clock } from '../../base/clock.ts';
import { type Random, uuid } from '../../base/ids.ts';

const GOOD_MS = 5000;
const PASSWORD_BYTES = 24;

export interface Ticket {
  readonly username: string;
  readonly password: string;
}

interface Issued {
  readonly password: string;
  readonly host: string;
  readonly take: (leg: never) => void;
  readonly close: () => void;
}

export class NodeTickets {
  readonly #clock: Pick<Clock, 'at' | 'monotonicMs'>;
  readonly #random: Random;
  readonly #issued = new Map<string, Issued>();
  /** Number of open tickets per source address. */
  readonly #hosts = new Map<string, number>();

  constructor(clock: Pick<Clock, 'at' | 'monotonicMs'>, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Issues a ticket for one call from `host`. `lapsed` is called if the call does not arrive in time. */
  issue<Leg>(host: string, to: { take(leg: Leg): void; lapsed(): void }): Ticket {
    const username = `node.${uuid(this.#random)}`;
    const password = Buffer.from(this.#random.bytes(PASSWORD_BYTES)).toString('base64url');
    const cancel = this.#clock.at(this.#clock.monotonicMs() + GOOD_MS, () => {
      this.#issued.get(username)?.close();
      to.lapsed();
    });
    this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + 1);
    const close = (): void => {
      cancel();
      this.#issued.delete(username);
      const left = (this.#hosts.get(host) ?? 1) - 1;
      if (left === 0) this.#hosts.delete(host);
      else this.#hosts.set(host, left);
    };
    this.#issued.set(username, { password, host, take: (leg) => to.take(leg), close });
    return { username, password };
  }

  /** Returns the password of a ticket, or undefined if it does not exist or has expired. */
  passwordOf(username: string): string | undefined {
    return this.#issued.get(username)?.password;
  }

  /** Passes the call that presented the ticket to its receiver. Returns false if the ticket is invalid. */
  redeem(username: string | undefined, leg: unknown): boolean {
    const issued = username === undefined ? undefined : this.#issued.get(username);
    if (issued === undefined) return false;
    issued.close();
    issued.take(leg as never);
    return true;
  }

  /** Returns whether a call with a ticket is expected from that address. */
  expects(address: string): boolean {
    return this.#hosts.has(address);
  }
}
