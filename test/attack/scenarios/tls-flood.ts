import type { Scenario } from '../scenario.ts';
import { floodConnections } from '../secure-flood.ts';
import { SECURE_PORTS } from '../secure-ports.ts';

export const scenario: Scenario = {
  about:
    'TLS connections to the SIP port: without a handshake, with an invalid or malformed handshake, idle after the handshake, with half a message, with repeated INVITEs',
  environment: { CARILLON_SIP_TLS_PORT: String(SECURE_PORTS.tls) },
  attack: (field) => floodConnections(field, 'tls'),
};
