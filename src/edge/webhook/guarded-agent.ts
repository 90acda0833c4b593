/** HTTP connections that only reach permitted addresses. */
import { rootCertificates } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import type { EgressGuard } from '../../base/egress.ts';
import { ServiceError } from '../../base/errors.ts';

export interface GuardedAgentOptions {
  readonly egress: EgressGuard;
  readonly connectionsPerHost: number;
  /** PEM of additional certificate authorities. */
  readonly ca?: string;
}

/** Upper limit of the connector, ms. Each request has a shorter limit. */
const MAX_CONNECT_MS = 10_000;
/** Idle time of kept-alive connections, ms. Common servers close them after 5 s. */
const KEEP_ALIVE_MS = 4000;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Restricts connections to permitted addresses: the guard's lookup filters names, and its policy has checked literal
 * addresses before.
 */
export function createGuardedAgent({ egress, connectionsPerHost, ca }: GuardedAgentOptions): Agent {
  const connect = buildConnector({
    lookup: egress.lookup,
    timeout: MAX_CONNECT_MS,
    allowH2: false,
    ...(ca === undefined || ca === '' ? {} : { ca: [...rootCertificates, ca] }),
  });
  return new Agent({
    connections: connectionsPerHost,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: (target, callback) => {
      const refusal = egress.refuses(`${target.protocol}//${target.host ?? target.hostname}`);
      if (refusal === undefined) connect(target, callback);
      else callback(new ServiceError('EGRESS_REFUSED', refusal), null);
    },
  });
}
