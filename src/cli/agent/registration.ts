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

/** Changes nothing if a number is unknown. The endpoint is changed last: an error would leave it at this agent. */
export async function register(client: Client, options: RegistrationOptions): Promise<Registered> {
  for (const number of options.numbers) await checkNumber(client, number);
  const appId = await applicationFor(client, options);
  for (const number of options.numbers) {
    await client.post(NUMBER, {
      path: { e164_number: number },
      body: { application_id: appId },
    });
  }
  return { appId, undo: await takeEndpoint(client, options.endpoint, appId) };
}

async function checkNumber(client: Client, number: string): Promise<void> {
  try {
    await client.get(OWN_NUMBER, { path: { e164_number: number } });
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.status === 404;
    throw isUnknown ? new Error(`the account has no number ${number}`) : error;
  }
}

/** Creates the application `agent-<name>`, or updates the addresses of the existing one. */
async function applicationFor(
  client: Client,
  { name, answerUrl, hangupUrl }: RegistrationOptions,
): Promise<number> {
  const appName = `agent-${name}`;
  const urls = { answer_url: answerUrl, hangup_url: hangupUrl };
  const known = await find(client, APPLICATIONS, (one) => one['app_name'] === appName);
  if (known === undefined) {
    const made = await client.post(APPLICATIONS, { body: { app_name: appName, ...urls } });
    return Number(made.app_id);
  }
  const appId = String(known['app_id']);
  await client.post(APPLICATION, { path: { app_id: appId }, body: urls });
  return Number(appId);
}

async function takeEndpoint(
  client: Client,
  username: string | undefined,
  appId: number,
): Promise<() => Promise<void>> {
  if (username === undefined) return async () => undefined;
  const endpoint = await find(client, ENDPOINTS, (one) => one['username'] === username);
  if (endpoint === undefined) throw new Error(`the account has no endpoint ${username}`);
  const path = { endpoint_id: String(endpoint['endpoint_id']) };
  const former = typeof endpoint['app_id'] === 'number' ? endpoint['app_id'] : null;
  await client.post(ENDPOINT, { path, body: { app_id: appId } });
  return async () => {
    if (former !== appId) await client.post(ENDPOINT, { path, body: { app_id: former } });
  };
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
