/**
 * Decides whether a history is valid. Single-threaded, written from the specification, without code of the service.
 *
 * Promises that it checks:
 * - C1 Each call whose answer was stored has exactly one record; each record belongs to a placed call.
 * - C2 The billed time of a record fits the observed call.
 * - M1 Each record costs the price of its started pulses, and has exactly one charge with that amount.
 * - M2 An acknowledged credit is booked exactly once, a refused one never, an unknown one at most once.
 * - M3 The final balance is the sum of all entries; nothing stays reserved.
 * - M4 Balance reads are linearizable: each equals the balance after some set of entries that real time allows.
 * - L1 Never more simultaneous calls than slots; no slot stays in use.
 * - B1 Each record of an answered call was reported by a hangup callback; repetitions have the same content.
 * - B2 No callback of a call begins after its hangup callback was first received, except repetitions.
 * - D1 No contact of a campaign is dialed again after it answered.
 */
import type { Observation, Of } from './history.ts';

export interface Violation {
  /** Promise, for example `M1`. */
  readonly rule: string;
  readonly text: string;
  /** Calls, keys or numbers that are involved; used to shorten the history. */
  readonly about: readonly string[];
}

/** Time in ms by which observations at both ends may differ: the network, the event loop, and a busy machine. */
const SKEW_MS = 1500;
/** Time in ms by which the record of a killed node may be shorter or longer than the call: heartbeats and takeover. */
const TAKEOVER_MS = 15_000;
/** Time in ms from the 200 that a caller receives until the answer is stored: the ACK and one transaction. */
const STORED_MS = 500;
/** Time in ms after which a stopped or isolated node may be declared dead. Its calls then need no slot. */
const DEAD_MS = 5000;
/** Time in ms by which a client may see an answer after the fault of the node that had sent it. */
const SEEN_MS = 200;
/** Time in ms for the response of a callback receiver that died with its request. */
const CALLBACK_SKEW_MS = 200;

type Kind = Observation['kind'];

export function judge(history: readonly Observation[]): readonly Violation[] {
  const of = <K extends Kind>(kind: K): readonly Of<K>[] =>
    history.filter((one): one is Of<K> => one.kind === kind);
  const [account] = of('account');
  const [end] = of('end');
  if (account === undefined || end === undefined)
    return [{ rule: 'history', text: 'the history has no account or no end', about: [] }];
  const facts = {
    account,
    end,
    placed: byCall(of('placed')),
    answered: byCall(of('answered')),
    ended: byCall(of('ended')),
    records: of('record'),
    entries: of('entry'),
    faults: of('fault'),
    late: of('late'),
  };
  return [
    ...records(facts),
    ...durations(facts),
    ...charges(facts),
    ...credits(facts, of('credit')),
    ...sums(facts),
    ...reads(facts, of('balance'), of('credit')),
    ...slots(facts),
    ...callbacks(facts, of('callback')),
    ...contacts(facts, of('dialed')),
  ];
}

interface Facts {
  readonly account: Of<'account'>;
  readonly end: Of<'end'>;
  readonly placed: ReadonlyMap<string, Of<'placed'>>;
  readonly answered: ReadonlyMap<string, Of<'answered'>>;
  readonly ended: ReadonlyMap<string, Of<'ended'>>;
  readonly records: readonly Of<'record'>[];
  readonly entries: readonly Of<'entry'>[];
  readonly faults: readonly Of<'fault'>[];
  readonly late: readonly Of<'late'>[];
}

const byCall = <T extends { readonly call: string }>(list: readonly T[]): ReadonlyMap<string, T> =>
  new Map(list.map((one) => [one.call, one]));

function groups<T>(
  list: readonly T[],
  keyOf: (one: T) => string,
): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const one of list) {
    const key = keyOf(one);
    const group = found.get(key);
    if (group === undefined) found.set(key, [one]);
    else group.push(one);
  }
  return found;
}

/** C1. */
function records(facts: Facts): readonly Violation[] {
  const { placed, answered, records: all } = facts;
  const violations: Violation[] = [];
  const found = groups(all, ({ call }) => call);
  for (const call of answered.keys()) {
    const own = (found.get(call) ?? []).filter((record) => record.answered);
    if (own.length === 0 && wasCutShort(facts, call)) continue;
    if (own.length !== 1)
      violations.push({
        rule: 'C1',
        text: `the answered call ${call} has ${own.length} records`,
        about: [call],
      });
  }
  for (const [call, own] of found) {
    if (!placed.has(call))
      violations.push({
        rule: 'C1',
        text: `a record names the unknown call ${call}`,
        about: [call],
      });
    if (own.length > 1)
      violations.push({ rule: 'C1', text: `${call} has ${own.length} records`, about: [call] });
  }
  return violations;
}

const wasCutShort = (facts: Facts, call: string): boolean =>
  isUnstored(facts, facts.answered.get(call)?.atMs ?? 0, facts.placed.get(call)?.node);

/**
 * Whether a fault of the node, or of any node if it is not known, began before the node can have stored an answer: a call
 * counts as answered from then on.
 */
function isUnstored(facts: Facts, atMs: number, node: number | undefined): boolean {
  const lateMs = lateness(facts, atMs);
  return facts.faults.some(
    (fault) =>
      fault.node !== undefined &&
      fault.node === (node ?? fault.node) &&
      fault.atMs >= atMs - SEEN_MS - lateMs &&
      fault.atMs <= atMs + STORED_MS + lateMs,
  );
}

/** C2. A call that a fault may have touched has the wider tolerance. */
function durations(facts: Facts): readonly Violation[] {
  const { answered, ended, records: all, placed } = facts;
  const violations: Violation[] = [];
  for (const { call, answered: isAnswered, billsec } of all) {
    const [begin, over] = [answered.get(call), ended.get(call)];
    if (!isAnswered || begin === undefined || over === undefined) continue;
    const isTouched = touched(facts, placed.get(call)?.atMs ?? begin.atMs, over.atMs);
    const busyMs = lateness(facts, begin.atMs, over.atMs);
    const toleranceMs = (isTouched || !over.certain ? TAKEOVER_MS : SKEW_MS) + busyMs;
    const observedMs = over.atMs - begin.atMs;
    // Billed seconds are whole seconds, rounded up.
    const differsMs = Math.abs(billsec * 1000 - observedMs) - 1000;
    if (differsMs > toleranceMs)
      violations.push({
        rule: 'C2',
        text: `${call} lasted ${(observedMs / 1000).toFixed(1)} s, and ${billsec} s are billed`,
        about: [call],
      });
  }
  return violations;
}

/** Whether a fault began or ended while the call was active, or shortly before. */
const touched = ({ faults }: Facts, fromMs: number, toMs: number): boolean =>
  faults.some(({ atMs }) => atMs > fromMs - TAKEOVER_MS && atMs < toMs + TAKEOVER_MS);

/** By how much observations around these times may be late, because the machine was busy. */
const lateness = ({ late }: Facts, ...timesMs: readonly number[]): number =>
  timesMs.reduce((sum, timeMs) => {
    const near = late.filter(({ atMs, byMs }) => Math.abs(atMs - timeMs) < byMs + SKEW_MS);
    return sum + Math.max(0, ...near.map(({ byMs }) => byMs));
  }, 0);

/** M1. */
function charges({ account, records: all, entries }: Facts): readonly Violation[] {
  const violations: Violation[] = [];
  const debits = groups(
    entries.filter(({ type }) => type === 'debit'),
    ({ reference }) => reference,
  );
  for (const { call, uuid, answered, billsec, cost } of all) {
    const pulses = Math.ceil(Math.max(billsec, answered ? 1 : 0) / account.pulseS);
    const price = answered ? pulses * account.pulsePrice : 0;
    if (cost !== price)
      violations.push({
        rule: 'M1',
        text: `${call}: ${billsec} s cost ${price}, the record says ${cost}`,
        about: [call],
      });
    const own = debits.get(`cdr:${uuid}`) ?? [];
    const wanted = cost > 0 ? 1 : 0;
    if (own.length !== wanted || own.some(({ amount }) => amount !== cost))
      violations.push({
        rule: 'M1',
        text: `${call} costs ${cost} and was charged [${own.map(({ amount }) => amount).join(', ')}]`,
        about: [call],
      });
  }
  const known = new Set(all.map(({ uuid }) => `cdr:${uuid}`));
  for (const reference of debits.keys()) {
    if (reference.startsWith('cdr:') && !known.has(reference))
      violations.push({
        rule: 'M1',
        text: `a charge names no record: ${reference}`,
        about: [reference],
      });
  }
  return violations;
}

/** M2. */
function credits({ entries }: Facts, all: readonly Of<'credit'>[]): readonly Violation[] {
  const violations: Violation[] = [];
  const booked = groups(
    entries.filter(({ type }) => type === 'credit'),
    ({ reference }) => reference,
  );
  for (const [key, attempts] of groups(all, (one) => one.key)) {
    const own = booked.get(key) ?? [];
    const statuses = attempts.map(({ status }) => status);
    const isAcknowledged = statuses.some((status) => status !== undefined && status < 300);
    const isRefused = statuses.every(
      (status) => status !== undefined && status >= 400 && status < 500,
    );
    const [least, most] = isAcknowledged ? [1, 1] : [0, isRefused ? 0 : 1];
    if (own.length < least || own.length > most)
      violations.push({
        rule: 'M2',
        text: `the credit ${key} (${statuses.join(', ')}) is booked ${own.length} times`,
        about: [key],
      });
    const [{ amount } = { amount: 0 }] = attempts;
    if (own.some((entry) => entry.amount !== amount))
      violations.push({
        rule: 'M2',
        text: `the credit ${key} is booked with another amount`,
        about: [key],
      });
  }
  return violations;
}

const signed = ({ type, amount }: Of<'entry'>): number => (type === 'credit' ? amount : -amount);

/** M3. */
function sums({ account, entries, end }: Facts): readonly Violation[] {
  const violations: Violation[] = [];
  const ids = new Set(entries.map(({ id }) => id));
  if (ids.size !== entries.length)
    violations.push({ rule: 'M3', text: 'an entry is listed twice', about: [] });
  const sum = entries.reduce((total, entry) => total + signed(entry), account.balance);
  if (sum !== end.balance)
    violations.push({
      rule: 'M3',
      text: `the entries sum to ${sum}, the balance is ${end.balance}`,
      about: [],
    });
  if (end.reserved !== 0)
    violations.push({ rule: 'M3', text: `${end.reserved} stay reserved`, about: [] });
  return violations;
}

interface Window {
  readonly change: number;
  /** The entry cannot be visible before. */
  readonly fromMs: number;
  /** The entry must be visible from then on; infinite without an acknowledgment. */
  readonly byMs: number;
}

/**
 * M4. Entries may become visible anywhere within their windows. A read is possible if required entries plus some subset of
 * the possible ones give its balance.
 */
function reads(
  facts: Facts,
  all: readonly Of<'balance'>[],
  requests: readonly Of<'credit'>[],
): readonly Violation[] {
  const windows = windowsOf(facts, requests);
  const violations: Violation[] = [];
  for (const { fromMs, toMs, balance } of all) {
    const required = windows.filter(({ byMs }) => byMs < fromMs);
    const possible = windows.filter((window) => window.byMs >= fromMs && window.fromMs <= toMs);
    const base = required.reduce((sum, { change }) => sum + change, facts.account.balance);
    if (
      !reachable(
        balance - base,
        possible.map(({ change }) => change),
      )
    )
      violations.push({
        rule: 'M4',
        text: `a read at ${(toMs / 1000).toFixed(1)} s returned ${balance}; ${base} with up to ${possible.length} later changes is possible`,
        about: [],
      });
  }
  return violations;
}

function windowsOf(facts: Facts, requests: readonly Of<'credit'>[]): readonly Window[] {
  const { entries, records: all, answered, placed } = facts;
  const callOf = new Map(all.map(({ uuid, call }) => [`cdr:${uuid}`, call]));
  return entries.map((entry): Window => {
    const change = signed(entry);
    const call = callOf.get(entry.reference);
    if (call !== undefined) {
      const fromMs = answered.get(call)?.atMs ?? placed.get(call)?.atMs ?? 0;
      return { change, fromMs: fromMs - SKEW_MS, byMs: Number.POSITIVE_INFINITY };
    }
    const attempts = requests.filter(({ key }) => key === entry.reference);
    const told = attempts.filter(({ status }) => status !== undefined && status < 300);
    return {
      change,
      fromMs: Math.min(...attempts.map(({ fromMs }) => fromMs)),
      byMs: Math.min(...told.map(({ toMs }) => toMs), Number.POSITIVE_INFINITY),
    };
  });
}

/** Maximum number of sums that the search remembers. More are treated as reachable: the history is then not decided. */
const MOST_SUMS = 200_000;

/**
 * Whether some subset of `changes` has this sum. Most changes are charges of the same sizes, so that the number of each size
 * matters, and the most frequent size needs no search.
 */
function reachable(sum: number, changes: readonly number[]): boolean {
  const sizes = [...groups(changes, String).values()].sort((a, b) => a.length - b.length);
  const [last] = sizes.splice(-1);
  let sums = new Set([0]);
  for (const size of sizes) {
    const next = new Set(sums);
    for (const one of sums) {
      let reached = one;
      for (const change of size) {
        reached += change;
        next.add(reached);
      }
      if (next.size > MOST_SUMS) return true;
    }
    sums = next;
  }
  const [change] = last ?? [];
  if (last === undefined || change === undefined || change === 0) return sums.has(sum);
  for (const one of sums) {
    const times = (sum - one) / change;
    if (Number.isInteger(times) && times >= 0 && times <= last.length) return true;
  }
  return false;
}

/** L1. Observed intervals lie within the real ones, so that more of them than slots prove a violation. */
function slots(facts: Facts): readonly Violation[] {
  const { account, end, answered, ended, faults, placed } = facts;
  const violations: Violation[] = [];
  if (end.slotsUsed !== 0)
    violations.push({ rule: 'L1', text: `${end.slotsUsed} slots stay in use`, about: [] });
  const changes: { readonly atMs: number; readonly by: 1 | -1; readonly call: string }[] = [];
  for (const [call, { atMs }] of answered) {
    const over = ended.get(call);
    // A call without a certain end held its slot at most until the next fault.
    const cut = faults.find((fault) => fault.atMs >= atMs)?.atMs ?? Number.POSITIVE_INFINITY;
    const untilMs = Math.min(
      over?.atMs ?? cut,
      over?.certain === true ? Number.POSITIVE_INFINITY : cut,
      deadMs(facts, placed.get(call)?.node, atMs),
    );
    if (!Number.isFinite(untilMs) || untilMs <= atMs) continue;
    changes.push({ atMs, by: 1, call }, { atMs: untilMs, by: -1, call });
  }
  changes.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  const running = new Set<string>();
  for (const { by, call, atMs } of changes) {
    if (by < 0) running.delete(call);
    else running.add(call);
    if (running.size > account.slots)
      return [
        ...violations,
        {
          rule: 'L1',
          text: `${running.size} calls at ${(atMs / 1000).toFixed(1)} s with ${account.slots} slots`,
          about: [...running],
        },
      ];
  }
  return violations;
}

/** Earliest time after `fromMs` at which the node may have been declared dead. */
function deadMs({ faults }: Facts, node: number | undefined, fromMs: number): number {
  const lost = faults.filter(
    (fault) =>
      fault.node === node &&
      fault.isolatedUntilMs !== undefined &&
      fault.isolatedUntilMs > fromMs &&
      fault.isolatedUntilMs - fault.atMs > DEAD_MS,
  );
  return Math.min(Number.POSITIVE_INFINITY, ...lost.map(({ atMs }) => atMs + DEAD_MS));
}

/** B1 and B2. */
function callbacks(
  { records: all }: Facts,
  received: readonly Of<'callback'>[],
): readonly Violation[] {
  const violations: Violation[] = [];
  const ofCall = groups(received, ({ call }) => call);
  for (const { call, uuid, answered } of all) {
    const own = ofCall.get(uuid) ?? [];
    const hangups = own.filter(({ event }) => event === 'Hangup');
    if (answered && hangups.length === 0)
      violations.push({ rule: 'B1', text: `${call} was not reported`, about: [call, uuid] });
    for (const [event, repeated] of groups(own, (one) => one.event)) {
      if (new Set(repeated.map(({ content }) => content)).size > 1)
        violations.push({
          rule: 'B1',
          text: `${event} of ${call} was repeated with different content`,
          about: [call, uuid],
        });
    }
    const firstMs = Math.min(...hangups.map(({ atMs }) => atMs));
    const seen = new Set(own.filter(({ atMs }) => atMs <= firstMs).map(({ event }) => event));
    const late = own.filter(
      ({ atMs, event }) => atMs > firstMs + CALLBACK_SKEW_MS && !seen.has(event),
    );
    if (late.length > 0)
      violations.push({
        rule: 'B2',
        text: `${late.map(({ event }) => event).join(', ')} of ${call} arrived after Hangup`,
        about: [call, uuid],
      });
  }
  return violations;
}

/** D1. */
function contacts(facts: Facts, all: readonly Of<'dialed'>[]): readonly Violation[] {
  const violations: Violation[] = [];
  for (const [number, calls] of groups(all, (one) => one.number)) {
    const at = calls.findIndex(
      ({ answered, atMs }) => answered && !isUnstored(facts, atMs, undefined),
    );
    if (at >= 0 && calls.length > at + 1)
      violations.push({
        rule: 'D1',
        text: `${number} answered and was dialed ${calls.length - at - 1} more times`,
        about: [number],
      });
  }
  return violations;
}

/** Removes calls, credits and contacts that the violation does not need. Returns the shortest history found. */
export function shorten(
  history: readonly Observation[],
  violation: Violation,
): readonly Observation[] {
  const stillBroken = (shorter: readonly Observation[]): boolean =>
    judge(shorter).some(({ rule, text }) => rule === violation.rule && text === violation.text);
  let shortest = history;
  const subjects = [...groups(history.flatMap(subjectsOf), (one) => one).keys()];
  for (
    let size = Math.ceil(subjects.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < subjects.length; at += size) {
      const removed = new Set(subjects.slice(at, at + size));
      const shorter = shortest.filter((one) => !subjectsOf(one).some((name) => removed.has(name)));
      if (shorter.length < shortest.length && stillBroken(shorter)) shortest = shorter;
    }
  }
  return shortest;
}

function subjectsOf(one: Observation): readonly string[] {
  switch (one.kind) {
    case 'placed':
    case 'answered':
    case 'ended':
      return [one.call];
    case 'record':
      return [one.call];
    case 'callback':
      return [`callback ${one.call}`];
    case 'credit':
      return [one.key];
    case 'balance':
      return [`read ${one.toMs}`];
    case 'dialed':
      return [one.number];
    case 'fault':
    case 'late':
      return [`${one.kind} ${one.atMs}`];
    default:
      return [];
  }
}
