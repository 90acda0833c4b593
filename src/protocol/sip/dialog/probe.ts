import { createRequest } from '../message.ts';
import type { UserAgentInput } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import { OutgoingRequest } from './outgoing-request.ts';

type Probe = Extract<UserAgentInput, { kind: 'probe' }>;

/** Sends OPTIONS to a peer; `probed` reports the result. */
export function sendProbe(core: UserAgentCore, input: Probe): void {
  const tell = (status: number | undefined): void => {
    core.emit({ kind: 'probed', id: input.id, status });
  };
  const own = core.contact(undefined);
  const outgoing = new OutgoingRequest(core, {
    request: createRequest({
      method: 'OPTIONS',
      requestUri: input.uri,
      headers: [
        ['Max-Forwards', '70'],
        ['From', `${own};tag=${core.newToken()}`],
        ['To', `<${input.uri}>`],
        ['Call-ID', core.newToken()],
        ['CSeq', '1 OPTIONS'],
        ['Contact', own],
        ['User-Agent', core.options.userAgent],
      ],
    }),
    destination: { kind: 'uri', uri: input.uri, transport: input.transport, viaEdges: true },
    auth: undefined,
    firstResponseMs: input.waitMs,
    nextSequence: () => 2,
    user: {
      response: ({ status }) => {
        if (status >= 200) tell(status);
      },
      failed: () => tell(undefined),
    },
  });
  outgoing.start();
}
