/** SIP addresses for worlds without sockets: whose they are follows from their host alone. */
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
