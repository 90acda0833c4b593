/** Keeps a wrong wall clock from deleting data and charging rents. */
import type { Clock } from '../base/clock.ts';
import { DAY_MS, HOUR_MS } from '../base/duration.ts';
import type { Logger } from '../base/logger.ts';
import type { SettingStore } from '../edge/store/store.ts';

/** Setting key of the wall clock when it was last trusted, milliseconds. */
const TRUSTED = 'clock.trustedMs';
/** Setting key of the wall clock when a large step forward was first seen, milliseconds. Empty: none. */
const STEPPED = 'clock.steppedMs';
/** Largest step forward that needs no wait. Longer downtimes look like a step. */
const LARGEST_STEP_MS = 26 * HOUR_MS;
/** Time in which an operator or a time server can set the clock back, milliseconds. */
const WAIT_MS = DAY_MS;

export interface TrustedClockNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: SettingStore;
}

/** The wall clock, not trusted for a day after a large step forward. All nodes of a store share its state. */
export class TrustedClock {
  readonly #needs: TrustedClockNeeds;

  constructor(needs: TrustedClockNeeds) {
    this.#needs = needs;
  }

  /** Returns whether the wall clock may decide what is old or due. Must be asked at least once per day. */
  async isTrusted(): Promise<boolean> {
    const { clock, logger, settings } = this.#needs;
    const nowMs = clock.wallMs();
    const trustedMs = Number((await settings.get(TRUSTED)) ?? nowMs);
    const stepped = (await settings.get(STEPPED)) ?? '';
    if (nowMs - trustedMs > LARGEST_STEP_MS) {
      const waitedMs = stepped === '' ? Number.NaN : nowMs - Number(stepped);
      const isWaiting = waitedMs >= 0 && waitedMs < WAIT_MS + LARGEST_STEP_MS;
      if (!isWaiting) {
        await settings.set(STEPPED, String(nowMs));
        logger.warn(
          { stepMs: nowMs - trustedMs },
          'large step of the wall clock: retention, rents and exports wait for a day',
        );
      }
      if (!isWaiting || waitedMs < WAIT_MS) return false;
    }
    if (stepped !== '') await settings.set(STEPPED, '');
    await settings.set(TRUSTED, String(nowMs));
    return true;
  }
}
