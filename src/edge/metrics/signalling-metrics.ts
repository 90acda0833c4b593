import { Counter, type Registry } from 'prom-client';
import type { SipTransportName } from '../../protocol/sip/types.ts';
import { boundedLabels } from './bounded-labels.ts';

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
  new Counter({
    name: 'voice_sip_messages_total',
    help: 'SIP messages; method is empty for responses, code for requests',
    labelNames: ['method', 'direction', 'code', 'transport'],
    registers,
    collect() {
      this.reset();
      for (const { count, ...labels } of sources.signalling?.().messages ?? []) {
        this.inc(labels, count);
      }
    },
  });
  const bounded = boundedLabels();
  new Counter({
    name: 'voice_sip_carrier_messages_total',
    help: 'SIP messages to and from each carrier; method is empty for responses, code for requests',
    labelNames: ['carrier', 'method', 'direction', 'code'],
    registers,
    collect() {
      this.reset();
      for (const { count, carrier, ...labels } of sources.signalling?.().carrierMessages ?? []) {
        this.inc({ ...labels, carrier: bounded('carrier', carrier) }, count);
      }
    },
  });
  new Counter({
    name: 'voice_sip_trunk_messages_total',
    help: "SIP messages of calls to each customer's trunk; method is empty for responses, code for requests",
    labelNames: ['trunk', 'method', 'direction', 'code'],
    registers,
    collect() {
      this.reset();
      for (const { count, peer, ...labels } of sources.trunkMessages?.() ?? []) {
        this.inc({ ...labels, trunk: bounded('trunk', peer) }, count);
      }
    },
  });
  new Counter({
    name: 'voice_hep_packets_total',
    help: 'HEP packets for Homer: sent, or dropped because of too many packets or an unknown host',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      const { sent, dropped } = sources.hep?.() ?? { sent: 0, dropped: 0 };
      this.inc({ result: 'sent' }, sent);
      this.inc({ result: 'dropped' }, dropped);
    },
  });
  new Counter({
    name: 'voice_sip_dropped_total',
    help: 'SIP messages dropped without parsing: rate limit of a source or in total, keep-alives, garbage, full socket',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      const dropped = sources.signalling?.().dropped ?? {};
      for (const [reason, count] of Object.entries(dropped)) this.inc({ reason }, count);
    },
  });
  const total = (name: string, help: string, read: () => number | undefined): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read() ?? 0);
      },
    });
  };
  total(
    'voice_sip_discarded_total',
    'Datagrams and responses that were malformed, late or unmatched',
    () => sources.signalling?.().discarded,
  );
  total(
    'voice_sip_tls_handshake_failures_total',
    'TLS handshakes of SIP peers that failed',
    () => sources.signalling?.().failedHandshakes,
  );
  total(
    'voice_sip_auth_failures_total',
    'Requests with wrong credentials',
    () => sources.signalling?.().authFailures,
  );
}
