/** drachtio-server as the SIP transport: verifies the test replacement against the real server, and runs the call tests. */
import { afterEach, describe } from 'vitest';
import { drachtioWire } from '../../src/edge/sip/drachtio/drachtio-wire.ts';
import type { SignallingOptions } from '../../src/edge/sip/signalling.ts';
import { drachtioSettings } from '../drachtio/drachtio-server.ts';
import { RealServer } from '../drachtio/real-server.ts';
import { callStories } from '../e2e/call-scenarios.ts';
import { limitStories } from '../edge/sip/drachtio-limits.ts';
import { type Rig, startRig } from '../edge/sip/rig.ts';
import { signallingStories } from '../edge/sip/scenarios.ts';
import { missing } from './tools.ts';

const isMissing = missing('drachtio');

describe.skipIf(isMissing)('legs over drachtio-server', () => {
  const servers: RealServer[] = [];

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  const start = async (options: Partial<SignallingOptions> = {}): Promise<Rig> => {
    const server = await RealServer.open();
    servers.push(server);
    const places = [{ host: '127.0.0.1', port: server.controlPort }];
    const wire = drachtioWire({ servers: places, secret: 'cymru', graceMs: 1000 });
    return startRig({ ...options, wire, port: server.sipPort });
  };
  signallingStories(start);
  limitStories(start);
});

describe.skipIf(isMissing)('calls over drachtio-server', () => {
  callStories(async () => {
    const server = await RealServer.open();
    return { settings: drachtioSettings(server), close: () => server.close() };
  });
});
