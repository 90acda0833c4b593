/** Checks the addresses that SIP and SDP advertise, for each address family. */
import { promises as dns } from 'node:dns';
import { isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { unbracketed } from '../../base/host.ts';
import type { Settings } from '../../config/schema.ts';
import { type Finding, good, problem, reasonOf, warning, within } from './finding.ts';

/** An advertised host and the setting that names it. */
interface Advertised {
  readonly check: string;
  readonly host: string;
  readonly setting: string;
  readonly mayBeName: boolean;
  /** Family that the host must have. Undefined: any. */
  readonly family: 4 | 6 | undefined;
  /** Reason for `family`. */
  readonly because: string;
}

type Section = Pick<Settings['sip'], 'host' | 'publicHost' | 'publicHost6'>;

export async function checkPublicAddress({ sip, rtp }: Settings): Promise<readonly Finding[]> {
  return [...(await checkSection('sip', sip, true)), ...(await checkSection('rtp', rtp, false))];
}

async function checkSection(
  name: 'sip' | 'rtp',
  section: Section,
  mayBeName: boolean,
): Promise<readonly Finding[]> {
  const { host, publicHost, publicHost6 } = section;
  const plain = {
    check: `${name} address`,
    host: publicHost || host,
    setting: `${name}.publicHost`,
    mayBeName,
    ...(publicHost6 === ''
      ? familyOf(name, host)
      : ({ family: 4, because: `${name}.publicHost6 is for IPv6` } as const)),
  };
  const findings = [await reportedAddress(plain)];
  if (host !== '::' || publicHost === '') return findings;
  const check = `${name} address (IPv6)`;
  const setting = `${name}.publicHost6`;
  const because = `peers with IPv6 use ${setting}`;
  const advertised = { check, setting, mayBeName, family: 6, because } as const;
  if (publicHost6 !== '')
    return [...findings, await reportedAddress({ ...advertised, host: unbracketed(publicHost6) })];
  if (await hasIpv6(publicHost)) return findings;
  return [
    ...findings,
    warning(
      check,
      `peers with IPv6 get ${publicHost}, which has no IPv6 address`,
      `Set ${setting} to the IPv6 address at which they reach this machine, or listen on an IPv4 address only.`,
    ),
  ];
}

/** Family of a listen address that uses only one. */
function familyOf(name: string, host: string): Pick<Advertised, 'family' | 'because'> {
  const version = host === '::' ? 0 : isIP(host);
  const family = version === 0 ? undefined : version === 6 ? 6 : 4;
  return { family, because: `${name}.host ${host} uses IPv${family} only` };
}

async function hasIpv6(host: string): Promise<boolean> {
  if (isIP(host) !== 0) return isIP(host) === 6;
  return within(dns.lookup(host, { family: 6 })).then(
    () => true,
    () => false,
  );
}

async function reportedAddress(advertised: Advertised): Promise<Finding> {
  const { check, host, setting, mayBeName, family, because } = advertised;
  if (host === '0.0.0.0' || host === '::') {
    return problem(
      check,
      `it listens on all addresses but advertises 127.0.0.1`,
      `Set ${setting} to the address at which phones and carriers reach this machine; behind NAT, the public address.`,
    );
  }
  let address = host;
  if (isIP(host) === 0) {
    if (!mayBeName)
      return problem(
        check,
        `${setting} is the host name ${host}`,
        'SDP requires an address: use the IP address.',
      );
    try {
      ({ address } = await within(dns.lookup(host, { family: family ?? 0 })));
    } catch (error) {
      const kind = family === undefined ? '' : ` to an IPv${family} address`;
      const advice = `Peers cannot resolve this machine. Create a DNS record for ${host}, or use its IP address.`;
      return problem(check, `${host} does not resolve${kind}: ${reasonOf(error)}`, advice);
    }
  }
  if (family !== undefined && isIP(address) !== family)
    return problem(
      check,
      `${setting} ${host} is not an IPv${family} address, but ${because}`,
      `Set ${setting} to the IPv${family} address of this machine. To use both families, set the host setting to :: and both public hosts.`,
    );
  return placed(check, setting, { host, address });
}

/** Judges whether peers reach that address of this machine. */
function placed(
  check: string,
  setting: string,
  { host, address }: { readonly host: string; readonly address: string },
): Finding {
  const shown = address === host ? host : `${host} (${address})`;
  if (address.startsWith('127.') || address === '::1')
    return warning(
      check,
      `${shown}: reachable from this machine only`,
      `For phones on other machines, set ${setting} and the host setting of the same section.`,
    );
  const own = Object.values(networkInterfaces()).flatMap((list) =>
    list?.map((each) => each.address),
  );
  if (own.includes(address)) return good(check, `${shown}, an address of this machine`);
  const where = isIPv4(address) ? 'it is behind NAT' : 'a load balancer or another machine has it';
  return warning(
    check,
    `${shown} is not an address of this machine: ${where}`,
    'Forward SIP (UDP and TCP) and the whole RTP range on the router with the same port numbers. See docs/operate/install.md.',
  );
}
