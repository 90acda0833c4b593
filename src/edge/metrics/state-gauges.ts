import { Gauge, type Registry } from 'prom-client';

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
}

export function defineStateGauges(registers: Registry[], sources: StateSources): void {
  new Gauge({
    name: 'voice_carrier_up',
    help: '1 while a carrier responds to OPTIONS',
    labelNames: ['carrier'],
    registers,
    collect() {
      this.reset();
      for (const { name, reachable } of sources.carriers?.() ?? [])
        if (reachable !== undefined) this.set({ carrier: name }, Number(reachable));
    },
  });
  new Gauge({
    name: 'voice_alarms',
    help: 'Raised alarms',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const [kind, count] of Object.entries(sources.alarms?.() ?? {}))
        this.set({ kind }, count);
    },
  });
  for (const part of ['free', 'total'] as const) {
    new Gauge({
      name: `voice_disk_${part}_bytes`,
      help: `${part === 'free' ? 'Free room' : 'Room'} on the disk of the data folder`,
      registers,
      collect() {
        const disk = sources.disk?.();
        if (disk !== undefined) this.set(disk[`${part}Bytes`]);
      },
    });
  }
  new Gauge({
    name: 'voice_certificate_expiry_timestamp_seconds',
    help: 'Expiry of a certificate, seconds since the epoch',
    labelNames: ['setting'],
    registers,
    collect() {
      this.reset();
      for (const { setting, endsMs } of sources.certificates?.() ?? [])
        this.set({ setting }, endsMs / 1000);
    },
  });
  new Gauge({
    name: 'voice_build_info',
    help: 'Always 1; the label contains the version of the service',
    labelNames: ['version'],
    registers,
    collect() {
      this.reset();
      if (sources.version !== undefined) this.set({ version: sources.version }, 1);
    },
  });
}
