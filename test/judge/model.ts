/**
 * Decides whether a history is valid. Single-threaded, written from the specification, without code of the service.
 *
 * Promises that it checks:
 * - C1 Each call whose answer was stored has exactly one record; each record belongs to a placed call.
 * - C2 The billed time of a record fits the observed call, up to the fault that ended it.
 * - M1 Each record costs the price of its started pulses, and has exactly one charge with that amount. So do streams.
 * - M2 An acknowledged credit is booked exactly once, a refused one never, an unknown one at most once.
 * - M3 The final balance is the sum of all entries; nothing stays reserved.
 * - M4 Balance reads are linearizable: each equals the balance after some set of entries that real time allows. A hangup
 *   callback tells that its call is charged.
 * - L1 Never more simultaneous calls than slots, of the campaign than its own limit; no slot stays in use.
 * - L2 Never more call starts within a second than the limit.
 * - P1 A requested call is placed at most once, and not at all after a refusal. An acknowledged one has a record.
 * - B1 Each record of an answered call was reported by an acknowledged hangup callback that agrees with it; repetitions have
 *   the same content and key.
 * - B2 No callback of a call begins after its hangup callback was first received, except those acknowledged before.
 * - B3 No callback is repeated long after it was acknowledged.
 * - R1 Each answered call that was to be recorded has exactly one recording.
 * - D1 No contact of a campaign is dialed again after it answered.
 * - D2 No contact is dialed more often than the campaign allows; interrupted calls do not count.
 * - D3 At the end, the status of each contact says whether it answered.
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
/** Time in ms within which an acknowledged callback is removed, also if the database is unavailable. */
const REMOVED_MS = 60_000;
/** Time in ms within which spooled writes reach the database after a fault. */
const SPOOLED_MS = 30_000;
/** Shortest call, in ms, that must leave a recording. On a busy machine, the recording begins seconds after the answer. */
const RECORDED_MS = 6000;
/** Window of the limit of call starts, in ms, less the precision of clocks. */
const WINDOW_MS = 990;

type Kind = Observation['kind'];

export function judge(history: readonly Observation[]): readonly Violation[] {
  const of = <K extends Kind>(kind: K): readonly Of<K>[] =>
    history.filter((one): one is Of<K> => one.kind === kind);
  const [account] = of('account');
  const [end] = of('end');
  if (account === undefined || end === undefined)
    return [{ rule: 'history', text: 'the history has no account or no end', about: [] }];
  const violations: Violation[] = [];
  const report = (rule: string, text: string, ...about: readonly string[]): void =>
    void violations.push({ rule, text, about });
  const facts: Facts = {
    report,
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
  records(facts);
  durations(facts);
  charges(facts);
  credits(facts, of('credit'));
  sums(facts);
  reads(facts, of('balance'), windowsOf(facts, of('credit'), of('callback')));
  slots(facts);
  starts(facts, of('request'));
  requests(facts, of('request'));
  callbacks(facts, of('callback'));
  recordings(facts, of('callback'), of('recording'));
  contacts(facts, of('dialed'), of('contact'));
  return violations;
}

/** Whether the request succeeded. */
const isOk = ({ status = 500 }: { readonly status: number | undefined }): boolean => status < 300;
/** Whether the request certainly had no effect. 409: an earlier one may have had it. */
const isRefused = ({ status = 500 }: { readonly status: number | undefined }): boolean =>
  status >= 400 && status < 500 && status !== 409;

const statusesOf = (all: readonly { readonly status: number | undefined }[]): string =>
  all.map(({ status }) => status).join(', ');

interface Facts {
  readonly report: (rule: string, text: string, ...about: readonly string[]) => void;
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

export function groups<T>(
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
function records(facts: Facts): void {
  const { report, placed, answered, records: all } = facts;
  const found = groups(all, ({ call }) => call);
  for (const call of answered.keys()) {
    const own = (found.get(call) ?? []).filter((record) => record.answered);
    const isUnsure = isUnstored(facts, answered.get(call)?.atMs ?? 0, placed.get(call)?.node);
    if (own.length === 0 && isUnsure) continue;
    if (own.length !== 1) report('C1', `the answered call ${call} has ${own.length} records`, call);
  }
  for (const [call, own] of found) {
    const isAnswered = own.some((record) => record.answered);
    // Records of calls that ended before an INVITE.
    if (call === '' && !isAnswered) continue;
    const invite = placed.get(call);
    if (invite === undefined) report('C1', `a record names the unknown call ${call}`, call);
    else if (isAnswered && !answered.has(call) && !invite.gaveUp)
      report('C1', `nobody answered ${call}`, call);
    if (own.length > 1) report('C1', `${call} has ${own.length} records`, call);
  }
}

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

/** C2. */
function durations(facts: Facts): void {
  const { report, answered, ended, records: all } = facts;
  for (const { call, answered: isAnswered, billsec } of all) {
    const [begin, over] = [answered.get(call), ended.get(call)];
    if (!isAnswered || begin === undefined || over === undefined) continue;
    const { untilMs, isHeld, isUnsure } = whole(facts, call, begin.atMs, over.atMs);
    const observedMs = untilMs - begin.atMs;
    const toleranceMs = SKEW_MS + lateness(facts, begin.atMs, over.atMs);
    const longerMs = toleranceMs + (isHeld ? TAKEOVER_MS : 0);
    // Amounts that could not be reserved are not charged.
    const shorterMs = toleranceMs + (isHeld || isUnsure || !over.certain ? TAKEOVER_MS : 0);
    // Billed seconds are whole seconds.
    const differsMs = billsec * 1000 - observedMs;
    if (differsMs > longerMs + 1000 || -differsMs > shorterMs + 1000)
      report(
        'C2',
        `${call} lasted ${(observedMs / 1000).toFixed(1)} s, and ${billsec} s are billed`,
        call,
      );
  }
}

/** How faults affected a call: it ended with a killed node at `untilMs`, its node was stopped or isolated, or could not write. */
function whole(facts: Facts, call: string, fromMs: number, overMs: number) {
  const node = facts.placed.get(call)?.node;
  const during = facts.faults.filter(
    (fault) =>
      (fault.node ?? node ?? fault.node) === (node ?? fault.node) &&
      fault.atMs < overMs + SKEW_MS &&
      fault.atMs > fromMs - SPOOLED_MS,
  );
  return {
    untilMs: Math.max(fromMs, Math.min(overMs, killedMs(facts, node, fromMs))),
    isHeld: during.some(({ isolatedUntilMs }) => (isolatedUntilMs ?? fromMs) > fromMs),
    isUnsure: during.some(({ effect }) => effect === 'disk' || effect === 'store'),
  };
}

/** Time at which the node, or any node if it is not known, was killed first after `fromMs`; infinite if never. */
const killedMs = ({ faults }: Facts, node: number | undefined, fromMs: number): number =>
  faults.find(
    (fault) =>
      fault.effect === 'kill' &&
      fault.node === (node ?? fault.node) &&
      fault.atMs > fromMs - SEEN_MS,
  )?.atMs ?? Number.POSITIVE_INFINITY;

/** By how much observations around these times may be late, because the machine was busy. */
const lateness = ({ late }: Facts, ...timesMs: readonly number[]): number =>
  timesMs.reduce((sum, timeMs) => {
    const near = late.filter(({ atMs, byMs }) => Math.abs(atMs - timeMs) < byMs + SKEW_MS);
    return sum + Math.max(0, ...near.map(({ byMs }) => byMs));
  }, 0);

/** M1. */
function charges({ report, account, records: all, entries }: Facts): void {
  const debits = groups(
    entries.filter(({ type }) => type === 'debit'),
    ({ reference }) => reference,
  );
  for (const { call, uuid, answered, billsec, cost } of all) {
    const pulses = Math.ceil(Math.max(billsec, answered ? 1 : 0) / account.pulseS);
    const price = answered ? pulses * account.pulsePrice : 0;
    if (cost !== price)
      report('M1', `${call}: ${billsec} s cost ${price}, the record says ${cost}`, call);
    const own = debits.get(`cdr:${uuid}`) ?? [];
    const wanted = cost > 0 ? 1 : 0;
    if (own.length !== wanted || own.some(({ amount }) => amount !== cost))
      report(
        'M1',
        `${call} costs ${cost} and was charged [${own.map(({ amount }) => amount).join(', ')}]`,
        call,
      );
  }
  const ofStreams = [...debits].filter(([reference]) => reference.startsWith('stream_cdr:'));
  const streams = ofStreams.flatMap(([, own]) => own).reduce((sum, one) => sum + one.amount, 0);
  const streamCost = all.reduce((sum, one) => sum + one.streamCost, 0);
  if (streams !== streamCost || ofStreams.some(([, own]) => own.length > 1))
    report('M1', `streams cost ${streamCost} and were charged ${streams}`);
  const known = new Set(all.map(({ uuid }) => `cdr:${uuid}`));
  for (const reference of debits.keys())
    if (!known.has(reference) && !/^(stream_cdr|recording):/.test(reference))
      report('M1', `a charge names no record: ${reference}`, reference);
}

/** M2. */
function credits({ report, entries }: Facts, all: readonly Of<'credit'>[]): void {
  const booked = groups(
    entries.filter(({ type }) => type === 'credit'),
    ({ reference }) => reference,
  );
  for (const [key, attempts] of groups(all, (one) => one.key)) {
    const own = booked.get(key) ?? [];
    const most = attempts.every(isRefused) ? 0 : 1;
    if (own.length > most || (attempts.some(isOk) && own.length === 0))
      report(
        'M2',
        `the credit ${key} (${statusesOf(attempts)}) is booked ${own.length} times`,
        key,
      );
    const amount = attempts[0]?.amount;
    if ([...own, ...attempts.filter(isOk)].some((one) => one.amount !== amount))
      report('M2', `the credit ${key} is booked with another amount`, key);
  }
}

const signed = ({ type, amount }: Of<'entry'>): number => (type === 'credit' ? amount : -amount);

/** M3. */
function sums({ report, account, entries, end }: Facts): void {
  const ids = new Set(entries.map(({ id }) => id));
  if (ids.size !== entries.length) report('M3', 'an entry is listed twice');
  const sum = entries.reduce((total, entry) => total + signed(entry), account.balance);
  if (sum !== end.balance) report('M3', `the entries sum to ${sum}, the balance is ${end.balance}`);
  if (end.reserved !== 0) report('M3', `${end.reserved} stay reserved`);
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
function reads(facts: Facts, all: readonly Of<'balance'>[], windows: readonly Window[]): void {
  for (const { fromMs, toMs, balance } of all) {
    const required = windows.filter(({ byMs }) => byMs < fromMs);
    const possible = windows.filter((window) => window.byMs >= fromMs && window.fromMs <= toMs);
    const base = required.reduce((sum, { change }) => sum + change, facts.account.balance);
    const changes = possible.map(({ change }) => change);
    if (reachable(balance - base, changes)) continue;
    const text = `a read at ${(toMs / 1000).toFixed(1)} s returned ${balance}`;
    facts.report('M4', `${text}; ${base} with up to ${changes.length} changes is possible`);
  }
}

function windowsOf(
  facts: Facts,
  requests: readonly Of<'credit'>[],
  received: readonly Of<'callback'>[],
): readonly Window[] {
  const { entries, records: all, answered, placed, faults } = facts;
  const hangups = groups(
    received.filter(({ event }) => event === 'Hangup'),
    ({ call }) => `cdr:${call}`,
  );
  /** Infinite if the end of the call may wait on the disk of its node. */
  const toldMs = (reference: string): number => {
    const [first] = hangups.get(reference) ?? [];
    const isSpooled = faults.some(
      ({ effect, isolatedUntilMs, atMs }) =>
        (effect === 'store' || isolatedUntilMs !== undefined) &&
        Math.abs(atMs - (first?.atMs ?? 0)) < SPOOLED_MS,
    );
    return first === undefined || isSpooled ? Number.POSITIVE_INFINITY : first.atMs;
  };
  const callOf = new Map(all.map(({ uuid, call }) => [`cdr:${uuid}`, call]));
  return entries.map((entry): Window => {
    const change = signed(entry);
    const call = callOf.get(entry.reference);
    if (call !== undefined) {
      const fromMs = answered.get(call)?.atMs ?? placed.get(call)?.atMs ?? 0;
      return { change, fromMs: fromMs - SKEW_MS, byMs: toldMs(entry.reference) };
    }
    const attempts = requests.filter(({ key }) => key === entry.reference);
    const told = attempts.filter(isOk);
    return {
      change,
      // Streams and recordings are charged at an unknown time.
      fromMs: attempts.reduce(
        (least, { fromMs }) => Math.min(least, fromMs),
        attempts[0]?.fromMs ?? 0,
      ),
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
function slots(facts: Facts): void {
  const { report, account, end, answered, ended, faults, placed } = facts;
  if (end.slotsUsed !== 0) report('L1', `${end.slotsUsed} slots stay in use`);
  const changes: Change[] = [];
  for (const [call, { atMs }] of answered) {
    const over = ended.get(call);
    // A call without a certain end held its slot at most until the next fault.
    const cut = faults.find((fault) => fault.atMs >= atMs)?.atMs ?? Number.POSITIVE_INFINITY;
    const untilMs = Math.min(
      over?.atMs ?? cut,
      over?.certain === true ? Number.POSITIVE_INFINITY : cut,
      killedMs(facts, placed.get(call)?.node, atMs),
      deadMs(facts, placed.get(call)?.node, atMs),
    );
    if (!Number.isFinite(untilMs) || untilMs <= atMs) continue;
    changes.push({ atMs, by: 1, call }, { atMs: untilMs, by: -1, call });
  }
  above(facts, changes, account.slots, 'slots');
}

interface Change {
  readonly atMs: number;
  readonly by: 1 | -1;
  readonly call: string;
}

/** The first time at which more than `most` calls are active. */
function above({ report }: Facts, changes: readonly Change[], most: number, what: string): void {
  const running = new Set<string>();
  for (const { by, call, atMs } of changes.toSorted((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    if (by < 0) running.delete(call);
    else running.add(call);
    if (running.size <= most) continue;
    const when = (atMs / 1000).toFixed(1);
    report('L1', `${running.size} calls at ${when} s with ${most} ${what}`, ...running);
    return;
  }
}

/** L2. A call whose request and answer lie within a window began in it. */
function starts(
  { report, account, answered, placed }: Facts,
  wanted: readonly Of<'request'>[],
): void {
  const ofPhones = [...placed.values()].flatMap(({ call, atMs: fromMs, to }) => {
    const toMs = answered.get(call)?.atMs;
    return to !== undefined || toMs === undefined ? [] : [{ call, fromMs, toMs }];
  });
  const ofRequests = [...groups(wanted, ({ to }) => to)].map(([call, attempts]) => ({
    call,
    fromMs: Math.min(...attempts.map(({ fromMs }) => fromMs)),
    toMs: Math.min(...attempts.filter(isOk).map(({ toMs }) => toMs), Number.POSITIVE_INFINITY),
  }));
  const spans = [...ofPhones, ...ofRequests];
  for (const { fromMs } of spans) {
    const untilMs = fromMs + WINDOW_MS;
    const within = spans.filter((one) => one.fromMs >= fromMs && one.toMs <= untilMs);
    if (within.length <= account.cps) continue;
    const when = (fromMs / 1000).toFixed(1);
    const calls = within.map(({ call }) => call);
    report('L2', `${calls.length} calls began within a second after ${when} s`, ...calls);
    return;
  }
}

/** P1. */
function requests({ report, placed, records: all }: Facts, wanted: readonly Of<'request'>[]): void {
  const invites = groups([...placed.values()], ({ to = '' }) => to);
  const recorded = groups(all, ({ to }) => to);
  for (const [to, attempts] of groups(wanted, (one) => one.to)) {
    const made = invites.get(to)?.length ?? 0;
    const most = attempts.every(isRefused) ? 0 : 1;
    if (made > most || (attempts.some(isOk) && !recorded.has(to)))
      report('P1', `${to} (${statusesOf(attempts)}) was placed ${made} times`, to);
  }
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

/** B1, B2 and B3. */
function callbacks({ report, records: all }: Facts, received: readonly Of<'callback'>[]): void {
  const ofCall = groups(received, ({ call }) => call);
  for (const { call, uuid, answered, end } of all) {
    const own = ofCall.get(uuid) ?? [];
    const hangups = own.filter(({ event }) => event === 'Hangup');
    if (answered && !hangups.some(({ accepted }) => accepted))
      report('B1', `${call} was not reported`, call, uuid);
    const told = hangups.find((one) => one.end !== end);
    if (told !== undefined)
      report('B1', `${call} ended with ${end}, and ${told.end} was reported`, call, uuid);
    for (const [event, repeated] of groups(own, (one) => one.event)) {
      if (new Set(repeated.map(({ content }) => content)).size > 1)
        report('B1', `${event} of ${call} was repeated with different content`, call, uuid);
      const takenMs = repeated.find(({ accepted }) => accepted)?.atMs;
      const again = repeated.find(({ atMs }) => atMs > (takenMs ?? atMs) + REMOVED_MS);
      if (again !== undefined)
        report('B3', `${event} of ${call} was repeated long after it was acknowledged`, call, uuid);
    }
    const firstMs = Math.min(...hangups.map(({ atMs }) => atMs));
    const before = own.filter(({ accepted, atMs }) => accepted && atMs <= firstMs);
    const seen = new Set(['Hangup', ...before.map(({ event }) => event)]);
    const late = own.filter(
      ({ atMs, event }) => atMs > firstMs + CALLBACK_SKEW_MS && !seen.has(event),
    );
    if (late.length > 0)
      report(
        'B2',
        `${late.map(({ event }) => event).join(', ')} of ${call} arrived after Hangup`,
        call,
        uuid,
      );
  }
}

/** R1. Files are not complete while the disk fails; another node does not have them. */
function recordings(
  facts: Facts,
  received: readonly Of<'callback'>[],
  all: readonly Of<'recording'>[],
): void {
  const wanted = new Set(received.filter((one) => one.records).map(({ call }) => call));
  const found = groups(all, ({ call }) => call);
  for (const { call, uuid, answered: isAnswered } of facts.records) {
    const [begin, over] = [facts.answered.get(call), facts.ended.get(call)];
    if (!wanted.has(uuid) || !isAnswered || begin === undefined || over === undefined) continue;
    const { untilMs, isHeld, isUnsure } = whole(facts, call, begin.atMs, over.atMs);
    const lastedMs = untilMs - begin.atMs - lateness(facts, begin.atMs, over.atMs);
    const count = found.get(uuid)?.length ?? 0;
    if (count > 1 || (count === 0 && lastedMs >= RECORDED_MS && !isHeld && !isUnsure))
      facts.report('R1', `${call} has ${count} recordings`, call, uuid);
  }
}

/** D1, D2 and D3, and L1 for the campaign. */
function contacts(
  facts: Facts,
  all: readonly Of<'dialed'>[],
  left: readonly Of<'contact'>[],
): void {
  const wrong = (rule: string, number: string, text: string): void =>
    facts.report(rule, `${number} ${text}`, number);
  const dialed = groups(all, (one) => one.number);
  for (const [number, calls] of dialed) {
    const at = calls.findIndex(
      ({ answered, atMs, node }) => answered && !isUnstored(facts, atMs, node),
    );
    if (at >= 0 && calls.length > at + 1)
      wrong('D1', number, `answered and was dialed ${calls.length - at - 1} more times`);
    const counted = calls.filter((one) => !isInterrupted(facts, one));
    if (counted.length > facts.account.dialsMost)
      wrong('D2', number, `was dialed ${counted.length} times`);
  }
  for (const { number, status } of left) {
    const calls = dialed.get(number) ?? [];
    const answers = calls.filter(({ answered }) => answered);
    const isStored = answers.some(({ atMs, node }) => !isUnstored(facts, atMs, node));
    if (status === 'dialling' || (isStored && status !== 'answered'))
      wrong('D3', number, `was dialed ${calls.length} times, and its status is ${status}`);
    if (status === 'answered' && answers.length === 0)
      wrong('D3', number, 'did not answer, and its status is answered');
  }
  const changes = all.flatMap(({ fromMs, endMs, number, node }): Change[] => {
    const cut = facts.faults.find(({ atMs }) => atMs >= fromMs)?.atMs ?? Number.POSITIVE_INFINITY;
    const untilMs = Math.min(
      endMs > 0 ? endMs - SEEN_MS : cut,
      killedMs(facts, node, fromMs),
      deadMs(facts, node, fromMs),
    );
    const call = `${number} ${fromMs}`;
    return untilMs > fromMs && Number.isFinite(untilMs)
      ? [
          { atMs: fromMs, by: 1, call },
          { atMs: untilMs, by: -1, call },
        ]
      : [];
  });
  above(facts, changes, facts.account.campaignMost, 'slots of the campaign');
}

/** Whether a fault may have ended the call, so that its contact is called again. */
const isInterrupted = (facts: Facts, { fromMs, endMs, node }: Of<'dialed'>): boolean =>
  endMs === 0 ||
  facts.faults.some(
    (fault) =>
      (fault.node ?? node) === (node ?? fault.node) &&
      (fault.isolatedUntilMs ?? fault.atMs) > fromMs - SKEW_MS &&
      fault.atMs < endMs + SKEW_MS + lateness(facts, endMs),
  );
