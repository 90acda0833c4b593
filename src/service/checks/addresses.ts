/** Addresses that this machine listens on: one line for each that is not its own, which names the setting. */
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type ListenPlace, listenProblem } from '../../base/listen-error.ts';
import type { Settings } from '../../config/schema.ts';

export async function addressProblems(settings: Settings): Promise<readonly string[]> {
  const found = await Promise.all(placesOf(settings).map(problemOf));
  return found.filter((line) => line !== undefined);
}

function placesOf({ http, sip, rtp }: Settings): readonly (ListenPlace & { name: string })[] {
  const place = (name: string, part: string, what: string, host: string, port: number) => ({
    name,
    what,
    host,
    port,
    portSetting: `CARILLON_${part}_PORT`,
    hostSetting: `CARILLON_${part}_HOST`,
  });
  return [
    place('http.host', 'HTTP', 'HTTP address', http.host, http.port),
    // drachtio servers listen on other machines.
    ...(sip.backend === 'own' ? [place('sip.host', 'SIP', 'SIP port', sip.host, sip.port)] : []),
    place('rtp.host', 'RTP', 'RTP port', rtp.host, rtp.portMin),
  ];
}

async function problemOf(place: ListenPlace & { readonly name: string }) {
  const { host, name } = place;
  if (isIP(host) !== 0)
    return isOwn(host) ? undefined : `${name}: ${listenProblem('EADDRNOTAVAIL', place)}`;
  try {
    const { address } = await lookup(host);
    return isOwn(address) ? undefined : `${name}: ${listenProblem('EADDRNOTAVAIL', place)}`;
  } catch (error) {
    const { code = 'ENOTFOUND' } = error as NodeJS.ErrnoException;
    return `${name}: ${listenProblem(code, place)}`;
  }
}

/** An address of an interface, or one of loopback, which an interface holds as a whole range. */
function isOwn(address: string): boolean {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  if (/^(?:127\.|0\.0\.0\.0$)/.test(plain) || /^[0:]+1?$/.test(plain)) return true;
  if (mayBindOthers(isIP(plain))) return true;
  const normal = normalized(plain);
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .some((own) => normalized(own.address) === normal);
}

const normalized = (address: string): string =>
  isIP(address) === 6 ? (URL.parse(`http://[${address}]/`)?.hostname ?? address) : address;

/** `ip_nonlocal_bind` of the kernel: a standby node binds an address that it does not have yet. */
function mayBindOthers(family: number): boolean {
  try {
    const path = `/proc/sys/net/ipv${family === 6 ? 6 : 4}/ip_nonlocal_bind`;
    return readFileSync(path, 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
