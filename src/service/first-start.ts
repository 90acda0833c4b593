/** What the first start makes so that a first call needs no configuration: an account with credit, an application, an endpoint. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import { type AccountId, type AppId, type Random, token } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import { microsFromUnits } from '../base/money.ts';
import type { Demo } from '../demo/demo.ts';
import type { Accounts } from '../domain/account/account.ts';
import type { Ledger } from '../domain/ledger/ledger.ts';
import type { Provisioning } from '../domain/provisioning/provisioning.ts';
import type { Store } from '../edge/store/store.ts';
import type { DemoFile } from '../phone/options.ts';
import { DEMO_FILE, writeSecret } from './data-folder.ts';

const CREDIT_UNITS = 10;
const CURRENCY = 'USD';
const ENDPOINT_NAME = 'alice';
/** Any number does: the endpoint's application answers whatever it dials. */
const DIAL = '1000';
/** In the store, sealed: what was made, for nodes that come later or at the same moment. */
const MADE = 'first-start';
/** Between two looks at what another node is making. */
const LOOK_MS = 200;
/** Making takes a handful of writes; a node that dies amid them is found dead within seconds. */
const PATIENCE_MS = 30_000;

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

/** The same for every node; addresses are each node's own. */
interface Made extends Omit<DemoFile, 'sipHost' | 'sipPort' | 'baseUrl'> {
  readonly authId: AccountId;
  readonly appId: AppId;
}

/**
 * Makes the first account and its things, once per store, and keeps what a person needs in `demo.json` of the data folder:
 * of several nodes that share a store each has the same account there, with its own addresses. At later starts the
 * application is pointed at the demo of this start, whose port is chosen anew. Undefined: nothing was made here, and
 * nothing has to be. `isFirst`: this start has made it.
 */
export async function firstStart(
  needs: FirstStartNeeds,
  demo: Demo | undefined,
): Promise<{ readonly things: DemoFile; readonly isFirst: boolean } | undefined> {
  const path = join(needs.dataDir, DEMO_FILE);
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Made) : undefined;
  if (known === undefined && demo === undefined) return undefined;
  const found = known === undefined ? await findOrMake(needs) : { made: known, isFirst: false };
  if (found === undefined) return undefined;
  if (known !== undefined) await tellOthers(needs, known);
  const things = { ...found.made, ...addresses(needs) };
  if (demo !== undefined) await pointAtDemo(needs, things, demo);
  writeSecret(path, `${JSON.stringify(things, null, 2)}\n`);
  return { things, isFirst: found.isFirst };
}

/** One node makes it, whose lease in the store says so; the others wait for what it has made. Undefined: not in time. */
async function findOrMake(
  needs: FirstStartNeeds,
): Promise<{ readonly made: Made; readonly isFirst: boolean } | undefined> {
  const { store, clock, logger } = needs;
  const untilMs = clock.monotonicMs() + PATIENCE_MS;
  while (clock.monotonicMs() < untilMs) {
    const isMine = await store.nodes.claim('firstStart');
    // After the claim: who had it may have finished, and left, in between.
    const made = await madeEarlier(store);
    if (made !== undefined) return { made, isFirst: false };
    if (isMine) return { made: await keep(store, await makeFirstThings(needs)), isFirst: true };
    await clock.sleep(LOOK_MS);
  }
  logger.warn({}, 'another node has begun to make the first account, and has not ended');
  return undefined;
}

async function madeEarlier({ settings }: FirstStartNeeds['store']): Promise<Made | undefined> {
  const text = await settings.secret(MADE);
  return text === undefined ? undefined : (JSON.parse(text) as Made);
}

const keep = async ({ settings }: FirstStartNeeds['store'], made: Made): Promise<Made> =>
  JSON.parse(await settings.keepSecret(MADE, JSON.stringify(made))) as Made;

/** Folders of earlier versions have a file, and their store does not know of it. */
async function tellOthers({ accounts, store }: FirstStartNeeds, known: Made): Promise<void> {
  if ((await accounts.get(known.authId)) === undefined) return;
  const { username, password, dial, authId, authToken, appId } = known;
  await keep(store, { username, password, dial, authId, authToken, appId });
}

const addresses = ({ sip, baseUrl }: FirstStartNeeds) => ({
  sipHost: sip.host,
  sipPort: sip.port,
  baseUrl,
});

async function makeFirstThings(needs: FirstStartNeeds): Promise<Made> {
  const { accounts, ledger, provisioning, random } = needs;
  const created = await accounts.create({ name: 'First account', currency: CURRENCY });
  assert(created.ok, 'the first account needs nothing that could be missing');
  const { account, authToken } = created.value;
  const amount = microsFromUnits(CREDIT_UNITS);
  assert(amount !== undefined, 'ten units fit');
  await ledger.adjust({
    accountId: account.authId,
    currency: CURRENCY,
    amount,
    description: 'Starting credit',
    key: 'first-start',
  });
  const application = await provisioning.applications.create({
    accountId: account.authId,
    name: 'demo',
    answerUrl: 'http://127.0.0.1/',
  });
  const password = token(random, 96);
  const endpoint = await provisioning.endpoints.create({
    accountId: account.authId,
    username: ENDPOINT_NAME,
    alias: ENDPOINT_NAME,
    password,
    appId: application.appId,
  });
  assert(endpoint.ok, 'the first endpoint needs nothing that could be missing');
  return {
    username: endpoint.value.username,
    password,
    dial: DIAL,
    authId: account.authId,
    authToken,
    appId: application.appId,
  };
}

async function pointAtDemo(
  { provisioning }: FirstStartNeeds,
  things: Made,
  demo: Demo,
): Promise<void> {
  // A person may have removed or taken over the application meanwhile: then it is theirs.
  const found = await provisioning.applications.get(things.authId, things.appId);
  if (!found.ok || found.value.name !== 'demo') return;
  await provisioning.applications.patch(things.authId, things.appId, {
    answerUrl: demo.answerUrl,
    hangupUrl: demo.hangupUrl,
  });
}

/** What stands behind the `#` stays in the browser. */
function phoneLink({ baseUrl, username, password, dial }: DemoFile): string {
  const account = new URLSearchParams({ user: username, password, dial });
  return `${baseUrl}/phone#${account}`;
}

/** What a person needs for a first call; printed once. */
export function welcome(things: DemoFile, dataDir: string, consoleLink: string): string {
  const auth = `-H 'X-Auth-ID: ${things.authId}' -H 'X-Auth-Token: ${things.authToken}'`;
  return `
  Carillon is running. What you need for a first call (kept in ${join(dataDir, DEMO_FILE)}):

    REST base URL   ${things.baseUrl}
    auth id         ${things.authId}
    auth token      ${things.authToken}
    SIP address     sip:${things.username}@${things.sipHost}:${things.sipPort}  (UDP and TCP)
    SIP user        ${things.username}
    SIP password    ${things.password}
    number to dial  ${things.dial}  (an echo bot answers)

    curl ${auth} ${things.baseUrl}/api/v1/Account/${things.authId}/balance/${CURRENCY}

  A phone in a browser:  ${phoneLink(things)}
  The console:           ${consoleLink}  (opens once: choose your password)
  In a second terminal:  npm run call
`;
}
