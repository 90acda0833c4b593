import { Counter, type Registry } from 'prom-client';
import { boundedLabels } from './bounded-labels.ts';

export interface SignallingSources {
  /** Totals since the start of the SIP listeners. */
  signalling?: () => {
    /** `method` is empty for responses, `code` for requests; a bounded set of both. */
    readonly messages: readonly {
      readonly direction: 'in' | 'out';
      readonly transport: string;
      readonly method: string;
      readonly code: string;
      readonly count: number;
    }[];
    /** The same by carrier; as many as there are carriers. */
    readonly carrierMessages: readonly {
      readonly carrier: string;
      readonly direction: 'in' | 'out';
      readonly method: string;
      readonly code: string;
      readonly count: number;
    }[];
    /** Datagrams and responses that were no use. */
    readonly discarded: number;
    /** Not looked at, by reason. */
    readonly dropped: Readonly<Record<string, number>>;
    readonly authFailures: number;
    /** Open, by transport. */
    readonly connections: Readonly<Partial<Record<'udp' | 'tcp' | 'tls' | 'ws' | 'wss', number>>>;
    readonly failedHandshakes: number;
  };
  /** Messages of calls to customers' trunks, by the trunk's id. */
  trunkMessages?: () => readonly {
    readonly peer: string;
    readonly direction: 'in' | 'out';
    readonly method: string;
    readonly code: string;
    readonly count: number;
  }[];
  /** Packets for Homer; left away without one. */
  hep?: () => { readonly sent: number; readonly dropped: number };
}

/** Totals that the SIP listeners count; set at the scrape, they only ever grow. */
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
    help: 'Packets for Homer: sent, or dropped because there were too many or its host was not found',
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
    help: 'SIP messages that were not looked at: too many of one source, or in all; keep-alives; garbage; no room in the socket',
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
    'Datagrams and responses that were no use: malformed, late or from nobody',
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
