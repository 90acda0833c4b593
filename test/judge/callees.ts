/** Called parties of a judged run, and the clients that call them: a campaign, and requests for single calls. */
import { setTimeout as pause } from 'node:timers/promises';
import { Carrier, type Fate } from '../e2e/carrier.ts';
import type { AccountKey, Service } from '../e2e/service.ts';
import { type Again, checked, oneOf, type Scene } from './scene.ts';

export const CAMPAIGN_MOST = 2;
/** A first call and two retries. */
export const DIALS_MOST = 3;
const FROM = '14155550100';
const CONTACT = 14_155_560_000;
const REQUESTED = 14_155_570_000;
/** Prefixes of all called numbers. */
export const CALLED = [CONTACT, REQUESTED].map((number) => String(number).slice(0, 7));
const CONTACTS_PER_MINUTE = 60;
const CONTACTS_LEAST = 60;
const CONTACTS_MOST = 8000;
const RING_S = 4;
/** Interval at which a paused campaign is resumed, ms. */
const RESUME_MS = 10_000;
const ATTEMPTS = 3;
const REQUESTERS = 2;
/** Longest time between two requests for the same call, so that the second finds the first in progress, ms. */
const TOGETHER_MS = 200;

/** Behavior of a called number. Contacts that do not answer the first call answer a later one, or never. */
function fateOf(number: string, turn: number): Fate {
  const kind = Number(number.at(-1));
  if (kind === 8 || (kind >= 5 && kind <= 6 && turn === 0)) return { kind: 'rings' };
  if (kind === 7 && turn < 2) return { kind: 'refused', status: '486 Busy Here' };
  return { kind: 'answered', talkMs: kind === 9 ? 200 : 500 + kind * 900 };
}

export interface CalleeUrls {
  readonly answer_url: string;
  readonly hangup_url: string;
  readonly ring_url: string;
}

export class Callees {
  readonly #scene: Scene;
  readonly #carrier: Carrier;
  readonly #account: AccountKey;
  readonly #urls: CalleeUrls;
  #requests = 0;
  #campaign = '';

  private constructor(scene: Scene, carrier: Carrier, account: AccountKey, urls: CalleeUrls) {
    this.#scene = scene;
    this.#carrier = carrier;
    this.#account = account;
    this.#urls = urls;
  }

  static async start(
    scene: Scene,
    first: Service,
    { account, urls }: { readonly account: AccountKey; readonly urls: CalleeUrls },
  ): Promise<Callees> {
    const carrier = await Carrier.listen(fateOf);
    await first.admin('POST', `/accounts/${account.authId}/caller-ids`, { number: `+${FROM}` });
    await checked(
      first.admin('POST', '/carriers', {
        name: 'judge',
        host: '127.0.0.1',
        port: carrier.port,
        transport: 'udp',
        prefixes: [''],
        probe: false,
      }),
    );
    return new Callees(scene, carrier, account, urls);
  }

  loops(again: Again): readonly Promise<void>[] {
    const requests = Array.from({ length: REQUESTERS }, () => again(() => this.#request()));
    return [...requests, again(() => this.#resume())];
  }

  async startCampaign(first: Service): Promise<void> {
    const as = this.#account;
    const agent = { name: 'Judge', ring_timeout: RING_S, ...this.#urls };
    const { id: agent_id } = await checked(first.api('POST', 'campaign/agents', agent, as));
    const campaign = {
      name: 'Judge',
      agent_id,
      max_concurrent: CAMPAIGN_MOST,
      timezone: 'UTC',
      caller_id_strategy: 'fixed',
      fixed_caller_id: FROM,
      retry_attempts: DIALS_MOST - 1,
      retry_delays: [1],
    };
    const made = await checked(first.api('POST', 'campaigns', campaign, as));
    this.#campaign = String(made['id']);
    const length = Math.min(
      CONTACTS_MOST,
      CONTACTS_LEAST + Math.ceil(this.#scene.minutes * CONTACTS_PER_MINUTE),
    );
    const rows = Array.from({ length }, (_, index) => `+${CONTACT + index}`);
    const form = new FormData();
    form.append('file', new Blob([['to', ...rows].join('\n')], { type: 'text/csv' }), 'list.csv');
    await fetch(`${first.baseUrl}/api/v1/account/${as.authId}/campaigns/${this.#campaign}/upload`, {
      method: 'POST',
      headers: { 'x-auth-id': as.authId, 'x-auth-token': as.authToken },
      body: form,
    });
    await checked(first.api('POST', `campaigns/${this.#campaign}/start`, undefined, as));
  }

  /** A campaign may be paused while nodes fail. */
  async #resume(): Promise<void> {
    await pause(this.#scene.random() * RESUME_MS);
    const service = oneOf(this.#scene)?.service;
    await service?.api('POST', `campaigns/${this.#campaign}/resume`, undefined, this.#account);
  }

  /** Requests a call; without a clear answer, and sometimes with one, again with the same key on some node. */
  async #request(): Promise<void> {
    const { random } = this.#scene;
    this.#requests += 1;
    const to = String(REQUESTED + this.#requests);
    const again = (): Promise<unknown> => pause(random() * TOGETHER_MS).then(() => this.#ask(to));
    if (random() < 0.3) await Promise.all([this.#ask(to), again()]);
    else
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const status = await this.#ask(to);
        if (status !== undefined && status < 500 && random() < 0.7) break;
        await pause(random() * 1000);
      }
    await pause(300 + random() * 1200);
  }

  async #ask(to: string): Promise<number | undefined> {
    const { observe, nowMs } = this.#scene;
    const node = oneOf(this.#scene);
    if (node === undefined) return undefined;
    const { authId, authToken } = this.#account;
    const fromMs = nowMs();
    const status = await fetch(`${node.service.baseUrl}/api/v1/Account/${authId}/Call/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-auth-id': authId,
        'x-auth-token': authToken,
        'idempotency-key': `call-${to}`,
      },
      body: JSON.stringify({ from: FROM, to, ring_timeout: RING_S, ...this.#urls }),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => undefined,
    );
    observe({ kind: 'request', fromMs, toMs: nowMs(), to, status });
    return status;
  }

  /** Stops the campaign, so that its last calls end. */
  async pause(service: Service): Promise<void> {
    await service.api('POST', `campaigns/${this.#campaign}/pause`, undefined, this.#account);
  }

  /** Records what the called parties saw, after all calls have ended. */
  observe(): void {
    const { observe, nowMs, nodeAt } = this.#scene;
    const offsetMs = Date.now() - nowMs();
    for (const one of this.#carrier.calls) {
      const { number, callId: call, fromPort, answeredMs, endedMs } = one;
      const node = nodeAt(fromPort);
      const fromMs = one.invitedMs - offsetMs;
      observe({ kind: 'placed', atMs: fromMs, call, node, to: number });
      const atMs = answeredMs === undefined ? 0 : answeredMs - offsetMs;
      const endMs = endedMs === undefined ? 0 : endedMs - offsetMs;
      if (answeredMs !== undefined) {
        observe({ kind: 'answered', atMs, call });
        if (endMs > 0) observe({ kind: 'ended', atMs: endMs, call, certain: true });
      }
      if (Number(number) < REQUESTED)
        observe({
          kind: 'dialed',
          fromMs,
          atMs,
          endMs,
          number,
          answered: answeredMs !== undefined,
          node,
        });
    }
  }

  /** Records the contacts as the service lists them. */
  async observeContacts(service: Service): Promise<void> {
    const path = `campaigns/${this.#campaign}/contacts`;
    for (let offset = 0; ; ) {
      const page = `${path}?limit=100&offset=${offset}`;
      const { objects } = await checked(service.api('GET', page, undefined, this.#account));
      const rows = objects as readonly { readonly to_number: string; readonly status: string }[];
      for (const { to_number, status } of rows)
        this.#scene.observe({ kind: 'contact', number: to_number.replace('+', ''), status });
      if (rows.length === 0) return;
      offset += rows.length;
    }
  }

  close(): void {
    this.#carrier.close();
  }
}
