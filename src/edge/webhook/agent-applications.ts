/**
 * Agents of applications on this node. Such an application uses the address of a host that never exists (RFC 6761 §6.4),
 * which each node maps to its own process of agents. The process starts with the first call.
 */
import type { AppId } from '../../base/ids.ts';
import { asAppId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { AudioStreams } from '../../domain/call/needs.ts';
import type { HttpCaller, HttpRequest } from '../../domain/callback/needs.ts';
import type { Application } from '../../domain/provisioning/types.ts';

export const AGENT_ORIGIN = 'https://agent.invalid';
/** Every customer request is tested. A regular expression is much cheaper than parsing the URL. */
const AT_AGENT = /^https:\/\/agent\.invalid\/((\d+)-[\w-]+)\/(\w+)(?=[?]|$)/i;
const STREAM_AT_AGENT = /^wss:\/\/agent\.invalid\/([\w-]+)\/stream$/i;
/** User of the agents' web servers. */
const USER = 'agent';
/** Addresses of agents that are remembered for their streams. */
const MAX_KNOWN = 10_000;

export interface AgentPlace {
  readonly port: number;
  readonly password: string;
}

export interface AgentApplicationNeeds {
  readonly applications: { get(appId: AppId): Promise<Application | undefined> };
  /** Whether the account may use agents. */
  isAllowed(application: Application): boolean;
  /** Starts the agent, or finds it running. The error text says why it cannot run. */
  run(application: Application, url: string): Promise<Result<AgentPlace, string>>;
  readonly logger: Logger;
}

export class AgentApplications {
  readonly #needs: AgentApplicationNeeds;
  /** Places by the part of the URL that names the application. */
  readonly #known = new Map<string, AgentPlace>();

  constructor(needs: AgentApplicationNeeds) {
    this.#needs = needs;
  }

  /** Whether an HTTP or WebSocket URL addresses a running agent. Its password protects it from other accounts. */
  isAt({ hostname, port }: URL): boolean {
    if (hostname !== '127.0.0.1') return false;
    return [...this.#known.values()].some((place) => String(place.port) === port);
  }

  /** Routes requests for agents to them, and passes all other requests to `http`. */
  before<Http extends HttpCaller>(http: Http): Http {
    return {
      ...http,
      send: (request, signal) => {
        const [, name, appId, path] = AT_AGENT.exec(request.url) ?? [];
        if (name === undefined || path === undefined) return http.send(request, signal);
        return this.#send(http, request, { name, path, appId: asAppId(Number(appId)), signal });
      },
    };
  }

  /** Routes streams of agents to them. */
  streams<Streams extends AudioStreams>(streams: Streams): Streams {
    return {
      ...streams,
      open: (options, ...others) => {
        const place = this.#known.get(STREAM_AT_AGENT.exec(options.url)?.[1] ?? '');
        if (place === undefined) return streams.open(options, ...others);
        const url = `ws://${USER}:${place.password}@127.0.0.1:${place.port}/stream`;
        return streams.open({ ...options, url }, ...others);
      },
    };
  }

  async #send(
    http: HttpCaller,
    request: HttpRequest,
    {
      name,
      path,
      appId,
      signal,
    }: { name: string; path: string; appId: AppId; signal: AbortSignal | undefined },
  ): ReturnType<HttpCaller['send']> {
    const place = await this.#placeOf(name, appId);
    if (!place.ok) {
      this.#needs.logger.warn({ appId, reason: place.error }, 'agent of an application cannot run');
      return err({ kind: 'connect', detail: place.error, durationMs: 0 });
    }
    const { port, password } = place.value;
    const query = request.url.slice(`${AGENT_ORIGIN}/${name}/${path}`.length);
    const credentials = Buffer.from(`${USER}:${password}`).toString('base64');
    const headers = { ...request.headers, Authorization: `Basic ${credentials}` };
    return http.send(
      { ...request, url: `http://127.0.0.1:${port}/${path}${query}`, headers },
      signal,
    );
  }

  async #placeOf(name: string, appId: AppId): Promise<Result<AgentPlace, string>> {
    const application = await this.#needs.applications.get(appId);
    const base = `${AGENT_ORIGIN}/${name}`;
    if (application?.agent === undefined || application.answerUrl !== `${base}/answer`)
      return err('the application is not an agent');
    if (!this.#needs.isAllowed(application))
      return err('the account may not use agents (setting agents.accounts)');
    const place = await this.#needs.run(application, base);
    if (!place.ok) return place;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.delete(name);
    this.#known.set(name, place.value);
    return ok(place.value);
  }
}
