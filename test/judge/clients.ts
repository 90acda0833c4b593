/** Clients of a judged run: phones, a customer with callbacks, an operator who books credits, and a campaign. */
import { setTimeout as pause } from 'node:timers/promises';
import { Carrier } from '../e2e/carrier.ts';
import { Customer } from '../e2e/customer.ts';
import { makeUser, type SipUser, startCall } from '../e2e/phone.ts';
import {
  type AccountKey,
  type Answer,
  eventually,
  type Json,
  type Service,
} from '../e2e/service.ts';
import type { Observation } from './history.ts';

const SLOTS = 6;
const PULSE_S = 6;
/** Price of one pulse and size of one credit, millionths. */
const PULSE_PRICE = 60_000;
const CREDIT = 10_000;
const PHONES = 8;
const CONTACTS = 40;
const RATES_KNOWN_MS = 3000;
/** Time for which a phone waits for an answer, ms. */
const PATIENCE_MS = 40_000;
const CAMPAIGN_FROM = '14155550100';
const MICROS = 1_000_000;

const micros = (amount: unknown): number => Math.round(Number(amount) * MICROS);

export interface Scene {
  /** Nodes that currently run; a stopped or killed node is missing. */
  readonly running: () => readonly { readonly at: number; readonly service: Service }[];
  readonly random: () => number;
  readonly observe: (observation: Observation) => void;
  readonly nowMs: () => number;
}

/** Clients of one account, and a campaign of another. All loops end after `stop`. */
export class Clients {
  readonly account: AccountKey;
  readonly customer: Customer;
  readonly #scene: Scene;
  readonly #user: SipUser;
  readonly #carrier: Carrier;
  #isOver = false;
  #credits = 0;
  #loops: Promise<unknown> = Promise.resolve();

  private constructor(
    scene: Scene,
    made: Pick<Clients, 'account' | 'customer'>,
    user: SipUser,
    carrier: Carrier,
  ) {
    this.#scene = scene;
    this.account = made.account;
    this.customer = made.customer;
    this.#user = user;
    this.#carrier = carrier;
  }

  static async start(scene: Scene, first: Service): Promise<Clients> {
    const customer = await Customer.listen();
    const account = first.demo;
    await first.admin('PATCH', `/accounts/${account.authId}`, {
      concurrent_calls_limit: SLOTS,
      cps_limit: 50,
    });
    for (const direction of ['sip', 'outbound'])
      await checked(
        first.admin('POST', '/rates', {
          direction,
          prefix: '',
          per_minute: (PULSE_PRICE / MICROS / PULSE_S) * 60,
          pulse_seconds: PULSE_S,
          currency: 'USD',
          account_id: account.authId,
        }),
      );
    await checked(
      first.admin('POST', `/accounts/${account.authId}/credit`, {
        amount: 500,
        currency: 'USD',
        description: 'start',
      }),
    );
    const document = '<Response><DTMF>1</DTMF><Wait length="3600"/></Response>';
    const callback = (path: string, body: string): string =>
      customer.page(path, (response, { form }) => {
        const { CallUUID: call = '', Event: event = '' } = form;
        const content = JSON.stringify(Object.entries(form).sort());
        scene.observe({ kind: 'callback', atMs: scene.nowMs(), event, call, content });
        response.writeHead(200, { 'content-type': 'application/xml' }).end(body);
      });
    const user = await makeUser(first, 'judged', {
      answer_url: callback('/answer', document),
      hangup_url: callback('/hangup', ''),
    });
    const carrier = await Carrier.listen((_number, turn) =>
      turn === 0 ? { kind: 'rings' } : { kind: 'answered', talkMs: 200 },
    );
    const clients = new Clients(scene, { account, customer }, user, carrier);
    const { body } = await first.admin('GET', `/accounts/${account.authId}`);
    const [balance] = body['balances'] as Json[];
    scene.observe({
      kind: 'account',
      balance: micros(balance?.['balance']),
      slots: SLOTS,
      pulseS: PULSE_S,
      pulsePrice: PULSE_PRICE,
    });
    await clients.#startCampaign(first);
    // Other nodes use new rates within a second.
    await pause(RATES_KNOWN_MS);
    clients.#loops = Promise.all([
      ...Array.from({ length: PHONES }, () => clients.#again(() => clients.#call())),
      clients.#again(() => clients.#credit()),
      clients.#again(() => clients.#read()),
    ]);
    return clients;
  }

  /** Ends the loops, and records what the campaign's called party saw. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#loops;
    const wallOffsetMs = Date.now() - this.#scene.nowMs();
    for (const { number, fate, answeredMs } of this.#carrier.calls)
      this.#scene.observe({
        kind: 'dialed',
        atMs: answeredMs === undefined ? 0 : answeredMs - wallOffsetMs,
        number,
        answered: fate === 'answered' && answeredMs !== undefined,
      });
  }

  async close(): Promise<void> {
    this.#carrier.close();
    await this.customer.close();
  }

  async #again(act: () => Promise<void>): Promise<void> {
    while (!this.#isOver) await act().catch(() => pause(200));
  }

  #pick(): { readonly at: number; readonly service: Service } | undefined {
    const nodes = this.#scene.running();
    return nodes[Math.floor(this.#scene.random() * nodes.length)];
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
    if (answeredMs !== undefined) await Promise.race([pause(300 + random() * 9000), call.report]);
    const hungUpMs = nowMs();
    call.hangUp();
    const report = await call.report;
    const { sipCallId, end, setupMs } = report;
    observe({ kind: 'placed', atMs: placedMs, call: sipCallId, node: node.at });
    if (setupMs === undefined || answeredMs === undefined) return pause(100 + random() * 300);
    observe({ kind: 'answered', atMs: answeredMs, call: sipCallId });
    const isStillThere = this.#scene.running().some(({ service }) => service === node.service);
    observe({
      kind: 'ended',
      atMs: hungUpMs,
      call: sipCallId,
      certain: end.how === 'bye' && isStillThere,
    });
  }

  /** Books a credit. Without a clear answer it repeats the request with the same key, as clients do. */
  async #credit(): Promise<void> {
    const { observe, nowMs, random } = this.#scene;
    this.#credits += 1;
    const key = `credit-${this.#credits}`;
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const node = this.#pick();
      if (node === undefined) break;
      const fromMs = nowMs();
      const body = { amount: CREDIT / MICROS, currency: 'USD', description: key, key };
      const status = await node.service
        .admin('POST', `/accounts/${this.account.authId}/credit`, body)
        .then((answer) => answer.status)
        .catch(() => undefined);
      observe({ kind: 'credit', fromMs, toMs: nowMs(), key, amount: CREDIT, status });
      if (status !== undefined && status < 500) break;
      await pause(500);
    }
    await pause(500 + random() * 1500);
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
    await pause(200 + random() * 600);
  }

  async #startCampaign(first: Service): Promise<void> {
    const made = await checked(
      first.admin('POST', '/accounts', { name: 'Campaign', currency: 'USD' }),
    );
    const as: AccountKey = {
      authId: String(made['auth_id']),
      authToken: String(made['auth_token']),
    };
    const account = `/accounts/${as.authId}`;
    await first.admin('PATCH', account, { concurrent_calls_limit: 10, cps_limit: 20 });
    await first.admin('POST', `${account}/caller-ids`, { number: `+${CAMPAIGN_FROM}` });
    await first.admin('POST', `${account}/credit`, {
      amount: 100,
      currency: 'USD',
      description: 'start',
    });
    await checked(
      first.admin('POST', '/carriers', {
        name: 'judge',
        host: '127.0.0.1',
        port: this.#carrier.port,
        transport: 'udp',
        prefixes: [''],
        probe: false,
      }),
    );
    const document = '<Response><Wait length="5"/></Response>';
    const agent = await checked(
      first.api(
        'POST',
        'campaign/agents',
        {
          name: 'Judge',
          answer_url: this.customer.xml('/campaign', document),
          ring_timeout: 8,
        },
        as,
      ),
    );
    const campaign = await checked(
      first.api(
        'POST',
        'campaigns',
        {
          name: 'Judge',
          agent_id: agent['id'],
          max_concurrent: 3,
          timezone: 'UTC',
          caller_id_strategy: 'fixed',
          fixed_caller_id: CAMPAIGN_FROM,
        },
        as,
      ),
    );
    const rows = Array.from({ length: CONTACTS }, (_, index) => `+1415556${1000 + index}`);
    const form = new FormData();
    form.append('file', new Blob([['to', ...rows].join('\n')], { type: 'text/csv' }), 'list.csv');
    await fetch(
      `${first.baseUrl}/api/v1/account/${as.authId}/campaigns/${String(campaign['id'])}/upload`,
      {
        method: 'POST',
        headers: { 'x-auth-id': as.authId, 'x-auth-token': as.authToken },
        body: form,
      },
    );
    await checked(first.api('POST', `campaigns/${String(campaign['id'])}/start`, undefined, as));
  }
}

async function checked(
  request: Promise<{ status: number; text: string; body: Json }>,
): Promise<Json> {
  const { status, text, body } = await request;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
}

/** All records; undefined if one was added between two pages. */
async function allRecords(get: (path: string) => Promise<Answer>): Promise<Json[] | undefined> {
  const found: Json[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await get(`cdr?per_page=100&page=${page}`);
    const part = (body['data'] as Json[] | undefined) ?? [];
    found.push(...part);
    const { total } = (body['pagination'] ?? {}) as { readonly total?: number };
    if (part.length === 100) continue;
    const isStable =
      found.length === total && new Set(found.map(({ uuid }) => uuid)).size === total;
    return isStable ? found : undefined;
  }
}

/** Records and ledger of the account, after all calls have ended and were reported. */
export async function observeEnd(
  clients: Clients,
  service: Service,
  observe: (observation: Observation) => void,
): Promise<void> {
  const { account, customer } = clients;
  const api = (path: string) => service.api('GET', path, undefined, account);
  await eventually(
    'the end of all calls',
    async () => {
      const { body } = await api('Call/?status=live');
      return (body['calls'] as unknown[] | undefined)?.length === 0 || undefined;
    },
    90_000,
  );
  const rows = await eventually(
    'the report of all calls',
    async () => {
      const found = await allRecords(api);
      if (found === undefined) return undefined;
      const told = new Set(customer.at('/hangup').map(({ form }) => form['CallUUID']));
      const answered = found.filter((row) => row['answer_time'] !== null);
      return answered.every((row) => told.has(String(row['uuid']))) ? found : undefined;
    },
    60_000,
  ).catch(async () => (await allRecords(api)) ?? []);
  for (const row of rows)
    observe({
      kind: 'record',
      call: String(row['sip_call_id']),
      uuid: String(row['uuid']),
      answered: row['answer_time'] !== null,
      billsec: Number(row['billsec']),
      cost: micros(row['total_cost']),
    });
  for (let page = 1; ; page += 1) {
    const { body } = await api(`transactions?per_page=1000&page=${page}`);
    for (const entry of body['transactions'] as Json[]) {
      const type = String(entry['type']);
      // Earlier credits are part of the first balance.
      if (type === 'credit' && !String(entry['description']).startsWith('credit-')) continue;
      observe({
        kind: 'entry',
        id: String(entry['id']),
        type,
        amount: micros(entry['amount']),
        reference: String(type === 'credit' ? entry['description'] : entry['reference']),
      });
    }
    if (page >= Number(body['total_pages'])) break;
  }
  const held = await eventually(
    'released slots',
    async () => {
      const { body } = await api('concurrency');
      return body['concurrent_calls'] === 0 ? 0 : undefined;
    },
    40_000,
  ).catch(async () => Number((await api('concurrency')).body['concurrent_calls']));
  const { body } = await api('balance/USD');
  observe({
    kind: 'end',
    balance: micros(body['balance']),
    reserved: micros(body['reserved_funds']),
    slotsUsed: held,
  });
}
