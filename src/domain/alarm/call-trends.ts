/** Detects problems from the calls of the last hour: sums per minute for the node, each carrier and each account. */
import type { AccountId } from '../../base/ids.ts';
import { MICROS_PER_UNIT } from '../../base/money.ts';
import type { Cdr } from '../cdr/types.ts';
import type { AlarmLimits, Condition } from './types.ts';

const MINUTE_MS = 60_000;
const WINDOW_MINUTES = 60;
/** Window for detecting a drop. It is compared with the rest of the hour. */
const RECENT_MINUTES = 15;
/** Minimum number of attempts for a meaningful ratio. */
const ATTEMPTS_MIN = 30;
const ONE_WAY_MIN = 3;
const ONE_WAY_SHARE = 0.05;
/** MOS below which nearly all users are dissatisfied (ITU-T G.107 annex B). */
const POOR_MOS = 3;
const POOR_MIN = 3;
const POOR_SHARE = 0.05;
/** Answered time from which a call must have had audio in both directions. */
const RECEIVED_MS = 10_000;
const SHORT_MS = 10_000;
const SHORT_MIN = 50;
const SHORT_SHARE = 0.6;
/** Maximum number of tracked carriers and of tracked accounts. Further ones have no trend. */
const SUBJECTS_MAX = 5000;

interface Sums {
  minute: number;
  attempts: number;
  answered: number;
  /** Calls that were answered for at least 10 s. */
  long: number;
  oneWay: number;
  /** Long calls in which one side had poor audio. */
  poor: number;
  short: number;
  /** Sum of charges in millionths. Currencies are not distinguished, because an account has one. */
  spent: number;
}

type Figures = Omit<Sums, 'minute'>;
const NONE: Figures = { attempts: 0, answered: 0, long: 0, oneWay: 0, poor: 0, short: 0, spent: 0 };

/** Returns an account's usual spend per hour in millionths, or undefined if it has no history yet. */
export type UsualSpend = (accountId: AccountId) => number | undefined;

export class CallTrends {
  readonly #carriers = new Map<string, Sums[]>();
  readonly #accounts = new Map<AccountId, Sums[]>();
  readonly #node: Sums[] = [];

  /** Adds a call that ended at `nowMs` (monotonic). */
  observe(cdr: Cdr, nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS);
    const figures = figuresOf(cdr);
    add(this.#node, minute, figures);
    add(of(this.#accounts, cdr.accountId), minute, figures);
    if (cdr.carrier !== undefined && cdr.direction === 'outbound')
      add(of(this.#carriers, cdr.carrier), minute, figures);
  }

  /** Returns the conditions that hold at `nowMs` (monotonic). */
  conditions(limits: AlarmLimits, usualSpend: UsualSpend, nowMs: number): readonly Condition[] {
    const minute = Math.floor(nowMs / MINUTE_MS);
    this.#forget(minute);
    return [
      ...[...this.#carriers].flatMap(([name, sums]) => [
        ...ratio(name, sums, limits, minute),
        ...poor(name, sums, minute),
      ]),
      ...oneWay(this.#node, minute),
      ...poor('', this.#node, minute),
      ...[...this.#accounts].flatMap(([accountId, sums]) => {
        const hour = sum(sums, minute - WINDOW_MINUTES, minute);
        return [...shortCalls(accountId, hour), ...spend(accountId, hour, limits, usualSpend)];
      }),
    ];
  }

  #forget(minute: number): void {
    for (const subjects of [this.#carriers, this.#accounts] as Map<string, Sums[]>[]) {
      for (const [name, sums] of subjects) {
        while ((sums[0]?.minute ?? minute) <= minute - WINDOW_MINUTES) sums.shift();
        if (sums.length === 0) subjects.delete(name);
      }
    }
    while ((this.#node[0]?.minute ?? minute) <= minute - WINDOW_MINUTES) this.#node.shift();
  }
}

function figuresOf({ answerUs, endUs, quality, cost, streamingCost }: Cdr): Figures {
  const receivedMs = answerUs === undefined ? 0 : (endUs - answerUs) / 1000;
  const isLong = receivedMs >= RECEIVED_MS;
  return {
    attempts: 1,
    answered: Number(answerUs !== undefined),
    long: Number(isLong),
    oneWay: Number(isLong && quality?.unheardMs !== undefined),
    poor: Number(isLong && Math.min(quality?.mos ?? 5, quality?.peer?.mos ?? 5) < POOR_MOS),
    short: Number(answerUs !== undefined && receivedMs < SHORT_MS),
    spent: cost + streamingCost,
  };
}

function of<K>(subjects: Map<K, Sums[]>, key: K): Sums[] {
  const known = subjects.get(key);
  if (known !== undefined) return known;
  const made: Sums[] = [];
  if (subjects.size < SUBJECTS_MAX) subjects.set(key, made);
  return made;
}

function add(sums: Sums[], minute: number, figures: Figures): void {
  let last = sums.at(-1);
  if (last === undefined || last.minute !== minute) {
    last = { ...NONE, minute };
    sums.push(last);
  }
  for (const name of Object.keys(NONE) as (keyof Figures)[]) last[name] += figures[name];
}

/** Sums the minutes after `after`, up to and including `to`. */
function sum(sums: readonly Sums[], after: number, to: number): Figures {
  const total = { ...NONE };
  for (const each of sums) {
    if (each.minute <= after || each.minute > to) continue;
    for (const name of Object.keys(NONE) as (keyof Figures)[]) total[name] += each[name];
  }
  return total;
}

const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part * 1000) / whole) / 10;

function ratio(
  carrier: string,
  sums: readonly Sums[],
  { answerRatioPercent }: AlarmLimits,
  minute: number,
): readonly Condition[] {
  const now = sum(sums, minute - RECENT_MINUTES, minute);
  if (now.attempts < ATTEMPTS_MIN) return [];
  const before = sum(sums, minute - WINDOW_MINUTES, minute - RECENT_MINUTES);
  const [share, was] = [
    percent(now.answered, now.attempts),
    percent(before.answered, before.attempts),
  ];
  const hasFallen = before.attempts >= ATTEMPTS_MIN && share < was / 2;
  if (!hasFallen && share >= answerRatioPercent) return [];
  const detail = `${share} % of ${now.attempts} calls in ${RECENT_MINUTES} minutes were answered${hasFallen ? `; ${was} % before` : ''}`;
  return [{ kind: 'answer_ratio', subject: carrier, detail }];
}

function oneWay(sums: readonly Sums[], minute: number): readonly Condition[] {
  const now = sum(sums, minute - RECENT_MINUTES, minute);
  if (now.oneWay < ONE_WAY_MIN || now.oneWay < now.long * ONE_WAY_SHARE) return [];
  const detail = `${now.oneWay} of ${now.long} calls in ${RECENT_MINUTES} minutes had no audio in one direction: check rtp.publicHost, NAT and firewall`;
  return [{ kind: 'one_way_audio', subject: '', detail }];
}

function poor(subject: string, sums: readonly Sums[], minute: number): readonly Condition[] {
  const now = sum(sums, minute - RECENT_MINUTES, minute);
  if (now.poor < POOR_MIN || now.poor < now.long * POOR_SHARE) return [];
  const detail = `${now.poor} of ${now.long} calls in ${RECENT_MINUTES} minutes had a MOS below ${POOR_MOS}: check packet_loss, packet_discard and round_trip_time of their records`;
  return [{ kind: 'poor_audio', subject, detail }];
}

function shortCalls(subject: AccountId, hour: Figures): readonly Condition[] {
  if (hour.short < SHORT_MIN || hour.short < hour.answered * SHORT_SHARE) return [];
  const detail = `${hour.short} of ${hour.answered} answered calls within an hour were shorter than ${SHORT_MS / 1000} s`;
  return [{ kind: 'short_calls', subject, detail }];
}

function spend(
  subject: AccountId,
  { spent }: Figures,
  { spendFactor, spendFloor }: AlarmLimits,
  usualSpend: UsualSpend,
): readonly Condition[] {
  if (spendFactor === 0 || spent < spendFloor * MICROS_PER_UNIT) return [];
  const usual = usualSpend(subject);
  if (usual === undefined || spent <= usual * spendFactor) return [];
  const units = (millionths: number): string => (millionths / MICROS_PER_UNIT).toFixed(2);
  const detail = `${units(spent)} spent within an hour; usual: ${units(usual)}`;
  return [{ kind: 'spend', subject, detail }];
}
