/**
 * `npm run soak:sip -- [--calls 100000] [--at-once 200]` runs calls between two user agents in virtual time over a lossy
 * network, and ends them in every possible way. No leg, transaction, dialog, subscription or timer may remain.
 */
import { parseArgs } from 'node:util';
import { asLegId, type LegId } from '../../src/base/ids.ts';
import { numberOption, SEED } from '../number-option.ts';
import { type Agent, ANSWER, OFFER, seededRandom, World } from '../protocol/sip-ua/world.ts';

const CALLS_MAX = 100_000_000;
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '100000' },
    'at-once': { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
});
const CALLS = numberOption('calls', values.calls, { least: 1, most: CALLS_MAX });
const AT_ONCE = numberOption('at-once', values['at-once'], { least: 1, most: CALLS_MAX });
/** One message in `LOSS` is lost. */
const LOSS = 50;
/** Virtual time after the calls, ms. Exceeds all SIP timers, registration and session intervals. */
const AFTER_MS = 4_000_000;
const ENDS = ['caller', 'callee', 'cancel', 'busy', 'early', 'silent'] as const;
type End = (typeof ENDS)[number];

const world = new World();
const random = seededRandom(numberOption('seed', values.seed, SEED));
world.lose = () => random.integer(LOSS) === 0;
const caller = world.agent('192.0.2.9');
const callee = world.agent('192.0.2.1');
/** Planned end of each call, by Call-ID. */
const plans = new Map<string, End>();
const counts: Record<string, number> = {};

function begin(leg: number, end: End): void {
  const callId = `soak-${leg}`;
  plans.set(callId, end);
  caller.dispatch({
    kind: 'invite',
    leg: asLegId(leg),
    target: { kind: 'uri', uri: 'sip:100@192.0.2.1' },
    from: { user: 'alice', host: '192.0.2.9', displayName: '' },
    callId,
    sdp: OFFER,
    headers: [],
    account: undefined,
  });
}

const hangUp = (agent: Agent, leg: LegId, status: number): void =>
  agent.dispatch({ kind: 'hangup', leg, status, reason: undefined });

/** Processes and clears the events of the called side. */
function serve(): void {
  for (const event of callee.events) {
    counts[event.kind] = (counts[event.kind] ?? 0) + 1;
    if (event.kind === 'incoming') take(event.call.leg, plans.get(event.call.request.callId));
    if (event.kind === 'acknowledged') acknowledged(event.leg);
  }
  callee.events.length = 0;
  caller.events.length = 0;
  (world.sent as unknown[]).length = 0;
  callee.stored.length = 0;
}

const ended = new Map<LegId, End>();

function take(leg: LegId, end: End = 'callee'): void {
  if (end === 'silent') return;
  if (end === 'busy') {
    hangUp(callee, leg, 486);
    return;
  }
  callee.dispatch({ kind: 'ring', leg, sdp: end === 'early' ? ANSWER : undefined });
  if (end === 'cancel') return;
  callee.dispatch({ kind: 'answer', leg, sdp: ANSWER });
  ended.set(leg, end);
}

function acknowledged(leg: LegId): void {
  const end = ended.get(leg);
  ended.delete(leg);
  if (end === 'callee') hangUp(callee, leg, 480);
}

const startedMs = performance.now();
let leg = 0;
for (let done = 0; done < CALLS; done += AT_ONCE) {
  const legs: { readonly leg: number; readonly end: End }[] = [];
  for (let count = 0; count < AT_ONCE; count += 1) {
    leg += 2;
    const end = ENDS[random.integer(ENDS.length)] ?? 'callee';
    legs.push({ leg, end });
    begin(leg, end);
    world.advance(1);
    serve();
  }
  // The caller ends calls that have not ended automatically.
  for (let ms = 0; ms < 2000; ms += 100) {
    world.advance(100);
    serve();
  }
  for (const call of legs) hangUp(caller, asLegId(call.leg), 480);
  world.advance(500);
  serve();
  plans.clear();
}
const tookS = (performance.now() - startedMs) / 1000;
for (let ms = 0; ms < AFTER_MS; ms += 10_000) {
  world.advance(10_000);
  serve();
}

const left = [caller, callee].flatMap(({ address, ua }) =>
  Object.entries({
    legs: ua.legs,
    transactions: ua.transactions,
    dialogs: ua.dialogs,
    subscriptions: ua.subscriptions,
    timers: ua.timers,
  })
    .filter(([, count]) => count !== 0)
    .map(([what, count]) => `${count} ${what} of ${address}`),
);
globalThis.gc?.();
const heap = Math.round(process.memoryUsage().heapUsed / 2 ** 20);
console.log(
  `${leg / 2} calls in ${tookS.toFixed(1)} s: ${counts['incoming'] ?? 0} received, ${counts['acknowledged'] ?? 0} were answered, ${counts['ended'] ?? 0} ended; heap ${heap} MiB`,
);
console.log(left.length === 0 ? 'no leaks' : `LEFT: ${left.join(', ')}`);
if (left.length > 0 || counts['incoming'] !== counts['ended']) process.exitCode = 1;
