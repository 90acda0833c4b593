/** Points an application, endpoints and numbers of an account to an agent, and restores the endpoints when it stops. */
import { ApiError, type Client } from '../../../packages/client/src/client.ts';
import type { Json } from '../output.ts';

const APPLICATIONS = '/api/v1/Account/{auth_id}/Application/';
const APPLICATION = '/api/v1/Account/{auth_id}/Application/{app_id}/';
const ENDPOINTS = '/api/v1/Account/{auth_id}/Endpoint/';
const ENDPOINT = '/api/v1/Account/{auth_id}/Endpoint/{endpoint_id}/';
const OWN_NUMBER = '/api/v1/Account/{auth_id}/numbers/{e164_number}';
const NUMBER = '/api/v1/Account/{auth_id}/numbers/{e164_number}/application';
const PAGE = 20;
/** Pages searched for an application or endpoint. */
const MAX_PAGES = 500;
/** Parameters of the hangup URL that store which endpoint the agent took, and its former application. */
const TAKEN = 'endpoint';
const FORMER = 'former_app';

export interface RegistrationOptions {
  readonly name: string;
  readonly answerUrl: string;
  readonly hangupUrl: string;
  /** Username of the endpoint whose calls the agent answers. */
  readonly endpoint: string | undefined;
  readonly numbers: readonly string[];
}

export interface Registered {
  readonly appId: number;
  /** Restores the former application of the endpoint. */
  undo(): Promise<void>;
}

/** An endpoint that an agent took. The hangup URL of its application stores it, so that a killed agent can be undone. */
interface Taken {
  readonly endpointId: string;
  /** Former application; null: none. */
  readonly former: number | null;
}

/**
 * Changes nothing if a number or the endpoint is unknown. The endpoint is changed last: an error would leave it at this
 * agent.
 */
export async function register(client: Client, options: RegistrationOptions): Promise<Registered> {
  for (const number of options.numbers) await checkNumber(client, number);
  const endpoint = await endpointOf(client, options.endpoint);
  const appName = `agent-${options.name}`;
  const known = await find(client, APPLICATIONS, (one) => one['app_name'] === appName);
  const earlier = known && takenBy(known);
  if (known && earlier && earlier.endpointId !== endpoint?.endpointId)
    await giveBack(client, appIdOf(known), earlier);
  const taken = endpoint && { ...endpoint, former: formerOf(endpoint, known, earlier) };
  const appId = await writeApplication(client, known, {
    app_name: appName,
    answer_url: options.answerUrl,
    hangup_url: urlWith(options.hangupUrl, taken),
  });
  for (const number of options.numbers) {
    await client.post(NUMBER, {
      path: { e164_number: number },
      body: { application_id: appId },
    });
  }
  if (taken === undefined) return { appId, undo: async () => undefined };
  await assign(client, taken.endpointId, appId);
  return { appId, undo: () => undo(client, appId, { taken, ...options }) };
}

async function checkNumber(client: Client, number: string): Promise<void> {
  try {
    await client.get(OWN_NUMBER, { path: { e164_number: number } });
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.status === 404;
    throw isUnknown ? new Error(`the account has no number ${number}`) : error;
  }
}

async function endpointOf(client: Client, username: string | undefined) {
  if (username === undefined) return undefined;
  const found = await find(client, ENDPOINTS, (one) => one['username'] === username);
  if (found === undefined) throw new Error(`the account has no endpoint ${username}`);
  return { endpointId: String(found['endpoint_id']), current: applicationOf(found) };
}

const applicationOf = (endpoint: Json): number | null =>
  typeof endpoint['app_id'] === 'number' ? endpoint['app_id'] : null;

const appIdOf = (application: Json): number => Number(application['app_id']);

/** Returns the application to restore. If a killed process of this agent holds the endpoint, that process has stored it. */
function formerOf(
  { endpointId, current }: { readonly endpointId: string; readonly current: number | null },
  known: Json | undefined,
  earlier: Taken | undefined,
): number | null {
  const isHeld = known !== undefined && current === appIdOf(known);
  return isHeld && earlier?.endpointId === endpointId ? earlier.former : current;
}

/** Creates the application, or updates the addresses of the existing one. */
async function writeApplication(
  client: Client,
  known: Json | undefined,
  { app_name, ...urls }: { app_name: string; answer_url: string; hangup_url: string },
): Promise<number> {
  if (known === undefined) {
    return Number((await client.post(APPLICATIONS, { body: { app_name, ...urls } })).app_id);
  }
  const appId = appIdOf(known);
  await client.post(APPLICATION, { path: { app_id: String(appId) }, body: urls });
  return appId;
}

async function assign(client: Client, endpointId: string, appId: number | null): Promise<void> {
  await client.post(ENDPOINT, { path: { endpoint_id: endpointId }, body: { app_id: appId } });
}

/** Restores the endpoint, unless another process of the same agent has taken over its application. */
async function undo(
  client: Client,
  appId: number,
  {
    taken,
    answerUrl,
    hangupUrl,
  }: { readonly taken: Taken; readonly answerUrl: string; readonly hangupUrl: string },
): Promise<void> {
  const path = { app_id: String(appId) };
  const application = await client.get(APPLICATION, { path });
  if (application.answer_url !== answerUrl) return;
  // Another agent that took the endpoint from this one may have stopped and changed the former application.
  await giveBack(client, appId, takenBy(application) ?? taken);
  await client.post(APPLICATION, { path, body: { hangup_url: hangupUrl } });
}

/** Assigns the former application. If another agent took the endpoint from this one, that agent will do so. */
async function giveBack(client: Client, appId: number, { endpointId, former }: Taken) {
  const endpoint: Json = await client.get(ENDPOINT, { path: { endpoint_id: endpointId } });
  const current = applicationOf(endpoint);
  if (current === appId) {
    if (former !== appId) await assign(client, endpointId, former);
    return;
  }
  if (current === null) return;
  const path = { app_id: String(current) };
  const holder: Json = await client.get(APPLICATION, { path });
  const taken = takenBy(holder);
  if (taken?.endpointId !== endpointId || taken.former !== appId) return;
  const hangupUrl = urlWith(String(holder['hangup_url']), { endpointId, former });
  await client.post(APPLICATION, { path, body: { hangup_url: hangupUrl } });
}

/** Returns the hangup URL with what the agent took. */
function urlWith(hangupUrl: string, taken: Taken | undefined): string {
  const url = new URL(hangupUrl);
  if (taken !== undefined) {
    url.searchParams.set(TAKEN, taken.endpointId);
    url.searchParams.set(FORMER, String(taken.former ?? ''));
  }
  return url.href;
}

function takenBy(application: Json): Taken | undefined {
  const url = URL.parse(String(application['hangup_url']));
  const endpointId = url?.searchParams.get(TAKEN);
  const former = url?.searchParams.get(FORMER);
  if (!endpointId || former === null || former === undefined) return undefined;
  return { endpointId, former: former === '' ? null : Number(former) };
}

async function find(
  client: Client,
  path: typeof APPLICATIONS | typeof ENDPOINTS,
  matches: (one: Json) => boolean,
): Promise<Json | undefined> {
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const reply: Json = await client.get(path, { query: { limit: PAGE, offset: page * PAGE } });
    const objects = (reply['objects'] ?? []) as readonly Json[];
    const found = objects.find(matches);
    if (found !== undefined || objects.length < PAGE) return found;
  }
  return undefined;
}
