/**
 * Creates the resources of the first start, so that a first call needs no configuration: an account with credit, an
 * application, an endpoint.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { assert, isUnreadable } from '../base/errors.ts';
import { type AccountId, type AppId, newAccountId, type Random, token } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import { microsFromUnits } from '../base/money.ts';
import type { Accounts } from '../domain/account/account.ts';
import type { Ledger } from '../domain/ledger/ledger.ts';
import type { Provisioning } from '../domain/provisioning/provisioning.ts';
import type { Store } from '../edge/store/store.ts';
import { DEMO_ORIGIN } from '../edge/webhook/demo-application.ts';
import type { DemoFile } from '../phone/options.ts';
import { DEMO_FILE, writeSecret } from './data-folder.ts';

const CREDIT_UNITS = 10;
const CURRENCY = 'USD';
const ENDPOINT_NAME = 'alice';
/** Any number works: the endpoint's application answers all of them. */
const DIAL = '1000';
/** Setting key of the created resources (encrypted), for nodes that start later or at the same time. */
const MADE = 'first-start';
/** Setting key of the planned credentials, stored before creation. An interrupted start continues with them. */
const PLANNED = 'first-start-plan';
const PASSWORD_BITS = 96;
const APPLICATION_NAME = 'demo';
const URLS = { answerUrl: `${DEMO_ORIGIN}/answer`, hangupUrl: `${DEMO_ORIGIN}/hangup` };
/** Interval of checks for the result of another node, in milliseconds. */
const POLL_MS = 200;
/** Maximum wait for another node. Creation takes few writes, and a crashed node is replaced within seconds. */
const TIMEOUT_MS = 30_000;

export interface FirstStartNeeds {
  readonly store: Pick<Store, 'settings' | 'nodes'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly provisioning: Provisioning;
  readonly random: Random;
  readonly dataDir: string;
  readonly sip: { readonly host: string; readonly port: number };
  readonly baseUrl: string;
}

/** Created resources, shared by all nodes. Addresses differ per node. */
interface Made extends Omit<DemoFile, 'sipHost' | 'sipPort' | 'baseUrl'> {
  readonly authId: AccountId;
  readonly appId: AppId;
}

type Plan = Pick<Made, 'authId' | 'authToken' | 'password'>;
type Settings = Store['settings'];

/**
 * Creates the first account and its resources once per store, and writes the user's data to `demo.json` in the data
 * folder. Nodes that share a store have the same account there, with their own addresses. The next start completes an
 * interrupted one. `wanted`: the demo is enabled. Returns undefined if nothing was created and nothing is needed.
 * `isFirst`: this start created it.
 */
export async function firstStart(
  needs: FirstStartNeeds,
  wanted: boolean,
): Promise<FirstStarted | undefined> {
  try {
    return await create(needs, wanted);
  } catch (error) {
    // The service also runs without these resources.
    if (!isUnreadable(error)) throw error;
    needs.logger.error({ error }, 'the first account cannot be read');
    return undefined;
  }
}

interface FirstStarted {
  readonly things: DemoFile;
  readonly isFirst: boolean;
}

async function create(needs: FirstStartNeeds, wanted: boolean): Promise<FirstStarted | undefined> {
  const path = join(needs.dataDir, DEMO_FILE);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  if (text === undefined && !wanted) return undefined;
  const inFile = text === undefined ? undefined : readFile(needs, path, text);
  const known = inFile && (await ofThisStore(needs, inFile));
  if (inFile !== undefined && known === undefined && !wanted) return undefined;
  const found = known === undefined ? await findOrMake(needs) : { made: known, isFirst: false };
  if (found === undefined) return undefined;
  const things = { ...found.made, ...addresses(needs) };
  if (wanted) await leaveOldPlace(needs, things);
  const now = `${JSON.stringify(things, null, 2)}\n`;
  if (now !== text) writeSecret(path, now);
  return { things, isFirst: found.isFirst };
}

/**
 * Lets the node that holds the lease in the store create the resources; the others wait for the result. Returns
 * undefined on timeout.
 */
async function findOrMake(
  needs: FirstStartNeeds,
): Promise<{ readonly made: Made; readonly isFirst: boolean } | undefined> {
  const { store, clock, logger } = needs;
  const untilMs = clock.monotonicMs() + TIMEOUT_MS;
  while (clock.monotonicMs() < untilMs) {
    const isMine = await store.nodes.claim('firstStart');
    // Checked after the claim: the former holder may have finished and left in between.
    const made = await retained<Made>(store.settings, MADE);
    if (made !== undefined) return { made, isFirst: false };
    if (isMine) {
      const own = await makeFirstThings(needs);
      return { made: await keep(store.settings, MADE, own), isFirst: true };
    }
    await clock.sleep(POLL_MS);
  }
  logger.warn({}, 'timed out waiting for another node to create the first account');
  return undefined;
}

/** Returns undefined for a damaged file, which is then written again from the store. */
function readFile({ logger }: FirstStartNeeds, path: string, text: string): Made | undefined {
  try {
    const read = JSON.parse(text) as Partial<Made> | null;
    if (typeof read?.authId !== 'string') throw new Error('the file has no account');
    return read as Made;
  } catch (error) {
    logger.error({ error, path }, 'the file of the first account cannot be read');
    return undefined;
  }
}

async function retained<T>(settings: Settings, key: string): Promise<T | undefined> {
  const text = await settings.secret(key);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** Stores a value unless one exists. Returns the stored value. */
const keep = async <T>(settings: Settings, key: string, value: T): Promise<T> =>
  JSON.parse(await settings.keepSecret(key, JSON.stringify(value))) as T;

/**
 * Returns the data of the file, or that of the store if the file is from another store, such as before a change of
 * `store.url`. Returns undefined if this store has no such account. Copies the file of an earlier version into the store.
 */
async function ofThisStore(
  { accounts, store: { settings } }: FirstStartNeeds,
  known: Made,
): Promise<Made | undefined> {
  const made = await retained<Made>(settings, MADE);
  // The file of the same account is preferred: its user may have changed the password.
  if (made !== undefined) return made.authId === known.authId ? known : made;
  if ((await accounts.get(known.authId)) === undefined) return undefined;
  const { username, password, dial, authId, authToken, appId } = known;
  await keep<Made>(settings, MADE, { username, password, dial, authId, authToken, appId });
  return known;
}

const addresses = ({ sip, baseUrl }: FirstStartNeeds) => ({
  sipHost: sip.host,
  sipPort: sip.port,
  baseUrl,
});

/** Creates the resources. Each step reuses what an interrupted start created. */
async function makeFirstThings(needs: FirstStartNeeds): Promise<Made> {
  const { accounts, ledger, random, store } = needs;
  const plan = await keep<Plan>(store.settings, PLANNED, {
    authId: newAccountId(random, 'MA'),
    authToken: token(random),
    password: token(random, PASSWORD_BITS),
  });
  await accounts.createDrawn({ name: 'First account', currency: CURRENCY }, plan);
  const amount = microsFromUnits(CREDIT_UNITS);
  assert(amount !== undefined, 'ten units fit');
  await ledger.adjust({
    accountId: plan.authId,
    currency: CURRENCY,
    amount,
    description: 'Starting credit',
    key: 'first-start',
  });
  const appId = await firstApplication(needs, plan);
  return { username: await firstEndpoint(needs, plan, appId), dial: DIAL, ...plan, appId };
}

async function firstApplication(needs: FirstStartNeeds, { authId }: Plan): Promise<AppId> {
  const { applications } = needs.provisioning;
  const earlier = await applications.list({ accountId: authId }, ONE);
  const [
    application = await applications.create({
      accountId: authId,
      name: APPLICATION_NAME,
      ...URLS,
    }),
  ] = earlier.items;
  return application.appId;
}

/** Returns the user name with which the endpoint registers. */
async function firstEndpoint(
  { provisioning: { endpoints } }: FirstStartNeeds,
  { authId: accountId, password }: Plan,
  appId: AppId,
): Promise<string> {
  const earlier = await endpoints.list({ accountId }, ONE);
  if (earlier.items[0] !== undefined) return earlier.items[0].username;
  const named = { username: ENDPOINT_NAME, alias: ENDPOINT_NAME };
  const made = await endpoints.create({ accountId, ...named, password, appId });
  assert(made.ok, 'the first endpoint needs nothing that could be missing');
  return made.value.username;
}

const ONE = { limit: 1, offset: 0 };

/** Corrects the URL that earlier versions wrote with the port of the demo's last start. A URL set by a user is kept. */
async function leaveOldPlace(
  { provisioning: { applications } }: FirstStartNeeds,
  { authId, appId }: Made,
): Promise<void> {
  const found = await applications.get(authId, appId);
  if (!found.ok || found.value.name !== APPLICATION_NAME) return;
  const { answerUrl, hangupUrl } = found.value;
  const [, port] = /^http:\/\/127\.0\.0\.1:(\d+)\/answer$/.exec(answerUrl) ?? [];
  if (port === undefined || hangupUrl !== `http://127.0.0.1:${port}/hangup`) return;
  await applications.patch(authId, appId, URLS);
}
