/** Public interface of media: the native engine as the domain's `Media`. */

import { X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { BugError, ServiceError } from '../../base/errors.ts';
import type { Random } from '../../base/ids.ts';
import { listenProblem } from '../../base/listen-error.ts';
import type { Logger } from '../../base/logger.ts';
import { systemRandom } from '../../base/system-random.ts';
import type {
  Bridge,
  Media,
  MediaLeg,
  MediaLegEvents,
  MediaLegOptions,
  MediaRoom,
  RoomEvents,
} from '../../domain/call/needs.ts';
import type { AddressFamily } from '../../protocol/sdp/sdp.ts';
import { Hub } from './hub.ts';
import { NativeLeg, REST_MS } from './leg.ts';
import { type LegHandle, loadNative, type NativeThreadStatus, type SentPacket } from './native.ts';
import { statisticsBuffer } from './native-values.ts';
import { PortPool } from './port-pool.ts';
import { NativeRoom } from './room.ts';

export interface MediaIdentity {
  readonly certificate: string;
  readonly key: string;
}

export interface MediaOptions {
  /** IP address to bind RTP sockets to. */
  readonly rtpHost: string;
  /** Address in SDP to which peers send RTP. */
  readonly publicHost: string;
  /** Address in SDP for peers with IPv6; undefined: `publicHost` is the only one. */
  readonly publicHost6?: string | undefined;
  /** UDP and TCP port shared by all legs with ICE; 0 uses the lowest RTP port. Undefined disables the shared port. */
  readonly icePort?: number | undefined;
  readonly portMin: number;
  readonly portMax: number;
  /**
   * Interval in milliseconds of keep-alive packets on a silent leg, which otherwise sends only one packet at its start.
   * Undefined, or a frame of 20 ms, sends continuous silence.
   */
  readonly keepAliveMs?: number;
  /** Number of media threads. Default: 1. */
  readonly threads?: number;
  /** True to send datagrams of many sockets in one system call, if the kernel supports it. Default: true. */
  readonly ioUring?: boolean;
  /** `thread`: real sockets and clock. `manual`: the owner of `manual` advances time and delivers packets. */
  readonly drive: 'thread' | 'manual';
  readonly wallMs: () => number;
  readonly logger: Logger;
  /** True to remove DTMF tones from recordings. Default: false. */
  readonly suppressDigits?: boolean;
  /** Certificate and key as PEM for DTLS; undefined disables DTLS. */
  readonly identity?: MediaIdentity | undefined;
  /** Random source for ports, SSRCs and initial sequence numbers. Default: the system's generator. */
  readonly random?: Random;
}

interface MediaStatus {
  readonly ready: boolean;
  readonly legs: number;
  readonly portsFree: number;
  /** Highest tick delay among the media threads, 99th percentile, in microseconds. */
  readonly tickLateP99Us: number;
  /** Load of the least busy media thread, which gets the next call, 0..1. */
  readonly busy: number;
  readonly threads: readonly MediaThreadStatus[];
}

interface MediaThreadStatus {
  readonly legs: number;
  /** Fraction of the last second spent working, 0..1. */
  readonly busy: number;
  /** Delay of ticks, 99th percentile of the last 10 to 20 s, in microseconds. */
  readonly tickLateP99Us: number;
  /** Milliseconds of ticks skipped since the start. */
  readonly skippedTicks: number;
  readonly scheduling: NativeThreadStatus['scheduling'];
  /** True if datagrams of many sockets are sent in one system call. */
  readonly ioUring: boolean;
}

interface MediaCounters {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  /** RTP and RTCP packets from unexpected addresses or with payload types that were not negotiated. */
  readonly unknownSources: number;
  /** Datagrams that are not RTP or RTCP. */
  readonly malformed: number;
  /** Number of changes of a peer's source address. */
  readonly sourceChanges: number;
  /** Commands for a leg, room or object that no longer exists or is full. */
  readonly unknownHandles: number;
  /** Milliseconds skipped by media threads. */
  readonly skippedTicks: number;
  /** Events and audio for bots lost because JavaScript or a socket thread read them too late. */
  readonly droppedEvents: number;
}

type ThreadCounters = Omit<MediaCounters, 'droppedEvents'>;

/** Network and clock of the manual mode. Times are the engine's monotonic milliseconds, see `nowMs`. */
export interface ManualDrive {
  nowMs(): number;
  /** Advances time and delivers all events. */
  advance(ms: number): void;
  /** Delivers a datagram to one of our ports now, or at `atMs` in the past. */
  inject(
    localPort: number,
    from: { readonly address: string; readonly port: number },
    bytes: Uint8Array,
    atMs?: number,
  ): void;
  /** Packets sent since the last call. */
  drain(): SentPacket[];
}

export interface MediaEngine extends Media {
  /** Returns whether an active leg uses that port for RTP or RTCP. */
  isPortOfLeg(port: number): boolean;
  /** Throws PORT_IN_USE with a remedy in one line if no leg can get a port. */
  checkPorts(): void;
  /** Value of `status().busy`, sampled several times per second even without calls. */
  busy(): number;
  status(): MediaStatus;
  counters(): MediaCounters;
  /** Closes all legs and ends the media threads. */
  stop(): Promise<void>;
  /** Manual drive; defined only with `drive: 'manual'`. */
  readonly manual: ManualDrive | undefined;
}

/** Maximum number of attempts to bind a port, because other programs may hold some. */
const MAX_BIND_ATTEMPTS = 50;
const TOO_MANY_LEGS = 0;
const FRAME_MS = 20;

export function createMedia(options: MediaOptions): MediaEngine {
  return new Engine(options);
}

class Engine implements MediaEngine {
  readonly manual: ManualDrive | undefined;
  readonly fingerprint: string | undefined;
  readonly #options: MediaOptions;
  readonly #random: Random;
  readonly #hub: Hub;
  readonly #ports: PortPool;
  readonly #icePort: number | undefined;
  /** Legs by port. */
  readonly #legs = new Map<number, NativeLeg>();
  readonly #rooms = new Set<NativeRoom>();
  #stopped = false;

  constructor(options: MediaOptions) {
    this.#options = options;
    this.#random = options.random ?? systemRandom;
    const native = loadNative();
    const manual = options.drive === 'manual';
    this.#hub = new Hub(
      native,
      (onEvents) => {
        const { rtpHost, threads = 1, ioUring = true, publicHost, publicHost6 = '' } = options;
        const announced = [publicHost, publicHost6];
        return new native.Engine(manual, rtpHost, onEvents, threads, ioUring, ...announced);
      },
      options,
    );
    this.#icePort = manual ? undefined : this.#shareIcePort();
    const { portMin, portMax } = options;
    this.#ports = new PortPool(portMin, portMax, this.#random, this.#icePort);
    const { identity } = options;
    if (identity !== undefined) {
      this.#hub.engine.useIdentity(identity.certificate, identity.key);
      this.fingerprint = `sha-256 ${new X509Certificate(identity.certificate).fingerprint256}`;
    }
    this.manual = manual ? this.#manualDrive() : undefined;
  }

  get families(): readonly AddressFamily[] {
    const { rtpHost, publicHost, publicHost6 } = this.#options;
    if (publicHost6 !== undefined) return ['IP4', 'IP6'];
    return isIPv6(rtpHost === '::' ? publicHost : rtpHost) ? ['IP6'] : ['IP4'];
  }

  openLeg(options: MediaLegOptions, events: MediaLegEvents): Promise<MediaLeg> {
    // Convert exceptions to rejections without an async function, so that the leg exists on return.
    try {
      return Promise.resolve(this.#openLeg(options, events));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  bridge(a: MediaLeg, b: MediaLeg): Bridge {
    if (!(a instanceof NativeLeg && b instanceof NativeLeg)) {
      throw new BugError('a leg of another media engine');
    }
    const { engine } = this.#hub;
    engine.bridge(a.handle, b.handle);
    return { close: () => engine.unbridge(a.handle, b.handle) };
  }

  openRoom(events: RoomEvents): MediaRoom {
    const room = new NativeRoom(this.#hub, events, () => this.#rooms.delete(room));
    this.#rooms.add(room);
    return room;
  }

  isPortOfLeg(port: number): boolean {
    return port === this.#icePort || this.#legs.has(port - (port % 2));
  }

  checkPorts(): void {
    const { portMin, portMax, rtpHost } = this.#options;
    try {
      const { handle, port } = this.#bind({ mediaTimeoutMs: 1000 });
      this.#hub.engine.closeLeg(handle, statisticsBuffer());
      this.#ports.giveBack(port, this.#hub.engine.nowMs());
    } catch (cause) {
      if (!(cause instanceof ServiceError) || cause.code !== 'MEDIA_NO_PORTS') throw cause;
      const message = `no free RTP port was found at ${rtpHost} between ${portMin} and ${portMax}; set CARILLON_RTP_PORT_MIN and CARILLON_RTP_PORT_MAX to others`;
      throw new ServiceError('PORT_IN_USE', message, { cause });
    }
  }

  busy(): number {
    return this.#hub.engine.busy();
  }

  status(): MediaStatus {
    const { legs, threads } = this.#hub.engine.status();
    return {
      ready: threads.every(({ running }) => running) && !this.#stopped,
      legs,
      portsFree: this.#ports.available(this.#hub.engine.nowMs()),
      tickLateP99Us: Math.max(...threads.map(({ tickLateP99Us }) => tickLateP99Us)),
      busy: this.busy(),
      threads,
    };
  }

  counters(): MediaCounters {
    const { threads, droppedEvents } = this.#hub.engine.status();
    const sum = (name: keyof ThreadCounters): number =>
      threads.reduce((total, thread) => total + thread[name], 0);
    return {
      packetsReceived: sum('packetsReceived'),
      packetsSent: sum('packetsSent'),
      unknownSources: sum('unknownSources'),
      malformed: sum('malformed'),
      sourceChanges: sum('sourceChanges'),
      unknownHandles: sum('unknownHandles'),
      skippedTicks: sum('skippedTicks'),
      droppedEvents,
    };
  }

  stop(): Promise<void> {
    if (!this.#stopped) {
      this.#stopped = true;
      for (const room of [...this.#rooms]) room.close();
      for (const leg of [...this.#legs.values()]) leg.close();
      this.#hub.engine.stop();
      this.#hub.pump();
    }
    return Promise.resolve();
  }

  #openLeg(options: MediaLegOptions, events: MediaLegEvents): NativeLeg {
    if (this.#stopped) throw new ServiceError('MEDIA_UNAVAILABLE', 'the media engine has stopped');
    const { handle, port } = this.#bind(options);
    const { publicHost: address, publicHost6: address6 } = this.#options;
    const place = { handle, address, address6, port, icePort: this.#icePort };
    const leg = new NativeLeg(this.#hub, place, events, (peer) => {
      this.#legs.delete(port);
      this.#ports.giveBack(port, this.#hub.engine.nowMs(), REST_MS[peer]);
    });
    this.#legs.set(port, leg);
    return leg;
  }

  #bind({ mediaTimeoutMs, near }: MediaLegOptions): {
    readonly handle: LegHandle;
    readonly port: number;
  } {
    const { engine } = this.#hub;
    const beside = near instanceof NativeLeg ? near.handle : undefined;
    const { keepAliveMs = FRAME_MS } = this.#options;
    const inUse: number[] = [];
    for (let attempt = 0; attempt < MAX_BIND_ATTEMPTS; attempt += 1) {
      const port = this.#ports.take(engine.nowMs());
      if (port === undefined) break;
      const ssrc = this.#random.integer(0x1_0000_0000);
      // Start in the lower half: an SRTP receiver that misses the first packets could not detect a rollover (RFC 3711
      // §3.3.1).
      const sequence = this.#random.integer(0x8000);
      const timestamp = this.#random.integer(0x1_0000_0000);
      const handle = engine.openLeg(
        port,
        ssrc,
        sequence,
        timestamp,
        mediaTimeoutMs,
        keepAliveMs,
        beside,
      );
      if (handle > 0) {
        this.#warnOf(inUse);
        return { handle: handle as LegHandle, port };
      }
      this.#ports.giveBack(port, engine.nowMs());
      if (handle === TOO_MANY_LEGS) {
        throw new ServiceError('MEDIA_UNAVAILABLE', 'the media engine is full');
      }
      if (handle === -constants.errno.EBUSY) {
        throw new ServiceError('MEDIA_UNAVAILABLE', 'the media threads are busy');
      }
      if (handle !== -constants.errno.EADDRINUSE) {
        throw new ServiceError('MEDIA_UNAVAILABLE', this.#problemOf('RTP port', port, handle));
      }
      inUse.push(port);
    }
    this.#warnOf(inUse);
    throw new ServiceError('MEDIA_NO_PORTS', 'no RTP port is free');
  }

  /** Returns the shared port, or undefined if each leg uses a separate one. */
  #shareIcePort(): number | undefined {
    const { icePort, portMin, logger } = this.#options;
    if (icePort === undefined) return undefined;
    const wanted = icePort === 0 ? portMin + (portMin % 2) : icePort;
    const port = this.#hub.engine.shareIcePort(wanted);
    if (port > 0) return port;
    const problem = this.#problemOf('port for browsers (UDP and TCP)', wanted, port);
    logger.warn(
      {},
      `each browser's call uses a separate port, and TCP is not possible: ${problem}`,
    );
    return undefined;
  }

  /** `errno` is negative, as reported by the engine. */
  #problemOf(what: string, port: number, errno: number): string {
    const setting = what === 'RTP port' ? 'CARILLON_RTP_PORT_MIN' : 'CARILLON_RTP_ICE_PORT';
    return listenProblem(getSystemErrorName(errno), {
      what,
      host: this.#options.rtpHost,
      port,
      portSetting: setting,
      hostSetting: 'CARILLON_RTP_HOST',
    });
  }

  #warnOf(portsInUse: readonly number[]): void {
    if (portsInUse.length > 0)
      this.#options.logger.warn({ ports: portsInUse }, 'RTP ports in use by another program');
  }

  #manualDrive(): ManualDrive {
    const { engine } = this.#hub;
    return {
      nowMs: () => engine.nowMs(),
      advance: (ms) => {
        engine.advance(ms);
        this.#hub.pump();
      },
      inject: (localPort, from, bytes, atMs = engine.nowMs()) => {
        engine.inject({ localPort, address: from.address, port: from.port, bytes, atMs });
        this.#hub.pump();
      },
      drain: () => engine.drain(),
    };
  }
}
