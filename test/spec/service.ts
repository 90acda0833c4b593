/** The REST interface on an in-memory store, without sockets. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { AccountId } from '../../src/base/ids.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import { micros } from '../../src/base/money.ts';
import { ok } from '../../src/base/result.ts';
import { VERSION } from '../../src/config/version.ts';
import type { NewAccount } from '../../src/domain/account/account.ts';
import { Deliveries } from '../../src/domain/callback/callback.ts';
import type { NewEntry } from '../../src/domain/ledger/types.ts';
import { openEgressGuard } from '../../src/edge/egress/egress.ts';
import { createPasswordHasher } from '../../src/edge/passwords/scrypt.ts';
import {
  CredentialUses,
  createLiveFeed,
  createRestServer,
  type RestDeps,
  type RestSettings,
} from '../../src/edge/rest/server.ts';
import { agentAccess } from '../../src/service/agent-definitions.ts';
import { LINK_KEY_FILE, writeSecret } from '../../src/service/data-folder.ts';
import { createDomainServices } from '../../src/service/join/domain-services.ts';
import { restSettings } from '../../src/service/join/rest-settings.ts';
import { derive } from '../../src/service/settings.ts';
import { openAt } from '../edge/store/open.ts';
import { testSettings } from '../foundation.ts';
import { NO_TRANSCRIPTIONS } from '../no-speech.ts';
import { stillCampaigns } from './campaigns/service.ts';
import { expectDocumented } from './documented.ts';
import { FakeControl } from './fake-control.ts';
import { watchReplies } from './reply-schemas.ts';

export const ADMIN_TOKEN = 'operator-token';
export const SCRAPE_TOKEN = 'scrape-token';
const LINK_KEY = 'link-key';
/** Settings with a small body limit, and without other limits that a test could reach accidentally. */
const ENVIRONMENT = {
  CARILLON_HTTP_HOST: '127.0.0.1',
  CARILLON_HTTP_PORT: '0',
  CARILLON_HTTP_BODY_LIMIT_BYTES: '65536',
  CARILLON_HTTP_UPLOAD_LIMIT_BYTES: '1048576',
  CARILLON_HTTP_REQUESTS_PER_SECOND: '100000',
  CARILLON_HTTP_REFUSED_PER_SECOND: '100000',
  CARILLON_HTTP_CONNECTIONS_PER_ADDRESS: '1000',
  CARILLON_HTTP_OPERATOR_PAGES: 'open',
  CARILLON_PUBLIC_URL: 'http://voice.test',
  CARILLON_SIP_PUBLIC_HOST: 'registrar.test',
  CARILLON_INVOICES_SELLER: 'Carillon\n1 Bell Lane',
};

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface Credentials {
  readonly authId: AccountId;
  readonly authToken: string;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Credentials. Default: the service's first account. Null: none. */
  readonly as?: Credentials | null;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

export interface ServiceOptions {
  readonly settings?: Partial<RestSettings>;
  readonly logger?: Logger;
  readonly usernameSuffix?: 'always' | 'when-taken';
  readonly releaseCooldownMs?: number;
  readonly deps?: Partial<RestDeps>;
  /** Data folder. Default: an in-memory store. */
  readonly dataDir?: string;
}

export async function startService(options: ServiceOptions = {}) {
  watchReplies();
  const { store, clock, random } = await openAt(options.dataDir ?? ':memory:');
  const folder = mkdtempSync(join(tmpdir(), 'carillon-rest-'));
  const control = new FakeControl();
  const facts = createDomainServices(store, {
    clock,
    random,
    logger: silentLogger,
    accounts: { concurrentCallsLimit: 10, cpsLimit: 5, currency: 'USD', country: 'US' },
    provisioning: {
      realm: 'carillon',
      usernameSuffix: options.usernameSuffix ?? 'always',
      releaseCooldownMs: options.releaseCooldownMs ?? 0,
    },
    recordingFiles: { remove: async () => undefined },
    hasher: createPasswordHasher({ N: 16, r: 8, p: 1 }),
  });
  writeSecret(join(folder, LINK_KEY_FILE), `${LINK_KEY}\n`);
  const operator = testSettings(ENVIRONMENT);
  const settings: RestSettings = {
    ...restSettings({ settings: operator, dataDir: folder, random }, derive(operator)),
    ...options.settings,
  };
  const { campaigns, dialer } = stillCampaigns({ ...facts, store, clock, random });
  const deps: RestDeps = {
    ...facts,
    control,
    settings,
    clock,
    random,
    logger: options.logger ?? silentLogger,
    signingTokens: store.signingTokens,
    onExportQueued: () => undefined,
    campaigns,
    transcriptions: NO_TRANSCRIPTIONS,
    liveCalls: {
      list: async () => control.calls,
      get: async () => undefined,
      quality: async (callUuid) => {
        const call = control.calls.find((one) => one.callUuid === callUuid);
        return call && control.audio !== undefined ? { call, quality: QUALITY } : undefined;
      },
      scores: async () => [],
      hangup: async () => false,
      messages: async () => undefined,
      qualitySamples: async () => undefined,
    },
    operations: idleOperations(),
    callListening: {
      listen: async () =>
        control.audio === undefined ? 'unknown' : Readable.from([control.audio]),
      watchStreams: async () => 'unknown',
      stop: () => undefined,
    },
    deliveries: new Deliveries({
      http: {
        send: async () =>
          ok({ status: 200, contentType: 'text/xml', body: '<Response/>', durationMs: 3 }),
      },
      tokens: store.signingTokens,
      random,
      settings: operator.webhooks,
      clock,
      notifications: store.notifications,
      store: store.deliveries,
      logger: silentLogger,
    }),
    credentialUses: new CredentialUses({
      store: store.credentialUses,
      clock,
      logger: silentLogger,
    }),
    streamTests: { run: async () => ok({ faults: [], observations: [], log: [] }) },
    agents: agentAccess({
      random,
      environment: {},
      isAllowed: () => true,
      egress: openEgressGuard(),
    }),
    liveFeed: createLiveFeed(clock, { list: async () => control.calls, scores: async () => [] }),
    takeUpgrade: (_request, socket) => socket.destroy(),
    isAdminToken: (token) => token === ADMIN_TOKEN,
    isScrapeToken: (token) => token === SCRAPE_TOKEN,
    ...options.deps,
  };
  const server = createRestServer(deps);

  const addAccount = async (input: NewAccount = { name: 'Ada' }): Promise<Credentials> => {
    const made = await facts.accounts.create({ concurrentCallsLimit: 10, cpsLimit: 5, ...input });
    if (!made.ok) throw new Error(made.error.kind);
    return { authId: made.value.account.authId, authToken: made.value.authToken };
  };
  const account = await addAccount();

  const send = async (
    method: Method,
    url: string,
    request: RequestOptions = {},
  ): Promise<Reply> => {
    const as = request.as === undefined ? account : request.as;
    const reply = await server.app.inject({
      method,
      url,
      headers: {
        ...(as && { 'x-auth-id': as.authId, 'x-auth-token': as.authToken }),
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body !== undefined && {
        payload: typeof request.body === 'string' ? request.body : JSON.stringify(request.body),
      }),
    });
    expectDocumented(method, url, reply.statusCode);
    const isJson = String(reply.headers['content-type']).includes('application/json');
    return {
      status: reply.statusCode,
      body: isJson && reply.body !== '' ? JSON.parse(reply.body) : undefined,
      text: reply.body,
      headers: reply.headers,
    };
  };

  return {
    ...facts,
    store,
    server,
    control,
    dialer,
    clock,
    random,
    settings,
    operations: deps.operations,
    folder,
    account,
    /** Path of the first account: `/api/v1/Account/<auth ID>`. */
    root: `/api/v1/Account/${account.authId}`,
    addAccount,
    async addSubAccount(parent: Credentials = account): Promise<Credentials> {
      const made = await facts.accounts.createSubAccount(parent.authId, { name: 'Sub' });
      if (!made.ok) throw new Error(made.error.kind);
      return { authId: made.value.account.authId, authToken: made.value.authToken };
    },
    send,
    get: (url: string, request?: RequestOptions) => send('GET', url, request),
    post: (url: string, body: unknown, request?: RequestOptions) =>
      send('POST', url, { ...request, body }),
    admin: (method: Method, url: string, body?: unknown) =>
      send(method, `/admin/v1${url}`, {
        as: null,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        ...(body !== undefined && { body }),
      }),
    /** Posts an entry now; amount in units, not millionths. */
    async book(entry: Partial<Omit<NewEntry, 'amount'>> & { readonly amount: number }) {
      const posted = await store.ledger.post(
        [
          {
            accountId: account.authId,
            currency: 'USD',
            type: 'debit',
            description: 'Call',
            reference: undefined,
            referenceType: 'cdr',
            ...entry,
            amount: micros(Math.round(entry.amount * 1_000_000)),
          },
        ],
        { checked: false },
      );
      if (!posted.ok) throw new Error(posted.error);
      const [booked] = posted.value;
      if (booked === undefined) throw new Error('no entry was posted');
      return booked;
    },
    async stop() {
      await server.stop();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Service = Awaited<ReturnType<typeof startService>>;

export const idleOperations = (): RestDeps['operations'] => ({
  readiness: async () => [{ part: 'store', ready: true, detail: '' }],
  status: async () => ({
    version: VERSION,
    startedUs: Date.UTC(2026, 0, 1) * 1000,
    uptimeMs: 0,
    draining: false,
    callsActive: 0,
    callsLimit: 100,
    callsPerSecond: 0.3,
    registrations: 0,
    parts: [],
  }),
  registrations: () => [],
  registrationOf: () => undefined,
  sipPort: () => 5060,
  carriers: () => [],
  drain: () => undefined,
  metrics: async () => ({ contentType: 'text/plain', text: 'up 1\n' }),
  backup: async (name) => ({ path: name, bytes: 1 }),
  backupProgress: () => undefined,
  alarms: async () => [],
  endedAlarms: async () => ({ items: [], total: 0 }),
  acknowledgeAlarm: async () => false,
  settings: async () => ({ settings: [], problems: [] }),
  runDoctor: async () => ok({ finishedUs: 0, findings: [] }),
  lastDoctor: () => undefined,
  history: { isAvailable: false, read: async () => ok({ stepS: 1, calls: [], rate: [] }) },
  log: async () => undefined,
  nodes: async () => [],
  drainNode: async () => false,
  unreadableRows: async () => ({ items: [], total: 0 }),
  removeUnreadableRow: async () => false,
  reload: async () => ok({ changed: [], needsRestart: [], rates: 0, carriers: 0 }),
});

const QUALITY = {
  packetsReceived: 250,
  packetsSent: 200,
  packetsLost: 0,
  packetsLate: 0,
  jitterMs: 4,
  lossFraction: 0,
  mos: 4.1,
  roundTripMs: 30,
};
