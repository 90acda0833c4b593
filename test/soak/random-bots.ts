/**
 * Runs bots with random good and bad behavior in a separate process. Started by sockets.ts:
 *
 *     fork('random-bots.ts', [folder of cert.pem and key.pem])
 *
 * The URL names the bot: /<character>/<seed>.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { SimRandom } from '../sim/random.ts';
import { behave } from './bot-behavior.ts';
import { CHARACTERS, type CharacterName } from './bot-profiles.ts';
import { RandomBot } from './random-bot.ts';

const HOST = '127.0.0.1';
const [tlsFolder = ''] = process.argv.slice(2);

function whoIs(request: IncomingMessage): { character: CharacterName; random: SimRandom } {
  const [, name = '', seed = ''] = (request.url ?? '').split('/');
  const known = Object.keys(CHARACTERS) as CharacterName[];
  const character = known.find((one) => one === name);
  if (character === undefined) throw new Error(`there is no character ${name}`);
  return { character, random: new SimRandom(Number(seed)) };
}

function serve(http: Server): void {
  // Each character decides about its pongs; some never send one.
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: 16 * 1024 * 1024,
  });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined);
    const { character, random } = whoIs(request);
    if (character === 'mute') return;
    if (character === 'refuser') {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n');
      return;
    }
    server.handleUpgrade(request, socket, head, (webSocket) => {
      behave(character, new RandomBot(webSocket, request.socket, random));
    });
  });
}

const plain = createServer();
const tls = createTlsServer({
  cert: readFileSync(join(tlsFolder, 'cert.pem')),
  key: readFileSync(join(tlsFolder, 'key.pem')),
});
for (const http of [plain, tls]) {
  serve(http);
  http.listen(0, HOST);
  await once(http, 'listening');
}
const portOf = (http: Server): number => (http.address() as AddressInfo).port;
process.send?.({ ws: `ws://${HOST}:${portOf(plain)}`, wss: `wss://${HOST}:${portOf(tls)}` });
process.once('disconnect', () => process.exit(0));
