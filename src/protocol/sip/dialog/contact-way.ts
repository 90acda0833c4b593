import { parseNameAddr } from '../header/name-addr.ts';
import { type ContactBinding, isSecureBinding } from '../registrar/binding.ts';
import type { Flow } from '../transport/flow.ts';
import type { DestinationGuard } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { routed } from './dialog.ts';
import type { Destination } from './next-hop.ts';

/** How a request of ours gets to a registered contact. */
export interface ContactWay {
  /** Address of record, with the scheme that it registered with. */
  readonly to: string;
  readonly route: ReturnType<typeof routed>;
  readonly destination: Destination;
  readonly guard: DestinationGuard;
}

/** Along its Path (RFC 3327 §5.4), else over the flow that it registered on. */
export function wayTo(core: UserAgentCore, binding: ContactBinding): ContactWay {
  const scheme = isSecureBinding(binding) ? 'sips' : 'sip';
  const to = `${scheme}:${binding.username}@${core.options.publicHost}`;
  const path = binding.path.map(parseNameAddr).filter((hop) => hop !== undefined);
  const route = routed(path, binding.contactUri);
  const { address, port } = binding.flow;
  const guard = { heardAt: [{ address, port }], allow: [] };
  const destination = destinationOf(core, binding, { nextHop: route.nextHop, guard });
  return { to, route, destination, guard };
}

/** A Path or Contact that may not be sent to leads nowhere but to where the registration came from. */
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

/** Undefined: the connection is gone with the process that had it. */
function flowOf(core: UserAgentCore, { flow }: ContactBinding): Flow | undefined {
  const plain = core.udpFlow(flow.address, flow.port);
  if (flow.transport === 'udp') return plain;
  if (flow.connectionId === undefined) return undefined;
  return { ...plain, transport: flow.transport, connectionId: Number(flow.connectionId) };
}
