/** The SIP stack of the service in a process of its own: every call is answered at once. Tells its ports, and its CPU when asked. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { TlsIdentity } from '../../src/edge/sip/signalling.ts';
import { createSignalling } from '../../src/edge/sip/signalling-service.ts';
import { trialCertificate } from '../../src/service/sip-certificate.ts';

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

const signalling = createSignalling({
  egress: { refusesSip: () => undefined, judgeRtp: () => ({ kind: 'send' }), isOwn: () => false },
  host: HOST,
  port: 0,
  publicHost: HOST,
  transports: ['udp', 'tcp'],
  tls: { identity, port: 0 },
  webSockets: { ws: 0, wss: 0 },
  realm: 'bench',
  userAgent: 'bench',
  clock: systemClock,
  random: systemRandom,
  logger,
  directory: { byUsername: () => Promise.resolve(undefined) },
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
