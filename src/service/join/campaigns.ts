/** Composes campaigns: the dialer on the store and the account's calls, and its control. */

import type { CallbackClient } from '../../domain/callback/callback.ts';
import {
  type CallPlacing,
  CampaignService,
  createCallPlacing,
  createCampaignWebhooks,
  Dialer,
  type DialerControl,
  type PlacingNeeds,
} from '../../domain/campaign/campaign.ts';
import { numberTimezones } from '../../edge/timezones/number-timezones.ts';
import type { Basics, Foundation } from './foundation.ts';

export interface Campaigns {
  readonly campaigns: CampaignService;
  readonly dialer: Dialer;
}

const MINUTE_MS = 60_000;

export function joinCampaigns(
  { settings, clock, random, logger }: Pick<Basics, 'settings' | 'clock' | 'random' | 'logger'>,
  { store, accounts, ledger }: Pick<Foundation, 'store' | 'accounts' | 'ledger'>,
  ways: Pick<PlacingNeeds, 'paced' | 'onFree'> & {
    readonly callbacks: Pick<CallbackClient, 'notifyStored'>;
    /** Shares the dialing work with other nodes. Absent: this process dials. */
    readonly share?: ((own: Dialer) => DialerControl) | undefined;
  },
): Campaigns {
  const { paced, onFree, callbacks } = ways;
  const calls: CallPlacing = createCallPlacing({
    paced,
    accounts,
    ledger,
    cdrs: store.cdrs,
    onFree,
  });
  const webhooks = createCampaignWebhooks({ callbacks, random });
  const { campaigns: limits } = settings;
  const dialer = new Dialer({
    store: store.campaigns,
    calls,
    webhooks,
    clock,
    random,
    logger,
    onRevoked: (act) => accounts.onRevoked(act),
    settings: {
      maxRunning: limits.maxRunning,
      maxCallsPerDay: limits.callsPerNumberPerDay,
      activeMs: limits.activeSeconds * 1000,
      stalledMs: limits.stalledMinutes * MINUTE_MS,
      stalledPauseMs: limits.stalledPauseMinutes * MINUTE_MS,
      failures: limits.consecutiveFailures,
    },
  });
  const campaigns = new CampaignService({
    store: store.campaigns,
    accounts,
    calls,
    webhooks,
    dialer: ways.share?.(dialer) ?? dialer,
    timezoneOf: numberTimezones(),
    clock,
    random,
  });
  return { campaigns, dialer };
}
