import { asAccountId, asEndpointId } from '../../base/ids.ts';
import type { NodeTickets } from '../../domain/cluster/cluster.ts';
import { secretsOf } from '../../domain/provisioning/provisioning.ts';
import type { EndpointDirectory } from '../../domain/registration/needs.ts';
import type { Foundation } from './foundation.ts';

/** Directory of callers: endpoints, and other nodes with a ticket. */
export function withNodes(
  { phoneLogins, realm }: Pick<Foundation, 'phoneLogins' | 'realm'>,
  tickets: NodeTickets,
): EndpointDirectory {
  return {
    byToken: (token) => phoneLogins.byToken(token),
    async byUsername(username) {
      const password = tickets.passwordOf(username);
      if (password === undefined) return phoneLogins.byUsername(username);
      return {
        endpointId: asEndpointId(username),
        accountId: asAccountId(''),
        username,
        secrets: secretsOf(username, realm, password),
        active: true,
      };
    },
  };
}
