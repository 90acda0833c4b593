import { Gauge, type Registry } from 'prom-client';
import { scrapedGauges } from './scraped.ts';

/** State that the node monitors, read at each scrape. */
export interface StateSources {
  /** Carriers with their reachability; undefined before the first probe. */
  carriers?: () => readonly { readonly name: string; readonly reachable: boolean | undefined }[];
  /** Number of raised alarms for every kind. */
  alarms?: () => Readonly<Record<string, number>>;
  disk?: () => { readonly freeBytes: number; readonly totalBytes: number } | undefined;
  /** Expiry of certificates by setting, ms since the epoch. */
  certificates?: () => readonly { readonly setting: string; readonly endsMs: number }[];
  version?: string;
  /** By condition: whether it keeps the node from serving calls. */
  conditions?: () => Readonly<Record<string, boolean>>;
  /** Epoch of this node; it grows with each start, and when another node declares this one dead. */
  epoch?: () => number;
  /** Live nodes of the cluster, this one included. Undefined: not known now. */
  nodes?: () => number | undefined;
  /** Finished recordings that wait for object storage. */
  offloadWaiting?: () => number;
  /** Time until the lease of this node expires, in ms; undefined without a cluster. */
  leaseMs?: () => number | undefined;
  /** File descriptors of the process. */
  descriptors?: () => { readonly open: number; readonly limit: number };
}

export function defineStateGauges(registers: Registry[], sources: StateSources): void {
  defineNodeGauges(registers, sources);
  scrapedGauges(
    registers,
    {
      name: 'voice_carrier_up',
      help: '1 while a carrier responds to OPTIONS',
      labels: ['carrier'],
    },
    () =>
      (sources.carriers?.() ?? []).flatMap(({ name, reachable }) =>
        reachable === undefined ? [] : [[{ carrier: name }, Number(reachable)] as const],
      ),
  );
  scrapedGauges(registers, { name: 'voice_alarms', help: 'Raised alarms', labels: ['kind'] }, () =>
    Object.entries(sources.alarms?.() ?? {}).map(([kind, count]) => [{ kind }, count] as const),
  );
  for (const part of ['free', 'total'] as const) {
    new Gauge({
      name: `voice_disk_${part}_bytes`,
      help: `${part === 'free' ? 'Free space' : 'Size'} on the disk of the data folder`,
      registers,
      collect() {
        const disk = sources.disk?.();
        if (disk !== undefined) this.set(disk[`${part}Bytes`]);
      },
    });
  }
  scrapedGauges(
    registers,
    {
      name: 'voice_certificate_expiry_timestamp_seconds',
      help: 'Expiry of a certificate, seconds since the epoch',
      labels: ['setting'],
    },
    () =>
      (sources.certificates?.() ?? []).map(
        ({ setting, endsMs }) => [{ setting }, endsMs / 1000] as const,
      ),
  );
  scrapedGauges(
    registers,
    {
      name: 'voice_build_info',
      help: 'Always 1; the label contains the version of the service',
      labels: ['version'],
    },
    () => (sources.version === undefined ? [] : [[{ version: sources.version }, 1]]),
  );
}

function defineNodeGauges(registers: Registry[], sources: StateSources): void {
  scrapedGauges(
    registers,
    {
      name: 'voice_node_condition',
      help: '1 while the condition keeps this node from serving calls',
      labels: ['condition'],
    },
    () =>
      Object.entries(sources.conditions?.() ?? {}).map(
        ([condition, holds]) => [{ condition }, Number(holds)] as const,
      ),
  );
  const numbers: readonly (readonly [name: string, help: string, () => number | undefined])[] = [
    ['voice_node_epoch', 'Epoch of this node', () => sources.epoch?.()],
    [
      'voice_cluster_nodes',
      'Live nodes of the cluster, as known to this node',
      () => sources.nodes?.(),
    ],
    [
      'voice_node_lease_seconds',
      'Time until the lease of this node expires; 0 once other nodes may bill its calls',
      () => {
        const leaseMs = sources.leaseMs?.();
        return leaseMs === undefined ? undefined : leaseMs / 1000;
      },
    ],
    [
      'voice_recordings_waiting',
      'Finished recordings that wait for object storage',
      () => sources.offloadWaiting?.(),
    ],
    ['voice_descriptors_open', 'Open file descriptors', () => sources.descriptors?.().open],
    [
      'voice_descriptors_limit',
      'File descriptors that may be open',
      () => sources.descriptors?.().limit,
    ],
  ];
  for (const [name, help, read] of numbers) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read();
        if (value === undefined || !Number.isFinite(value)) this.reset();
        else this.set(value);
      },
    });
  }
}
