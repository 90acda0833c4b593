/** SIP stack of the service in a separate process. Answers every call immediately; reports its ports and CPU time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { asAccountId, asEndpointId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { TlsIdentity } from '../../src/edge/sip/signalling.ts';
import { createSignalling } from '../../src/edge/sip/signalling-service.ts';
import { ha1Of } from '../../src/protocol/sip/auth/digest.ts';
import { trialCertificate } from '../../src/service/sip-certificate.ts';
import { PASSWORD, REALM } from './user.ts';

const HOST = '127.0.0.1';
const SDP =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n';

const folder = mkdtempSync(`${tmpdir()}/carillon-bench-`);
const logger = silentLogger;
const files = await trialCertificate(folder, [HOST], { name: 'sip', nowMs: Date.now(), logger });
const policy = { clients: 'no', wildcards: false } as const;
const identity = new TlsIdentity({ ...files, caFile: '' }, policy, logger);
rmSync(folder, { recursive: true });

const carrier = {
  name: 'bench',
  host: '192.0.2.1',
  port: 5060,
  transport: 'udp',
  auth: undefined,
  sourceAddresses: [HOST],
  prefixes: [''],
  strip: 0,
  prepend: '',
  cpsLimit: 0,
  concurrentCallsLimit: 0,
  secure: false,
  priority: 1,
  enabled: true,
  policy: { probe: false },
};

/** Every user exists, with the same password. */
function userOf(username: string) {
  const of = (algorithm: 'MD5' | 'SHA-256' | 'SHA-512-256') =>
    ha1Of(algorithm, username, REALM, PASSWORD);
  const secrets = { md5: of('MD5'), sha256: of('SHA-256'), sha512256: of('SHA-512-256') };
  const endpointId = asEndpointId(username);
  return { endpointId, accountId: asAccountId('MA_X'), username, secrets, active: true };
}

const signalling = createSignalling({
  egress: {
    refusesSip: () => undefined,
    judgeRtp: () => ({ kind: 'send' }),
    addressesOf: async () => [],
    isOwn: () => false,
  },
  host: HOST,
  port: 0,
  publicHost: HOST,
  transports: ['udp', 'tcp'],
  tls: { identity, port: 0 },
  webSockets: { ws: 0, wss: 0 },
  realm: REALM,
  userAgent: 'bench',
  clock: systemClock,
  random: systemRandom,
  logger,
  directory: { byUsername: (username) => Promise.resolve(userOf(username)) },
  bindings: {
    save: () => Promise.resolve(),
    remove: () => Promise.resolve(),
    listAll: () => Promise.resolve([]),
  },
  carriers: () => [carrier as never],
});
signalling.onInbound((leg) => {
  leg.attach({
    offered: () => SDP,
    answered: () => undefined,
    dtmf: () => undefined,
    ended: () => undefined,
  });
  leg.ring();
  void leg.answer(SDP);
});
await signalling.start();
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuUs: user + system });
});
process.once('disconnect', () => process.exit(0));
process.send?.(signalling.ports());
