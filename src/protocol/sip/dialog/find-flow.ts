import type { Flow } from '../transport/flow.ts';
import type { Target } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { nextHopOf } from './next-hop.ts';
import type { Destination } from './outgoing-request.ts';

/** A flow for a message outside every transaction (ACK to 2xx): to the first target, or undefined. */
export function findFlow(
  core: UserAgentCore,
  destination: Destination,
  found: (flow: Flow | undefined) => void,
): void {
  if (destination.kind === 'flow') {
    found(destination.flow);
    return;
  }
  const hop = nextHopOf(destination.uri, destination.transport);
  if (hop?.kind === 'target') {
    flowTo(core, hop.target, found);
    return;
  }
  const id =
    hop === undefined
      ? undefined
      : core.resolving.ask(([first]) => {
          if (first === undefined) found(undefined);
          else flowTo(core, first, found);
        });
  if (hop === undefined || id === undefined) found(undefined);
  else core.emit({ kind: 'resolve', id, query: hop.query });
}

function flowTo(
  core: UserAgentCore,
  target: Target,
  found: (flow: Flow | undefined) => void,
): void {
  if (target.transport === 'udp') {
    found(core.udpFlow(target.address, target.port));
    return;
  }
  const id = core.connecting.ask(found);
  if (id === undefined) found(undefined);
  else core.emit({ kind: 'connect', id, target });
}
