/** What systemd is told (sd_notify(3)): that the service is up, reloads or stops, and while it is well, that it lives. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { loadNativeAddon } from '../base/native-addon.ts';

/** As systemd sets them; absent when nobody supervises. */
export interface SupervisorPlace {
  /** NOTIFY_SOCKET. */
  readonly socket: string | undefined;
  /** WATCHDOG_USEC: silence for longer than that is taken for a hang. */
  readonly watchdogUs: string | undefined;
}

export interface SupervisorOptions extends SupervisorPlace {
  readonly clock: Clock;
  readonly logger: Logger;
  /** A node that can carry no call is better started anew: it is silent, and the watchdog ends it. */
  readonly isWell: () => boolean;
  /** One datagram to the socket; whether it left. */
  readonly send?: (socket: string, text: string) => boolean;
}

/** Two signs of life may be lost. */
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
    this.#tell(`READY=1\nSTATUS=${status}`);
    const limitMs = Number(this.#options.watchdogUs) / 1000;
    if (Number.isFinite(limitMs) && limitMs > 0) this.#live(limitMs / SIGNS_PER_LIMIT);
  }

  reloading(): void {
    this.#tell('RELOADING=1');
  }

  reloaded(): void {
    this.#tell('READY=1');
  }

  stopping(status: string): void {
    this.#tell(`STOPPING=1\nSTATUS=${status}`);
  }

  stop(): void {
    this.#cancel();
  }

  #live(everyMs: number): void {
    const { clock, logger, isWell } = this.#options;
    if (isWell()) this.#tell('WATCHDOG=1');
    else if (!this.#isUnwell)
      logger.error({}, 'the media engine stands still: the supervisor is not told that we live');
    this.#isUnwell = !isWell();
    this.#cancel = clock.at(clock.monotonicMs() + everyMs, () => this.#live(everyMs));
  }

  #tell(text: string): void {
    const { socket, logger } = this.#options;
    if (socket === undefined || socket === '') return;
    if (!this.#send(socket, text)) logger.warn({ text }, 'the supervisor could not be told');
  }
}

function nativeSend(socket: string, text: string): boolean {
  const addon = loadNativeAddon() as { notifySupervisor(socket: string, text: string): boolean };
  return addon.notifySupervisor(socket, text);
}
