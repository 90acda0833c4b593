/** Clients of a judged run: phones, a customer with callbacks and a bot, and an operator who books credits. */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Customer, echoBot, type Posted, streamXml } from '../e2e/customer.ts';
import { makeUser, type SipUser, startCall } from '../e2e/phone.ts';
import type { AccountKey, Json, Service } from '../e2e/service.ts';
import { CALLED, CAMPAIGN_MOST, Callees, DIALS_MOST } from './callees.ts';
import { type Again, checked, endText, MICROS, micros, oneOf, type Scene } from './scene.ts';

/** Less than half of the calls that the clients want, so that the limit is reached on a busy machine too. */
const SLOTS = 4;
const CPS = 4;
const PULSE_S = 6;
/** Price of one pulse and size of one credit, millionths. */
const PULSE_PRICE = 60_000;
const CREDIT = 10_000;
const PHONES = 12;
const BOOKERS = 3;
const RATES_KNOWN_MS = 3000;
/** Time for which a phone waits for an answer, ms. */
const PATIENCE_MS = 40_000;
/** Duration of the phases with short and with long calls, ms. Short calls reach the limit of starts, long ones that of slots. */
const PHASE_MS = 20_000;
const LONGEST_MS = { short: 600, long: 15_000 } as const;
/** Most failures of the customer's server for one callback. A node may make another attempt fail, and three are repeated. */
const FAILURES_MOST = 2;
const FAILING = 0.4;
/** Longest delay of a failing response, ms; shorter than the time limit of the service. */
const LATE_MS = 3000;
/** Clients of one account. All loops end after `stop`. */
export class Clients {
  readonly account: AccountKey;
  readonly customer: Customer;
  readonly callees: Callees;
  /** UUIDs of calls whose hangup callback was accepted. */
  readonly reported: ReadonlySet<string>;
  readonly #scene: Scene;
  readonly #user: SipUser;
  #isOver = false;
  #credits = 0;
  #loops: Promise<unknown> = Promise.resolve();

  private constructor(
    scene: Scene,
    made: Pick<Clients, 'account' | 'customer' | 'callees' | 'reported'>,
    user: SipUser,
  ) {
    this.#scene = scene;
    this.account = made.account;
    this.customer = made.customer;
    this.callees = made.callees;
    this.reported = made.reported;
    this.#user = user;
  }

  static async start(scene: Scene, first: Service): Promise<Clients> {
    const customer = await Customer.listen();
    const account = first.demo;
    await open(first, account);
    const callbacks = new Callbacks(customer, scene);
    const hangup_url = callbacks.url('/hangup');
    const urls = { answer_url: callbacks.url('/answer'), hangup_url };
    const user = await makeUser(first, 'judged', urls);
    const callees = await Callees.start(scene, first, {
      account,
      urls: { ...urls, answer_url: callbacks.url('/talk'), ring_url: callbacks.url('/ring') },
    });
    const { reported } = callbacks;
    const clients = new Clients(scene, { account, customer, callees, reported }, user);
    const { body } = await first.admin('GET', `/accounts/${account.authId}`);
    const [balance] = body['balances'] as Json[];
    scene.observe({
      kind: 'account',
      balance: micros(balance?.['balance']),
      slots: SLOTS,
      cps: CPS,
      campaignMost: CAMPAIGN_MOST,
      dialsMost: DIALS_MOST,
      pulseS: PULSE_S,
      pulsePrice: PULSE_PRICE,
    });
    await callees.startCampaign(first);
    // Other nodes use new rates within a second.
    await pause(RATES_KNOWN_MS);
    const again: Again = (act) => clients.#again(act);
    clients.#loops = Promise.all([
      ...Array.from({ length: PHONES }, () => again(() => clients.#call())),
      ...Array.from({ length: BOOKERS }, () => again(() => clients.#credit())),
      again(() => clients.#read()),
      ...callees.loops(again),
    ]);
    return clients;
  }

  /** Ends the loops, and records what the called parties saw. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#loops;
  }

  async close(): Promise<void> {
    this.callees.close();
    await this.customer.close();
  }

  async #again(act: () => Promise<void>): Promise<void> {
    while (!this.#isOver) await act().catch(() => pause(200));
  }

  #pick(): { readonly at: number; readonly service: Service } | undefined {
    return oneOf(this.#scene);
  }

  async #call(): Promise<void> {
    const { observe, nowMs, random } = this.#scene;
    const node = this.#pick();
    if (node === undefined) return pause(200);
    const placedMs = nowMs();
    const call = await startCall(node.service, this.#user, { seconds: 30 });
    let answeredMs: number | undefined;
    call.answered.then(
      () => {
        answeredMs = nowMs();
      },
      () => undefined,
    );
    // A node that is killed after its 100 never answers; a caller then stops.
    const patience = new AbortController();
    const gaveUp = pause(PATIENCE_MS, undefined, { signal: patience.signal }).catch(
      () => undefined,
    );
    await Promise.race([call.answered, call.report, gaveUp]).catch(() => undefined);
    patience.abort();
    if (answeredMs !== undefined) await Promise.race([pause(this.#talkMs()), call.report]);
    const hungUpMs = nowMs();
    const isCanceled = answeredMs === undefined;
    call.hangUp();
    const report = await call.report;
    const { sipCallId, end, setupMs } = report;
    const by = { call: sipCallId, node: node.at };
    observe({ kind: 'placed', atMs: placedMs, ...by, ...(isCanceled && { gaveUp: true }) });
    if (setupMs === undefined || answeredMs === undefined) return pause(200 + random() * 500);
    observe({ kind: 'answered', atMs: answeredMs, call: sipCallId });
    const isStillThere = this.#scene.running().some(({ service }) => service === node.service);
    observe({
      kind: 'ended',
      atMs: hungUpMs,
      call: sipCallId,
      certain: end.how === 'bye' && isStillThere,
    });
  }

  #talkMs(): number {
    const { nowMs, random } = this.#scene;
    const isLong = Math.floor(nowMs() / PHASE_MS) % 2 === 0;
    return 300 + random() * LONGEST_MS[isLong ? 'long' : 'short'];
  }

  /**
   * Books a credit. Without a clear answer it repeats the request with the same key, as clients do; sometimes also after an
   * answer, at the same time on another node, or with another amount. A credit without a key is never repeated.
   */
  async #credit(): Promise<void> {
    const { random } = this.#scene;
    this.#credits += 1;
    const key = `credit-${this.#credits}`;
    const how = random();
    if (how < 0.2) await this.#book(key, { isKeyed: false });
    else if (how < 0.4) await Promise.all([this.#book(key), this.#book(key)]);
    else {
      const status = await this.#book(key);
      const isUnknown = status === undefined || status >= 500;
      if (isUnknown) await pause(500);
      if (isUnknown || random() < 0.3) await this.#book(key);
      else if (random() < 0.1) await this.#book(key, { amount: CREDIT * 2 });
    }
    await pause(100 + random() * 1500);
  }

  async #book(key: string, { amount = CREDIT, isKeyed = true } = {}): Promise<number | undefined> {
    const { observe, nowMs } = this.#scene;
    const node = this.#pick();
    if (node === undefined) return undefined;
    const fromMs = nowMs();
    const body = { amount: amount / MICROS, currency: 'USD', description: key };
    const path = `/accounts/${this.account.authId}/credit`;
    const status = await node.service
      .admin('POST', path, isKeyed ? { ...body, key } : body)
      .then((answer) => answer.status)
      .catch(() => undefined);
    observe({ kind: 'credit', fromMs, toMs: nowMs(), key, amount, status });
    return status;
  }

  async #read(): Promise<void> {
    const { observe, nowMs, random } = this.#scene;
    const node = this.#pick();
    if (node !== undefined) {
      const fromMs = nowMs();
      const answer = await node.service.api('GET', 'balance/USD', undefined, this.account);
      if (answer.status === 200)
        observe({
          kind: 'balance',
          fromMs,
          toMs: nowMs(),
          balance: micros(answer.body['balance']),
        });
    }
    await pause(100 + random() * 400);
  }
}

/** Sets limits and rates of the account, and books its first credit. */
async function open(first: Service, account: AccountKey): Promise<void> {
  await checked(
    first.admin('PATCH', `/accounts/${account.authId}`, {
      concurrent_calls_limit: SLOTS,
      cps_limit: CPS,
    }),
  );
  const rates = [
    { direction: 'sip', prefix: '' },
    { direction: 'stream', prefix: '' },
    { direction: 'recording', prefix: '', per_minute: 0 },
    // Longer than the prefixes of the price list.
    ...CALLED.map((prefix) => ({ direction: 'outbound', prefix })),
  ];
  for (const rate of rates)
    await checked(
      first.admin('POST', '/rates', {
        per_minute: (PULSE_PRICE / MICROS / PULSE_S) * 60,
        ...rate,
        pulse_seconds: PULSE_S,
        currency: 'USD',
        account_id: account.authId,
      }),
    );
  await checked(
    first.admin('POST', `/accounts/${account.authId}/credit`, {
      amount: 50_000,
      currency: 'USD',
      description: 'start',
    }),
  );
}

/** The customer's server for answers and callbacks. It sometimes fails, responds late, or loses its response. */
class Callbacks {
  readonly #customer: Customer;
  readonly #scene: Scene;
  readonly #failures = new Map<string, number>();
  /** UUIDs of calls whose hangup callback was accepted. */
  readonly reported = new Set<string>();
  readonly #bot: string;

  constructor(customer: Customer, scene: Scene) {
    this.#customer = customer;
    this.#scene = scene;
    this.#bot = customer.bot('/bot', echoBot);
  }

  url(path: string): string {
    return this.#customer.page(path, (response, posted) => void this.#receive(response, posted));
  }

  async #receive(response: ServerResponse, { path, form, headers }: Posted): Promise<void> {
    const { observe, nowMs, random } = this.#scene;
    const { CallUUID: call = '', Event: event = '' } = form;
    const about = `${call} ${event}`;
    const before = this.#failures.get(about) ?? 0;
    // Callers wait for documents, so that these do not fail.
    const isDocument = event === 'StartApp';
    const isFailing = !isDocument && before < FAILURES_MOST && random() < FAILING;
    if (isFailing) this.#failures.set(about, before + 1);
    if (event === 'Hangup' && !isFailing) this.reported.add(call);
    const body = isDocument ? this.#document(path) : '';
    const content = JSON.stringify([headers['idempotency-key'], Object.entries(form).sort()]);
    const { Duration, BillDuration, HangupCauseCode } = form;
    observe({
      kind: 'callback',
      atMs: nowMs(),
      event,
      call,
      content,
      accepted: !isFailing,
      ...(event === 'Hangup' && { end: endText(Duration, BillDuration, HangupCauseCode) }),
      ...(body.includes('<Record') && { records: true }),
    });
    if (isFailing && random() < 0.3) {
      response.destroy();
      return;
    }
    if (isFailing) await pause(random() * LATE_MS);
    response.writeHead(isFailing ? 500 : 200, { 'content-type': 'application/xml' }).end(body);
  }

  #document(path: string): string {
    const what = this.#scene.random();
    const wait = '<Wait length="3600"/>';
    if (path !== '/answer') return `<Response>${wait}</Response>`;
    if (what < 0.15) return streamXml(this.#bot);
    const record =
      '<Record recordSession="true" maxLength="60" fileFormat="wav" playBeep="false"/>';
    return `<Response>${what < 0.3 ? record : '<DTMF>1</DTMF>'}${wait}</Response>`;
  }
}
