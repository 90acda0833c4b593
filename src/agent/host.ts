/** Process that runs the agents of applications. The service starts it with the first call of such an application. */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { systemClock as clock } from '../edge/clock/system-clock.ts';
import { createEgressGuard, type EgressOptions } from '../edge/egress/egress.ts';
import { type RunningAgent, startAgent } from './agent.ts';
import { readDefinition } from './definition.ts';
import type { HostReply, HostRequest } from './host-messages.ts';
import { openNetwork } from './network.ts';
import type { Outcome } from './outcome.ts';

interface Running {
  readonly agent: RunningAgent;
  readonly password: string;
}

/** Agents that are not used for new calls stop when their calls have ended. */
const CHECK_MS = 5000;
/** Agents of this process. The one that was used least recently is stopped beyond that, if it has no calls. */
const MAX_AGENTS = 1000;

/** The service passes the options of its egress guard as the argument. */
const network = openNetwork(createEgressGuard(JSON.parse(process.argv[2] ?? '') as EgressOptions));
const agents = new Map<string, Promise<Running>>();
/** Outcomes of calls of all agents: the definition of an agent may change between a stream and the request after it. */
const outcomes = new Map<string, Outcome>();
/** Agents whose definition has changed, with calls. */
const old = new Set<Running>();

async function start({ definition, url }: HostRequest): Promise<Running> {
  const { agent, faults } = readDefinition(JSON.parse(definition), process.env);
  if (agent === undefined) throw new Error(faults.map(({ what }) => what).join('; '));
  const password = randomBytes(24).toString('base64url');
  const listen = { host: '127.0.0.1', port: 0, password };
  const running = await startAgent({
    agent: { ...agent, listen },
    sounds: new Map(),
    clock,
    network,
    url,
    outcomes,
    print: () => undefined,
  });
  return { agent: running, password };
}

function retire(key: string): void {
  const retired = agents.get(key);
  agents.delete(key);
  void retired?.then((running) => old.add(running)).catch(() => undefined);
}

async function stopUnused(): Promise<void> {
  for (const running of old) {
    if (running.agent.activeCalls > 0) continue;
    old.delete(running);
    await running.agent.stop();
  }
}

async function serve(request: HostRequest): Promise<HostReply> {
  const { id, key } = request;
  const prefix = `${key.split(' ')[0]} `;
  for (const known of agents.keys()) if (known !== key && known.startsWith(prefix)) retire(known);
  const [oldest] = agents.keys();
  if (agents.size >= MAX_AGENTS && oldest !== undefined && !agents.has(key)) retire(oldest);
  const running = agents.get(key) ?? start(request);
  // Moves the agent to the end of the map.
  agents.delete(key);
  agents.set(key, running);
  try {
    const { agent, password } = await running;
    return { id, port: agent.port, password };
  } catch (error) {
    agents.delete(key);
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

process.on('message', (request: HostRequest) => {
  void serve(request).then((reply) => process.send?.(reply));
});
// A bug in one call must not end the calls of the other agents. The service logs what this process prints.
process.on('unhandledRejection', (reason) => {
  process.stderr.write(`unhandled promise rejection: ${inspect(reason)}\n`);
});
// The service has ended.
process.on('disconnect', () => process.exit(0));
// The service stops this process after its own calls have ended.
process.on('SIGINT', () => undefined);
setInterval(() => void stopUnused(), CHECK_MS).unref();
