/** Connections of agents to models and tools. All of them pass one egress guard. */
import { type Dispatcher, FormData, fetch, type RequestInit, type Response } from 'undici';
import type { EgressGuard } from '../base/egress.ts';
import { ServiceError } from '../base/errors.ts';
import { createGuardedAgent } from '../edge/webhook/guarded-agent.ts';

/** Form of requests of this network; that of Node belongs to another implementation of `fetch`. */
export { FormData };

/** Maximum number of connections to one host. */
const CONNECTIONS_PER_HOST = 1000;

export interface AgentNetwork {
  readonly guard: EgressGuard;
  /**
   * Sends a request, and follows redirects unless `redirect` forbids it.
   *
   * @throws ServiceError EGRESS_REFUSED if the address is not permitted
   */
  fetch(url: string | URL, init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

export function openNetwork(guard: EgressGuard): AgentNetwork {
  const dispatcher: Dispatcher = createGuardedAgent({
    egress: guard,
    connectionsPerHost: CONNECTIONS_PER_HOST,
  });
  return {
    guard,
    async fetch(url, init) {
      try {
        return await fetch(url, { ...init, dispatcher });
      } catch (error) {
        throw refusalIn(error) ?? error;
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** Finds the refusal of the guard that `fetch` wraps. */
function refusalIn(error: unknown): ServiceError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof ServiceError && cause.code === 'EGRESS_REFUSED' ? cause : undefined;
}
