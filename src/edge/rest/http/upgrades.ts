import type { IncomingMessage, Server } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { blockListOf, holds } from './connections.ts';

/** Handles SIP over WebSocket on the HTTP port (RFC 7118). The handler always answers the upgrade. */
export type TakeUpgrade = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  arrival: { readonly transport: 'ws' | 'wss'; readonly remoteAddress: string },
) => void;

const PATH = '/sip';

/**
 * Returns whether the request asks for SIP over WebSocket. Other upgrade requests are served as normal requests (RFC 9110
 * §7.8).
 */
export const isUpgrade = ({ url = '' }: IncomingMessage): boolean => url.split('?', 1)[0] === PATH;

/** Passes SIP over WebSocket to `take`, with the browser's address and scheme as reported by trusted proxies. */
export function handOnUpgrades(
  server: Server,
  proxies: readonly string[],
  take: TakeUpgrade,
): void {
  const trusted = blockListOf(proxies);
  server.on('upgrade', (request, socket, head) => {
    const own = request.socket.remoteAddress ?? '';
    const remoteAddress = clientOf(request, own, trusted);
    const protocol = holds(trusted, own) ? request.headers['x-forwarded-proto'] : undefined;
    const isSecure =
      request.socket instanceof TLSSocket || protocol === 'https' || protocol === 'wss';
    take(request, socket, head, { transport: isSecure ? 'wss' : 'ws', remoteAddress });
  });
}

/** Returns the last address that is not a trusted proxy. */
function clientOf({ headers }: IncomingMessage, own: string, trusted: BlockList): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((address) => address.trim());
  let client = own;
  while (holds(trusted, client)) {
    const before = forwarded.pop();
    if (before === undefined || isIP(before) === 0) return client;
    client = before;
  }
  return client;
}
