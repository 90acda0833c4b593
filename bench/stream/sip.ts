/** The service's SIP stack in the process of the streams, without registrations. OPTIONS measures its response time. */
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import type { RunningSignalling } from '../../src/edge/sip/signalling.ts';
import { createSignalling } from '../../src/edge/sip/signalling-service.ts';

const HOST = '127.0.0.1';

export async function startSip(): Promise<RunningSignalling> {
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
    // One client sends more requests than the limit for unknown peers allows.
    unknownPeersPerSecond: 100_000,
    realm: 'bench',
    userAgent: 'bench',
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    directory: { byUsername: () => Promise.resolve(undefined) },
    bindings: {
      save: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      listAll: () => Promise.resolve([]),
    },
    carriers: () => [],
  });
  await signalling.start();
  return signalling;
}
