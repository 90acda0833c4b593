/** SIP address resolution for tests without sockets: the host alone determines the owner. */
import type { SipAddresses } from '../src/domain/call/needs.ts';

export const addressesOf = (ours: string, carriers: readonly string[] = []): SipAddresses => ({
  read(uri) {
    const [, scheme, user = '', host, port] =
      /^(sips?):(?:([^@]*)@)?([^:;?]+)(?::(\d+))?/i.exec(uri) ?? [];
    if (host === undefined) return undefined;
    const elsewhere = carriers.includes(host) ? 'carrier' : 'elsewhere';
    return {
      user,
      host,
      port: port === undefined ? undefined : Number(port),
      secure: scheme?.toLowerCase() === 'sips',
      whose: host === ours ? 'ours' : elsewhere,
    };
  },
});
