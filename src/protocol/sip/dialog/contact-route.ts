import { parseNameAddr } from '../header/name-addr.ts';
import { type ContactBinding, isSecureBinding } from '../registrar/binding.ts';
import type { Flow } from '../transport/flow.ts';
import type { DestinationGuard } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { routed } from './dialog.ts';
import type { Destination } from './next-hop.ts';

/** Route of a request to a registered contact. */
export interface ContactRoute {
  /** Address of record, with the scheme used for its registration. */
  readonly to: string;
  readonly route: ReturnType<typeof routed>;
  readonly destination: Destination;
  readonly guard: DestinationGuard;
}

/** Route along the Path (RFC 3327 §5.4), otherwise over the flow of the registration. */
export function routeTo(core: UserAgentCore, binding: ContactBinding): ContactRoute {
  const scheme = isSecureBinding(binding) ? 'sips' : 'sip';
  const to = `${scheme}:${binding.username}@${core.options.publicHost}`;
  const path = binding.path.map(parseNameAddr).filter((hop) => hop !== undefined);
  const route = routed(path, binding.contactUri);
  const { address, port } = binding.flow;
  const guard = { receivedAt: [{ address, port }], allow: [] };
  const destination = destinationOf(core, binding, { nextHop: route.nextHop, guard });
  return { to, route, destination, guard };
}

/** Destination of a Path or Contact. If sending there is not allowed, it is the source of the registration. */
function destinationOf(
  core: UserAgentCore,
  binding: ContactBinding,
  { nextHop, guard }: { readonly nextHop: string; readonly guard: DestinationGuard },
): Destination {
  const flow = flowOf(core, binding);
  const hasPath = binding.path.length > 0;
  if (flow !== undefined && !hasPath) return { kind: 'flow', flow };
  const transport = hasPath ? undefined : binding.flow.transport;
  return { kind: 'uri', uri: nextHop, transport, guard, otherwise: flow };
}

/** Returns undefined if the connection closed when its process ended. */
function flowOf(core: UserAgentCore, { flow }: ContactBinding): Flow | undefined {
  const plain = core.udpFlow(flow.address, flow.port);
  if (flow.transport === 'udp') return plain;
  if (flow.connectionId === undefined) return undefined;
  return { ...plain, transport: flow.transport, connectionId: Number(flow.connectionId) };
}
