/** Floods of TLS and WebSocket connections, with a legitimate phone that registers over the same transport. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeUser } from '../e2e/phone.ts';
import { authenticated, TcpPeer, type WirePeer, WsPeer } from '../edge/sip/rig.ts';
import type { Field, Figure } from './scenario.ts';
import { SECURE_PORTS } from './secure-ports.ts';

const FLOOD = fileURLToPath(new URL('./secure-flood-process.ts', import.meta.url));
const REGISTER_EVERY_MS = 250;

type Kind = 'tls' | 'ws';

export async function floodConnections(
  { service, over }: Field,
  kind: Kind,
): Promise<readonly Figure[]> {
  const user = await makeUser(service, `over${kind}`, { answer_url: 'http://127.0.0.1:9/' });
  const flood = fork(FLOOD, [kind]);
  const registered: boolean[] = [];
  const register = async (): Promise<void> => {
    while (!over.aborted) {
      registered.push(await registers(kind, user).catch(() => false));
      await pause(REGISTER_EVERY_MS);
    }
  };
  await register();
  const reported = once(flood, 'message');
  flood.send('over');
  const [{ opened, left }] = await reported;
  return [
    { name: 'connections opened', value: opened, unit: '' },
    { name: 'of them open at the end', value: left, unit: '' },
    {
      name: `legitimate REGISTERs over ${kind} that succeeded`,
      value: (100 * registered.filter(Boolean).length) / registered.length,
      unit: '%',
      atLeast: 99,
    },
  ];
}

let calls = 0;

async function registers(
  kind: Kind,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<boolean> {
  const peer: WirePeer & { close(): void } =
    kind === 'tls'
      ? await TcpPeer.secure(SECURE_PORTS.tls)
      : await WsPeer.open(`ws://127.0.0.1:${SECURE_PORTS.ws}`);
  calls += 1;
  try {
    const lines = { method: 'REGISTER', uri: 'sip:127.0.0.1', callId: `honest-${calls}` };
    const to = `<sip:${username}@127.0.0.1>`;
    await authenticated(peer, { ...lines, to, user: username, password });
    return (await peer.read('SIP/2.0 ')).startsWith('SIP/2.0 200');
  } finally {
    peer.close();
  }
}
