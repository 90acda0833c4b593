/** What the first start makes so that a first call needs no configuration: an account with credit, an application, an endpoint. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../base/errors.ts';
import { type AccountId, type AppId, type Random, token } from '../base/ids.ts';
import { microsFromUnits } from '../base/money.ts';
import type { Demo } from '../demo/demo.ts';
import type { Accounts } from '../domain/account/account.ts';
import type { Ledger } from '../domain/ledger/ledger.ts';
import type { Provisioning } from '../domain/provisioning/provisioning.ts';
import type { DemoFile } from '../phone/options.ts';
import { DEMO_FILE, writeSecret } from './data-folder.ts';

const CREDIT_UNITS = 10;
const CURRENCY = 'USD';
const ENDPOINT_NAME = 'alice';
/** Any number does: the endpoint's application answers whatever it dials. */
const DIAL = '1000';

export interface FirstStartNeeds {
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly provisioning: Provisioning;
  readonly random: Random;
  readonly dataDir: string;
  readonly sip: { readonly host: string; readonly port: number };
  readonly baseUrl: string;
}

interface FirstThings extends DemoFile {
  readonly authId: AccountId;
  readonly appId: AppId;
}

/**
 * Makes the first account and its things, once per data folder, and keeps what a person needs in `demo.json`. At later
 * starts the application is pointed at the demo of this start, whose port is chosen anew. Undefined: nothing was made
 * here, and nothing has to be.
 */
export async function firstStart(
  needs: FirstStartNeeds,
  demo: Demo | undefined,
): Promise<{ readonly things: DemoFile; readonly isFirst: boolean } | undefined> {
  const path = join(needs.dataDir, DEMO_FILE);
  const known = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as FirstThings)
    : undefined;
  if (known === undefined && demo === undefined) return undefined;
  const made = known ?? (await makeFirstThings(needs));
  const things = { ...made, ...addresses(needs) };
  if (demo !== undefined) await pointAtDemo(needs, things, demo);
  writeSecret(path, `${JSON.stringify(things, null, 2)}\n`);
  return { things, isFirst: known === undefined };
}

const addresses = ({ sip, baseUrl }: FirstStartNeeds) => ({
  sipHost: sip.host,
  sipPort: sip.port,
  baseUrl,
});

async function makeFirstThings(needs: FirstStartNeeds): Promise<FirstThings> {
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
    ...addresses(needs),
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
  things: FirstThings,
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
