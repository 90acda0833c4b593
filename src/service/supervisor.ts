/**
 * Reports to systemd (sd_notify(3)) that the service is ready, reloads or stops, and sends watchdog keep-alives while
 * it is healthy.
 */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { loadNativeAddon } from '../base/native-addon.ts';

/** Environment variables set by systemd. Absent without a supervisor. */
export interface SupervisorPlace {
  /** Value of NOTIFY_SOCKET. */
  readonly socket: string | undefined;
  /** Value of WATCHDOG_USEC: systemd treats a longer silence as a hang. */
  readonly watchdogUs: string | undefined;
}

export interface SupervisorOptions extends SupervisorPlace {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns whether the node can carry calls. If not, keep-alives stop and the watchdog restarts the service. */
  readonly isWell: () => boolean;
  /** Sends one datagram to the socket. Returns whether it was sent. */
  readonly send?: (socket: string, text: string) => boolean;
}

/** Keep-alives per watchdog interval, so that two may be lost. */
const SIGNS_PER_LIMIT = 3;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #send: (socket: string, text: string) => boolean;
  #isUnwell = false;
  #cancel: () => void = () => undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#send = options.send ?? nativeSend;
  }

  ready(status: string): void {
    this.#notify(`READY=1\nSTATUS=${status}`);
    const limitMs = Number(this.#options.watchdogUs) / 1000;
    if (Number.isFinite(limitMs) && limitMs > 0) this.#live(limitMs / SIGNS_PER_LIMIT);
  }

  reloading(): void {
    this.#notify('RELOADING=1');
  }

  reloaded(): void {
    this.#notify('READY=1');
  }

  stopping(status: string): void {
    this.#notify(`STOPPING=1\nSTATUS=${status}`);
  }

  stop(): void {
    this.#cancel();
  }

  #live(everyMs: number): void {
    const { clock, logger, isWell } = this.#options;
    if (isWell()) this.#notify('WATCHDOG=1');
    else if (!this.#isUnwell)
      logger.error({}, 'the media engine has stalled: stopped the watchdog keep-alives');
    this.#isUnwell = !isWell();
    this.#cancel = clock.at(clock.monotonicMs() + everyMs, () => this.#live(everyMs));
  }

  #notify(text: string): void {
    const { socket, logger } = this.#options;
    if (socket === undefined || socket === '') return;
    if (!this.#send(socket, text)) logger.warn({ text }, 'failed to notify the supervisor');
  }
}

function nativeSend(socket: string, text: string): boolean {
  const addon = loadNativeAddon() as { notifySupervisor(socket: string, text: string): boolean };
  return addon.notifySupervisor(socket, text);
}
