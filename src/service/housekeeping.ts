/** Periodic background work: rentals, retention, and the drain at shutdown. */

import { type Clock, wallUs } from '../base/clock.ts';
import { DAY_MS } from '../base/duration.ts';
import type { Logger } from '../base/logger.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { Settings } from '../config/schema.ts';
import { expireCampaigns } from '../domain/campaign/campaign.ts';
import { expireCalls, INTERRUPTED } from '../domain/cdr/cdr.ts';
import type { CallBilling } from '../domain/dispatch/dispatch.ts';
import type { PhoneLogins } from '../domain/phone-login/phone-login.ts';
import type { Provisioning } from '../domain/provisioning/provisioning.ts';
import type { Recordings } from '../domain/recording/recording.ts';
import type { Users } from '../domain/user/user.ts';
import type { Store } from '../edge/store/store.ts';
import { TrustedClock } from './trusted-clock.ts';

const HOUR_MS = 3_600_000;
const DRAIN_LOOK_MS = 100;

/** Retention of ended alarms, and their maximum number. */
const ALARMS_MS = 365 * DAY_MS;
const ALARMS_MAX = 10_000;
/** Retention of webhook deliveries, and their maximum number for all accounts. */
const DELIVERIES_MS = 7 * DAY_MS;
const DELIVERIES_MAX = 20_000;

/** Retention of idempotency keys. */
const KEYS_MS = DAY_MS;
/** Rows deleted per transaction. Short enough that no call is delayed. */
const BATCH = 200;

/** Retention for a setting of 0 (unlimited): 100 years. */
const FOREVER_DAYS = 36_500;
const retentionMs = (days: number): number => (days === 0 ? FOREVER_DAYS : days) * DAY_MS;

export interface HousekeepingNeeds {
  readonly store: Store;
  readonly provisioning: Provisioning;
  readonly recordings: Recordings;
  readonly phoneLogins: Pick<PhoneLogins, 'purge'>;
  readonly users: Pick<Users, 'purge'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Settings;
  /** Deletes the contacts of lists that no campaign uses. */
  readonly forgetLists: () => Promise<void>;
}

export class Housekeeping {
  readonly #needs: HousekeepingNeeds;
  readonly #rounds: RepeatedTask;
  readonly #clock: TrustedClock;

  constructor(needs: HousekeepingNeeds) {
    this.#needs = needs;
    const { clock, logger, store } = needs;
    this.#clock = new TrustedClock({ clock, logger, settings: store.settings });
    this.#rounds = new RepeatedTask({
      clock,
      everyMs: HOUR_MS,
      round: () => this.#round(),
      failed: (error) => logger.error({ error }, 'housekeeping failed'),
    });
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Lets running calls continue for up to `limitMs`, then ends them. */
  async drain(callBilling: CallBilling, limitMs: number): Promise<void> {
    const { clock } = this.#needs;
    const endMs = clock.monotonicMs() + limitMs;
    while (callBilling.live().length > 0 && clock.monotonicMs() < endMs)
      await clock.sleep(DRAIN_LOOK_MS);
    for (const call of callBilling.live()) call.hangup('normal', 'Platform', INTERRUPTED.stop);
  }

  async #round(): Promise<void> {
    // One node does this for all nodes that share the store.
    if (!(await this.#needs.store.nodes.claim('housekeeping'))) return;
    if (!(await this.#clock.isTrusted())) return;
    const { provisioning, recordings, phoneLogins, users, store, clock, settings } = this.#needs;
    const { recordingDays, cdrDays, callLogDays } = settings.retention;
    const calls = { callsMs: retentionMs(cdrDays), logsMs: retentionMs(callLogDays) };
    await this.#each({
      'phone logins': () => phoneLogins.purge(),
      users: () => users.purge(),
      'idempotency keys': () => purgeKeys(store, clock),
      'alarms and deliveries': () => purgeOperate(store, clock.wallMs()),
      'number releases': () => provisioning.numbers.completeReleases(),
      'number rentals': () => provisioning.numbers.chargeRentals(),
      recordings: () => recordings.expire(retentionMs(recordingDays)),
      calls: () => expireCalls(store.retention, clock, calls),
      campaigns: () => this.#expireCampaigns(),
    });
  }

  /** Runs all steps. A failed step does not prevent the others; the next round repeats it. */
  async #each(steps: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
    for (const [step, act] of Object.entries(steps)) {
      try {
        await act();
      } catch (error) {
        this.#needs.logger.error({ error, step }, 'a step of housekeeping failed');
      }
    }
  }

  async #expireCampaigns(): Promise<void> {
    const { store, clock, settings, forgetLists } = this.#needs;
    const { campaignDays, doNotCallDays } = settings.retention;
    const retained = {
      campaignsMs: retentionMs(campaignDays),
      doNotCallMs: retentionMs(doNotCallDays),
    };
    if ((await expireCampaigns(store.campaigns, clock, retained)) > 0) await forgetLists();
  }
}

async function purgeKeys({ idempotency }: Store, clock: Clock): Promise<void> {
  const beforeUs = wallUs(clock) - KEYS_MS * 1000;
  while ((await idempotency.purge(beforeUs, BATCH)) === BATCH);
}

/** Deletes old rows of what the console shows to operators and developers. */
async function purgeOperate(store: Store, nowMs: number): Promise<void> {
  await store.alarms.purge((nowMs - ALARMS_MS) * 1000, ALARMS_MAX);
  const beforeUs = (nowMs - DELIVERIES_MS) * 1000;
  const { deliveries } = store;
  while ((await deliveries.purge(beforeUs, DELIVERIES_MAX, BATCH)) === BATCH);
  await store.credentialUses.purge();
}
