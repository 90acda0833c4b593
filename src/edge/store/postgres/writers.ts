import { RecentMap } from '../../../base/recent-map.ts';
import type { Executor } from '../executor.ts';
import type { Unit } from '../unit.ts';

/** Maximum number of calls whose writer is remembered. */
const CALLS_LIMIT = 200_000;

interface OfCall {
  readonly cdr: { readonly callUuid: string; readonly accountId: string };
}
interface Owned {
  readonly accountId: string;
}

/**
 * Selects the connection for each unit that writes. All calls and money of an account use the same connection, which keeps
 * their order and avoids lock waits. Everything else uses the first connection.
 */
export class Writers {
  readonly #executors: readonly Executor[];
  readonly #byCall = new RecentMap<number>(CALLS_LIMIT);

  constructor(executors: readonly Executor[]) {
    this.#executors = executors;
  }

  get all(): readonly Executor[] {
    return this.#executors;
  }

  get first(): Executor {
    return this.#executors[0] as Executor;
  }

  of(unit: Unit): Executor {
    return this.#executors[this.#indexOf(unit)] as Executor;
  }

  #indexOf({ repository, operation, given }: Unit): number {
    const [first, second] = given;
    switch (`${repository}.${operation}`) {
      case 'calls.open':
      case 'calls.openAhead':
      case 'calls.update':
      case 'calls.settle':
      case 'calls.discard': {
        const { callUuid, accountId } = (first as OfCall).cdr;
        const index = this.#hash(accountId);
        this.#byCall.set(callUuid, index);
        return index;
      }
      case 'calls.extendReservation':
      case 'callLogs.put':
        return this.#byCall.get(String(first)) ?? 0;
      case 'ledger.post':
        return this.#hash((first as readonly Owned[])[0]?.accountId);
      case 'ledger.reserve':
      case 'ledger.chargeUse':
      case 'ledger.postPending':
        return this.#hash((first as Owned).accountId);
      case 'ledger.release':
        return this.#hash((second as readonly Owned[])[0]?.accountId);
      default:
        return 0;
    }
  }

  #hash(accountId: string | undefined): number {
    let hash = 0;
    for (const character of accountId ?? '')
      hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
    return hash % this.#executors.length;
  }
}
