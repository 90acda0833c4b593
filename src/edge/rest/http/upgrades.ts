import type { IncomingMessage, Server } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { blockListOf, holds } from './connections.ts';

/** SIP over WebSocket on the HTTP port (RFC 7118). Whoever takes the upgrade answers it in any case. */
export type TakeUpgrade = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  arrival: { readonly transport: 'ws' | 'wss'; readonly remoteAddress: string },
) => void;

const PATH = '/sip';

/** Other requests that ask for an upgrade are served as if they did not (RFC 9110 §7.8). */
export const isUpgrade = ({ url = '' }: IncomingMessage): boolean => url.split('?', 1)[0] === PATH;

/** Hands SIP over WebSocket on, with the address and the scheme that the browser used as far as trusted proxies tell them. */
export function handOnUpgrades(
  server: Server,
  proxies: readonly string[],
  take: TakeUpgrade,
): void {
  const trusted = blockListOf(proxies);
  server.on('upgrade', (request, socket, head) => {
    const own = request.socket.remoteAddress ?? '';
    const remoteAddress = clientOf(request, own, trusted);
    const told = holds(trusted, own) ? request.headers['x-forwarded-proto'] : undefined;
    const isSecure = request.socket instanceof TLSSocket || told === 'https' || told === 'wss';
    take(request, socket, head, { transport: isSecure ? 'wss' : 'ws', remoteAddress });
  });
}

/** The last address that no trusted proxy has. */
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
