import type { Scenario } from '../scenario.ts';
import { floodConnections } from '../secure-flood.ts';
import { SECURE_PORTS } from '../secure-ports.ts';

export const scenario: Scenario = {
  about:
    'WebSockets to the SIP port: without an upgrade, with half an upgrade, idle after it, with garbage, with repeated INVITEs',
  environment: { CARILLON_SIP_WS_PORT: String(SECURE_PORTS.ws) },
  attack: (field) => floodConnections(field, 'ws'),
};
