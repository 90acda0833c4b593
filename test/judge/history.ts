/**
 * History of a run: what clients did and observed, in the order of observation. Written by `run.ts`, judged by `model.ts`,
 * stored as one JSON object per line. Times are milliseconds of one monotonic clock. Amounts are integers, millionths.
 */
export type Observation =
  /** Terms of the account, before everything else. */
  | {
      readonly kind: 'account';
      readonly balance: number;
      /** Maximum number of simultaneous calls. */
      readonly slots: number;
      readonly pulseS: number;
      /** Price of one pulse. */
      readonly pulsePrice: number;
    }
  /** A phone sent an INVITE. */
  | { readonly kind: 'placed'; readonly atMs: number; readonly call: string; readonly node: number }
  /** The phone received 200. */
  | { readonly kind: 'answered'; readonly atMs: number; readonly call: string }
  /** The phone sent BYE, or noticed the end. `certain`: false if it never heard of the service again. */
  | {
      readonly kind: 'ended';
      readonly atMs: number;
      readonly call: string;
      readonly certain: boolean;
    }
  /** A REST request that changes or reads the balance, from its start to its response. */
  | {
      readonly kind: 'credit';
      readonly fromMs: number;
      readonly toMs: number;
      readonly key: string;
      readonly amount: number;
      /** 2xx: booked. 4xx: not booked. Others and undefined (no response): unknown. */
      readonly status: number | undefined;
    }
  | {
      readonly kind: 'balance';
      readonly fromMs: number;
      readonly toMs: number;
      readonly balance: number;
    }
  /** A request for a callback URL. `content` is the body without values that a repetition may change. */
  | {
      readonly kind: 'callback';
      readonly atMs: number;
      readonly event: string;
      readonly call: string;
      readonly content: string;
    }
  /** The called party of a campaign call received an INVITE. */
  | {
      readonly kind: 'dialed';
      /** Time of its answer; 0 without one. */
      readonly atMs: number;
      readonly number: string;
      readonly answered: boolean;
    }
  /** An injected fault begins or ends. */
  | {
      readonly kind: 'fault';
      readonly atMs: number;
      readonly name: string;
      readonly node?: number;
      /** Present at the begin of a fault during which the node is stopped or cut off from all others: its end. */
      readonly isolatedUntilMs?: number;
    }
  /** A request without work, or a timer of the clients, took this much longer than it should: the machine is busy. */
  | { readonly kind: 'late'; readonly atMs: number; readonly byMs: number }
  /** Records and ledger as the service lists them after the run. */
  | {
      readonly kind: 'record';
      readonly call: string;
      readonly uuid: string;
      readonly answered: boolean;
      readonly billsec: number;
      readonly cost: number;
    }
  | {
      readonly kind: 'entry';
      readonly id: string;
      readonly type: string;
      readonly amount: number;
      /** `cdr:<call uuid>` for a charge; the key of a credit otherwise. */
      readonly reference: string;
    }
  | {
      readonly kind: 'end';
      readonly balance: number;
      readonly reserved: number;
      readonly slotsUsed: number;
    };

export type Of<K extends Observation['kind']> = Extract<Observation, { readonly kind: K }>;
