/** Carriers with IPv6 addresses, and with host names, over real sockets of both families. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Carrier } from '../../../src/domain/provisioning/types.ts';
import type { Dns } from '../../../src/edge/sip/dns.ts';
import type { SignallingOptions } from '../../../src/edge/sip/signalling.ts';
import { until } from '../../eventually.ts';
import { hasIpv6 } from '../../has-ipv6.ts';
import { carrier, type Rig, requestText, SDP, startRig, UdpPeer } from './rig.ts';

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'six.example': ['::1'],
  'both.example': ['127.0.0.1', '::1'],
};
const DNS: Dns = {
  naptr: async () => [],
  srv: async () => [],
  addresses: async (name) => ADDRESSES[name] ?? [],
};
const PUBLIC = { publicHost: '198.51.100.7', publicHost6: '2001:db8::7' };

const rigs: Rig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.signalling.stop();
});

async function rigOf(options: Partial<SignallingOptions>): Promise<Rig> {
  const rig = await startRig({ dns: DNS, ...options });
  rigs.push(rig);
  return rig;
}

/** A service for both families behind public addresses, with these carriers. */
const dual = (...carriers: readonly Carrier[]): Promise<Rig> =>
  rigOf({ host: '::', ...PUBLIC, carriers: () => carriers });

describe.skipIf(!hasIpv6)('a carrier with IPv6', () => {
  it.each(['::1', '[::1]', 'six.example', 'both.example'])(
    'gets our registration with digest, and our IPv6 host in it: %s',
    async (host) => {
      const far = await rigOf({ host: '::1', publicHost: '::1' });
      const auth = { username: 'alice', password: 'wonderland', register: true };
      const port = far.signalling.port();
      const near = await dual(carrier({ host, port, auth }));
      await until(() => near.signalling.carrierStates()[0]?.registered === true);
      const [binding] = far.signalling.registrations();
      expect(binding?.contactUri).toBe(`sip:alice@[2001:db8::7]:${near.signalling.port()}`);
      expect(binding?.flow.address).toBe('::1');
      // A probe over OPTIONS reaches it too.
      await until(() => near.signalling.carrierStates()[0]?.reachable === true);
    },
  );
});

describe.skipIf(!hasIpv6)('the source of a call', () => {
  // An IPv4 peer of a socket for both families has an IPv4-mapped address.
  it.each(['127.0.0.1', '::ffff:127.0.0.1', '127.0.0.0/8', '::ffff:127.0.0.0/104'])(
    'over IPv4 is the carrier with the source address %s',
    async (source) => {
      const near = await dual(carrier({ sourceAddresses: [source] }));
      const peer = await UdpPeer.open(near.signalling.port());
      const call = { method: 'INVITE', uri: 'sip:1000@127.0.0.1', callId: 'call', body: SDP };
      const arrival = near.nextLeg();
      peer.write(requestText(peer, { ...call, user: '14155550123' }));
      const leg = await arrival;
      expect([leg.carrier, leg.source.address]).toEqual(['north', '127.0.0.1']);
      peer.close();
    },
  );
});
