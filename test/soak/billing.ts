/**
 * `npm run soak:billing [-- --calls 20]` tests billing with a running service and real phones on real clocks. It steps the
 * wall clock in both directions during calls, kills the service, suspends it across call limits, and overloads the
 * machine. It prints the result of each check and exits with 1 if one failed. It takes about two minutes and uses only
 * loopback.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Customer } from '../e2e/customer.ts';
import { Handset } from '../e2e/handset.ts';
import { makeUser, type RunningCall, type SipUser, startCall } from '../e2e/phone.ts';
import {
  type AccountKey,
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from '../e2e/service.ts';
import { numberOption } from '../number-option.ts';

const SHIM = fileURLToPath(new URL('wall-clock.c', import.meta.url));
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
/** Billing pulse of the test's rates, seconds; short enough to test pulse boundaries. */
const PULSE_S = 6;
const PULSE_PRICE = 0.06;
const LIMIT_S = 6;
/** Time for which the service is suspended, ms. The suspension starts 1 s before the call limits. */
const HELD_UP_MS = 3500;
/** Answers the call. A leading `Wait` would delay the answer. */
const ANSWERS = '<DTMF>1</DTMF>';
const DOCUMENTS = {
  wait: `${ANSWERS}<Wait length="3600"/>`,
  scheduled: `${ANSWERS}<Hangup schedule="${LIMIT_S}"/><Wait length="3600"/>`,
} as const;

const { values } = parseArgs({ options: { calls: { type: 'string', default: '20' } } });
const calls = numberOption('calls', values.calls, { least: 1, most: 100 });

let broken = 0;
function judge(what: string, held: boolean, facts: unknown): void {
  if (!held) broken += 1;
  console.log(`${held ? 'held ' : 'BROKE'}  ${what}  ${JSON.stringify(facts)}`);
}

const folder = mkdtempSync(join(tmpdir(), 'carillon-billing-'));
const offsetFile = join(folder, 'offset');
let offsetS = 0;
function stepWall(seconds: number): void {
  offsetS += seconds;
  writeFileSync(offsetFile, String(offsetS));
}

/** Compiles a library that shifts the service's wall clock. Returns its path. */
function compileShim(): string {
  const library = join(folder, 'wall-clock.so');
  const made = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SHIM, '-ldl']);
  if (made.status !== 0) throw new Error(`cc: ${made.stderr}`);
  return library;
}

const xml = (body: string): string => `<Response>${body}</Response>`;

const factsOf = (cdr: Json) => ({
  billsec: cdr['billsec'],
  rounded: cdr['rounded_bill_duration'],
  cost: cdr['total_cost'],
  cause: cdr['hangup_cause_code'],
});

class Soak {
  readonly place: ServicePlace;
  readonly customer: Customer;
  service: Service;
  user: SipUser;

  constructor(place: ServicePlace, customer: Customer, service: Service, user: SipUser) {
    this.place = place;
    this.customer = customer;
    this.service = service;
    this.user = user;
  }

  async ended(call: RunningCall): Promise<Json> {
    const { sipCallId } = await call.report;
    return this.service.cdrOf(sipCallId);
  }

  /** Steps the wall clock during a call of 6 s. */
  async stepped(what: string, seconds: number): Promise<void> {
    const before = Number((await this.service.balance())['balance']);
    const call = await startCall(this.service, this.user);
    await call.answered;
    await pause(3000);
    stepWall(seconds);
    await pause(2900);
    call.hangUp();
    const cdr = await this.ended(call);
    const spent = before - Number((await this.service.balance())['balance']);
    const right =
      cdr['billsec'] === 6 &&
      cdr['rounded_bill_duration'] === PULSE_S &&
      Math.abs(spent - PULSE_PRICE) < 1e-6;
    judge(`wall clock ${what} in a call of 6 s`, right, { ...factsOf(cdr), spent });
  }

  /** Kills the service during a call, and restarts it with a different wall clock. */
  async crashed(what: string, seconds: number): Promise<void> {
    const call = await startCall(this.service, this.user);
    await call.answered;
    await pause(2000);
    stepWall(seconds);
    await pause(1000);
    await this.service.kill();
    call.hangUp();
    const { sipCallId } = await call.report;
    stepWall(seconds);
    this.service = await Service.start(this.place);
    const cdr = await this.service.cdrOf(sipCallId);
    const billsec = Number(cdr['billsec']);
    const right = billsec >= 2 && billsec <= 4 && cdr['rounded_bill_duration'] === PULSE_S;
    judge(`kill -9 after 3 s, wall clock ${what}`, right, factsOf(cdr));
  }

  /** Verifies that each of many calls ends at its limit and is billed for the limit. */
  async limited(
    what: string,
    user: SipUser,
    meanwhile: () => Promise<void>,
    isBusy = false,
  ): Promise<void> {
    const running = await Promise.all(
      Array.from({ length: calls }, () => startCall(this.service, user, { seconds: 30 })),
    );
    await Promise.all(running.map(({ answered }) => answered));
    await meanwhile();
    const cdrs = await Promise.all(running.map((call) => this.ended(call)));
    const wrong = cdrs.filter((cdr) => {
      const billsec = Number(cdr['billsec']);
      const pulses = Math.ceil(billsec / PULSE_S);
      // `schedule` counts from its element, which a busy machine reaches shortly after the answer.
      const isCut = isBusy ? billsec >= LIMIT_S && billsec <= LIMIT_S + 3 : billsec === LIMIT_S;
      const follows =
        cdr['rounded_bill_duration'] === pulses * PULSE_S &&
        Math.abs(Number(cdr['total_cost']) - pulses * PULSE_PRICE) < 1e-6;
      return !isCut || !follows;
    });
    judge(`${calls} calls with a limit of ${LIMIT_S} s, ${what}`, wrong.length === 0, {
      wrong: wrong.map(factsOf),
      example: cdrs[0] && factsOf(cdrs[0]),
    });
  }

  /** Verifies for `timeLimit` of Dial that the callback and the record of the B leg agree. */
  async dialled(): Promise<void> {
    const callee = await makeUser(this.service, 'callee', {
      answer_url: this.customer.xml('/none', xml('')),
    });
    const waiting = await Handset.waiting(this.service, callee);
    const reported = `http://${this.customer.authority}/dial`;
    const user = `<User>sip:${callee.username}@127.0.0.1:${this.service.sipPort}</User>`;
    const dial = `<Dial timeLimit="${LIMIT_S}" callbackUrl="${reported}">${user}</Dial><Hangup/>`;
    const caller = await makeUser(this.service, 'caller', {
      answer_url: this.customer.xml('/dialling', xml(dial)),
    });
    const call = await startCall(this.service, caller, { seconds: 30 });
    const hangup = await eventually(
      'the end of the B leg',
      () => this.customer.at('/dial').find(({ form }) => form['DialBLegDuration'] !== undefined),
      30_000,
    );
    call.hangUp();
    await call.report;
    await waiting.close();
    const uuid = hangup.form['DialBLegUUID'];
    const b = await eventually('the record of the B leg', async () => {
      const { status, body } = await this.service.api('GET', `cdr/${uuid}`);
      return status === 200 ? ((body['data'] ?? body) as Json) : undefined;
    });
    const { DialBLegDuration: told_s, DialBLegBillDuration: billed_s } = hangup.form;
    const right =
      b['billsec'] === LIMIT_S &&
      told_s === String(b['billsec']) &&
      billed_s === String(b['rounded_bill_duration']);
    judge('timeLimit of Dial on a busy machine: callback and record of the B leg', right, {
      ...factsOf(b),
      reported: told_s,
      toldBilled: billed_s,
    });
  }

  /** Gives each of several accounts credit for exactly two pulses, and verifies that each balance ends at 0. */
  async outOfCredit(accounts: number): Promise<void> {
    const results = await Promise.all(
      Array.from({ length: accounts }, async (_, i) => {
        const key = await this.#account(`credit${i}`);
        const user = await makeUser(
          this.service,
          `poor${i}`,
          { answer_url: this.customer.xml('/wait', xml(DOCUMENTS.wait)) },
          key,
        );
        const call = await startCall(this.service, user, { seconds: 60 });
        const { sipCallId } = await call.report;
        const cdr = await this.service.cdrOf(sipCallId, key);
        const { balance } = await this.service.balance(key);
        return { ...factsOf(cdr), balance };
      }),
    );
    const wrong = results.filter(
      ({ balance, cause, billsec }) => balance !== 0 || cause !== 1010 || billsec !== 2 * PULSE_S,
    );
    judge('credit for two pulses ends at balance 0', wrong.length === 0, {
      wrong,
      example: results[0],
    });
  }

  async #account(name: string): Promise<AccountKey> {
    const made = await this.service.admin('POST', '/accounts', { name, currency: 'USD' });
    const authId = String(made.body['auth_id']);
    await setPrice(this.service, authId);
    await this.service.admin('POST', `/accounts/${authId}/credit`, {
      amount: 2 * PULSE_PRICE,
      currency: 'USD',
      description: 'two pulses',
    });
    return { authId, authToken: String(made.body['auth_token']) };
  }

  /** Suspends the service with SIGSTOP across the call limits, to test its timers. */
  async holdUp(): Promise<void> {
    const { child } = this.service.program;
    await pause((LIMIT_S - 1) * 1000);
    child.kill('SIGSTOP');
    await pause(HELD_UP_MS);
    child.kill('SIGCONT');
  }
}

async function setPrice(service: Service, authId: string): Promise<void> {
  for (const direction of ['sip', 'outbound']) {
    const set = await service.admin('POST', '/rates', {
      direction,
      prefix: '',
      per_minute: (PULSE_PRICE * 60) / PULSE_S,
      pulse_seconds: PULSE_S,
      currency: 'USD',
      account_id: authId,
    });
    if (set.status >= 300) throw new Error(`no price: ${set.text}`);
  }
}

/** Starts processes that load all cores. */
function busyMachine(): ChildProcess[] {
  return cpus()
    .slice(0, 8)
    .flatMap(() => [0, 1])
    .map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
}

async function open(): Promise<Soak> {
  stepWall(0);
  const customer = await Customer.listen();
  const place = await newPlace({
    LD_PRELOAD: compileShim(),
    WALL_CLOCK_OFFSET: offsetFile,
    CARILLON_CALLS_HEARTBEAT_MS: '200',
    CARILLON_ENDPOINTS_CALLS_PER_MINUTE: '10000',
    CARILLON_RTP_PORT_MIN: '52000',
    CARILLON_RTP_PORT_MAX: '52999',
  });
  const service = await Service.start(place);
  const { authId } = service.demo;
  await service.admin('PATCH', `/accounts/${authId}`, {
    concurrent_calls_limit: 500,
    cps_limit: 500,
  });
  const credit = { amount: 1000, currency: 'USD', description: 'soak' };
  await service.admin('POST', `/accounts/${authId}/credit`, credit);
  await setPrice(service, authId);
  const wait = customer.xml('/wait', xml(DOCUMENTS.wait));
  return new Soak(
    place,
    customer,
    service,
    await makeUser(service, 'stepper', { answer_url: wait }),
  );
}

async function run(soak: Soak): Promise<void> {
  await soak.stepped('+1 h', HOUR_S);
  await soak.stepped('+30 days', 30 * DAY_S);
  await soak.stepped('-2 h', -2 * HOUR_S);
  await soak.crashed('+30 days', 30 * DAY_S);
  await soak.crashed('-2 h', -2 * HOUR_S);
  const scheduled = soak.customer.xml('/scheduled', xml(DOCUMENTS.scheduled));
  const limited = await makeUser(soak.service, 'limited', { answer_url: scheduled });
  await soak.limited('on an idle machine', limited, () => Promise.resolve());
  await soak.limited('suspended across the limit', limited, () => soak.holdUp());
  const busy = busyMachine();
  try {
    await soak.limited('on a busy machine', limited, () => Promise.resolve(), true);
    await soak.dialled();
    await soak.outOfCredit(5);
  } finally {
    for (const child of busy) child.kill('SIGKILL');
  }
  const faults = (await soak.service.admin('GET', '/status')).status;
  judge('the service answers at the end', faults === 200, { status: faults });
}

const soak = await open();
try {
  await run(soak);
} finally {
  await soak.service.kill();
  await soak.customer.close();
  removePlace(soak.place);
  rmSync(folder, { recursive: true, force: true });
}
console.log(broken === 0 ? 'all held' : `${broken} broke`);
process.exit(broken === 0 ? 0 : 1);
