import type { Registry } from 'prom-client';
import type { SipTransportName } from '../../protocol/sip/types.ts';
import { boundedLabels } from './bounded-labels.ts';
import { scrapedTotal, scrapedTotals } from './scraped.ts';

export interface SignallingSources {
  /** Totals since the start of the SIP listeners. */
  signalling?: () => {
    /**
     * Messages by method and status. `method` is empty for responses, `code` for requests; both have a bounded set of
     * values.
     */
    readonly messages: readonly {
      readonly direction: 'in' | 'out';
      readonly transport: string;
      readonly method: string;
      readonly code: string;
      readonly count: number;
    }[];
    /** Messages by carrier. */
    readonly carrierMessages: readonly {
      readonly carrier: string;
      readonly direction: 'in' | 'out';
      readonly method: string;
      readonly code: string;
      readonly count: number;
    }[];
    /** Datagrams and responses that could not be used. */
    readonly discarded: number;
    /** Messages dropped without parsing, by reason. */
    readonly dropped: Readonly<Record<string, number>>;
    readonly authFailures: number;
    /** Open connections by transport. */
    readonly connections: Readonly<Partial<Record<SipTransportName, number>>>;
    readonly failedHandshakes: number;
  };
  /** Messages of calls to customers' trunks, by trunk ID. */
  trunkMessages?: () => readonly {
    readonly peer: string;
    readonly direction: 'in' | 'out';
    readonly method: string;
    readonly code: string;
    readonly count: number;
  }[];
  /** HEP packets for Homer; absent if Homer is not configured. */
  hep?: () => { readonly sent: number; readonly dropped: number };
}

/** Registers totals counted by the SIP listeners. They are set at each scrape and never decrease. */
export function defineSignallingTotals(registers: Registry[], sources: SignallingSources): void {
  defineMessages(registers, sources);
  scrapedTotals(
    registers,
    {
      name: 'voice_hep_packets_total',
      help: 'HEP packets for Homer: sent, or dropped because of too many packets or an unknown host',
      labels: ['result'],
    },
    () => {
      const { sent, dropped } = sources.hep?.() ?? { sent: 0, dropped: 0 };
      return [
        [{ result: 'sent' }, sent],
        [{ result: 'dropped' }, dropped],
      ];
    },
  );
  scrapedTotals(
    registers,
    {
      name: 'voice_sip_dropped_total',
      help: 'SIP messages dropped without parsing: rate limit of a source or in total, keep-alives, garbage, full socket',
      labels: ['reason'],
    },
    () =>
      Object.entries(sources.signalling?.().dropped ?? {}).map(
        ([reason, count]) => [{ reason }, count] as const,
      ),
  );
  scrapedTotal(
    registers,
    'voice_sip_discarded_total',
    'Datagrams and responses that were malformed, late or unmatched',
    () => sources.signalling?.().discarded,
  );
  scrapedTotal(
    registers,
    'voice_sip_tls_handshake_failures_total',
    'TLS handshakes of SIP peers that failed',
    () => sources.signalling?.().failedHandshakes,
  );
  scrapedTotal(
    registers,
    'voice_sip_auth_failures_total',
    'Requests with wrong credentials',
    () => sources.signalling?.().authFailures,
  );
}

/** Registers the SIP messages of this node, of each carrier and of each trunk. */
function defineMessages(registers: Registry[], sources: SignallingSources): void {
  scrapedTotals(
    registers,
    {
      name: 'voice_sip_messages_total',
      help: 'SIP messages; method is empty for responses, code for requests',
      labels: ['method', 'direction', 'code', 'transport'],
    },
    () =>
      (sources.signalling?.().messages ?? []).map(
        ({ count, ...labels }) => [labels, count] as const,
      ),
  );
  const bounded = boundedLabels();
  scrapedTotals(
    registers,
    {
      name: 'voice_sip_carrier_messages_total',
      help: 'SIP messages to and from each carrier; method is empty for responses, code for requests',
      labels: ['carrier', 'method', 'direction', 'code'],
    },
    () =>
      (sources.signalling?.().carrierMessages ?? []).map(
        ({ count, carrier, ...labels }) =>
          [{ ...labels, carrier: bounded('carrier', carrier) }, count] as const,
      ),
  );
  scrapedTotals(
    registers,
    {
      name: 'voice_sip_trunk_messages_total',
      help: "SIP messages of calls to each customer's trunk; method is empty for responses, code for requests",
      labels: ['trunk', 'method', 'direction', 'code'],
    },
    () =>
      (sources.trunkMessages?.() ?? []).map(
        ({ count, peer, ...labels }) =>
          [{ ...labels, trunk: bounded('trunk', peer) }, count] as const,
      ),
  );
}
