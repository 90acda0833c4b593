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
      /** Maximum number of call starts per second. */
      readonly cps: number;
      /** Maximum number of simultaneous calls of the campaign. */
      readonly campaignMost: number;
      /** Maximum number of calls to one contact. */
      readonly dialsMost: number;
      readonly pulseS: number;
      /** Price of one pulse. */
      readonly pulsePrice: number;
    }
  /** A phone sent an INVITE, or the service sent one to the called party `to`. */
  | {
      readonly kind: 'placed';
      readonly atMs: number;
      readonly call: string;
      readonly node: number | undefined;
      readonly to?: string;
      /** Set if the caller canceled: an answer may have crossed it. */
      readonly gaveUp?: true;
    }
  /** The phone received 200, or the called party sent it. */
  | { readonly kind: 'answered'; readonly atMs: number; readonly call: string }
  /** The phone sent BYE, or noticed the end. `certain`: false if it never heard of the service again. */
  | {
      readonly kind: 'ended';
      readonly atMs: number;
      readonly call: string;
      readonly certain: boolean;
    }
  /**
   * A REST request that changes or reads the balance, from its start to its response. All attempts of a credit have the same
   * key, or the same description if it has no key; it then has a single attempt.
   */
  | {
      readonly kind: 'credit';
      readonly fromMs: number;
      readonly toMs: number;
      readonly key: string;
      readonly amount: number;
      /** 2xx: booked. 4xx: not booked. Others and undefined (no response): unknown. */
      readonly status: number | undefined;
    }
  /** A REST request to call `to`, from its start to its response. All attempts to call a number have the same key. */
  | {
      readonly kind: 'request';
      readonly fromMs: number;
      readonly toMs: number;
      readonly to: string;
      /** As for a credit. 409: the result of an earlier attempt is unknown. */
      readonly status: number | undefined;
    }
  | {
      readonly kind: 'balance';
      readonly fromMs: number;
      readonly toMs: number;
      readonly balance: number;
    }
  /** A request for a callback URL. `content` is its body and its idempotency key. */
  | {
      readonly kind: 'callback';
      readonly atMs: number;
      readonly event: string;
      readonly call: string;
      readonly content: string;
      /** Whether the receiver acknowledged it. */
      readonly accepted: boolean;
      /** How the call ended, as `record` has it; only for Hangup. */
      readonly end?: string;
      /** Set if the response asked for a recording of the call. */
      readonly records?: true;
    }
  /** The called party of a campaign call received an INVITE. */
  | {
      readonly kind: 'dialed';
      readonly fromMs: number;
      /** Time of its answer; 0 without one. */
      readonly atMs: number;
      /** Time of the end that it knows; 0 without one. */
      readonly endMs: number;
      readonly number: string;
      readonly answered: boolean;
      readonly node: number | undefined;
    }
  /** A contact of the campaign after the run. */
  | { readonly kind: 'contact'; readonly number: string; readonly status: string }
  /** A recording that the service lists after the run; `call` is the UUID of the call. */
  | { readonly kind: 'recording'; readonly call: string }
  /** An injected fault begins or ends. */
  | {
      readonly kind: 'fault';
      readonly atMs: number;
      readonly name: string;
      readonly node?: number;
      /** Present at the begin of a fault during which the node is stopped or cut off from all others: its end. */
      readonly isolatedUntilMs?: number;
      /** `kill`: the node ends without warning. `disk`, `store`: its files or the database cannot be written. */
      readonly effect?: 'kill' | 'disk' | 'store';
    }
  /** A request without work, or a timer of the clients, took this much longer than it should: the machine is busy. */
  | { readonly kind: 'late'; readonly atMs: number; readonly byMs: number }
  /** Records and ledger as the service lists them after the run. */
  | {
      readonly kind: 'record';
      /** Call-ID of the phone; empty if no INVITE was sent to one. */
      readonly call: string;
      readonly uuid: string;
      readonly to: string;
      readonly answered: boolean;
      readonly billsec: number;
      readonly cost: number;
      readonly streamCost: number;
      /** How the call ended, in the words of the hangup callback. */
      readonly end: string;
    }
  | {
      readonly kind: 'entry';
      readonly id: string;
      readonly type: string;
      readonly amount: number;
      /** `cdr:<call uuid>` for a charge of a call, `stream_cdr:<id>` for one of a stream; the key of a credit otherwise. */
      readonly reference: string;
    }
  | {
      readonly kind: 'end';
      readonly balance: number;
      readonly reserved: number;
      readonly slotsUsed: number;
    };

export type Of<K extends Observation['kind']> = Extract<Observation, { readonly kind: K }>;
