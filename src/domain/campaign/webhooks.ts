/** Builds the JSON notifications for `notify_url` (dialect §3.11, webhooks). */

import { MINUTE_MS, secondsOf } from '../../base/duration.ts';
import { type Random, uuid } from '../../base/ids.ts';
import { withPlus } from '../../base/phone-number.ts';
import { isoMicros } from '../../base/time-format.ts';
import type { CallbackClient } from '../callback/callback.ts';
import type { CampaignWebhooks } from './needs.ts';
import type { Campaign, CampaignEvent } from './types.ts';

type Fields = Readonly<Record<string, string | number | null>>;

/** Creates the campaign webhooks. Events of one campaign are delivered in order. */
export const createCampaignWebhooks = (needs: {
  readonly callbacks: Pick<CallbackClient, 'notifyStored'>;
  readonly random: Random;
}): CampaignWebhooks => ({
  compose(campaign, event) {
    const { id, accountId, subAccount, notifyUrl } = campaign;
    if (notifyUrl === undefined || notifyUrl === '') return undefined;
    const name = event.kind === 'contact' ? `contact.${event.outcome}` : `campaign.${event.kind}`;
    return {
      id: uuid(needs.random),
      // Events of a sub-account are signed with its own token.
      accountId: subAccount ?? accountId,
      subject: id,
      event: name,
      target: { url: notifyUrl, method: 'POST' },
      parameters: [],
      json: JSON.stringify({ event: name, ...commonFields(campaign, event), ...fieldsOf(event) }),
      createdUs: event.atUs,
      attempts: 0,
    };
  },
  deliver: (notification) => needs.callbacks.notifyStored(notification),
});

const commonFields = (
  { id, accountId, subAccount }: Campaign,
  { atUs }: CampaignEvent,
): Fields => ({
  campaign_id: id,
  account_id: subAccount ?? accountId,
  timestamp: isoMicros(atUs),
});

function fieldsOf(event: CampaignEvent): Fields {
  switch (event.kind) {
    case 'paused':
    case 'failed':
      return { reason: event.reason };
    case 'stalled':
      return {
        reason: event.reason,
        last_dial_at: event.lastDialUs === undefined ? null : isoMicros(event.lastDialUs),
        stalled_minutes: Math.floor(event.stalledMs / MINUTE_MS),
      };
    case 'contact':
      return {
        contact_id: event.contactId,
        call_uuid: event.callUuid ?? null,
        to_number: withPlus(event.to),
        from_number: event.from === undefined ? null : withPlus(event.from),
        hangup_cause: event.hangupCause ?? null,
        duration: Math.round(secondsOf(event.durationMs)),
      };
    default:
      return {};
  }
}
