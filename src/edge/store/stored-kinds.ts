/** Lists every kind of stored JSON, for the tests that record their shapes and damage their values. */

import { OPEN_CALL } from './sql/stored-call.ts';
import { DELIVERY_REQUEST, PARAMETERS, TARGET } from './sql/stored-callback.ts';
import {
  ABANDONMENT,
  CALL_RECORDING,
  DIAL_WINDOW,
  HEADERS,
  MACHINE_DETECTION,
  POOL,
  RETRY,
} from './sql/stored-campaign.ts';
import {
  ACCOUNT_PERMISSIONS,
  CARRIER_AUTH,
  CARRIER_POLICY,
  ENDPOINT_SECRETS,
  FLOW,
  TEXTS,
  TRUNK_POLICY,
} from './sql/stored-provisioning.ts';
import { QUALITY } from './sql/stored-quality.ts';
import { EXPORT_FILTER, PENDING_CHARGES } from './sql/stored-recording.ts';
import {
  CALLED_COUNTRIES,
  FIRST_PLAN,
  FIRST_THINGS,
  MEDIA_POLICIES,
  RAISED_ALARMS,
} from './sql/stored-setting.ts';
import { STREAMS } from './sql/stored-stream.ts';
import { TIMELINE } from './sql/stored-timeline.ts';
import { SPOOLED_WRITE } from './sql/stored-write.ts';

/**
 * Kinds and where they are stored: `table.column`, `setting:KEY` (a key that ends with a dot is a prefix), or `spool` for lines
 * of the spool.
 */
const PLACES = [
  [OPEN_CALL, 'open_call.record'],
  [STREAMS.kind, 'cdr.streams'],
  [QUALITY, 'cdr.quality'],
  [TIMELINE, 'call_timeline.lines'],
  [
    TARGET,
    'notification.target',
    'transcription.target',
    'campaign_agent.answer',
    'campaign_agent.hangup',
    'campaign_agent.fallback',
    'campaign_agent.ring',
  ],
  [PARAMETERS, 'notification.parameters'],
  [DELIVERY_REQUEST, 'webhook_delivery.request'],
  [PENDING_CHARGES, 'recording.dues'],
  [EXPORT_FILTER, 'export_job.filter'],
  [HEADERS, 'campaign_agent.sip_headers', 'campaign_contact.headers'],
  [MACHINE_DETECTION, 'campaign_agent.machine_detection'],
  [CALL_RECORDING, 'campaign_agent.record'],
  [DIAL_WINDOW, 'campaign.dial_window'],
  [RETRY, 'campaign.retry'],
  [POOL, 'campaign.pool'],
  [ABANDONMENT, 'campaign.abandonment'],
  [
    TEXTS,
    'account.barred_prefixes',
    'account.barred_countries',
    'export_job.recipients',
    'binding.path',
    'carrier.source_addresses',
    'carrier.prefixes',
    'trunk.egress_allow',
  ],
  [ACCOUNT_PERMISSIONS, 'account.permissions'],
  [ENDPOINT_SECRETS, 'endpoint_secret.sealed'],
  [FLOW, 'binding.flow'],
  [TRUNK_POLICY, 'trunk.policy'],
  [CARRIER_POLICY, 'carrier.policy'],
  [CARRIER_AUTH, 'carrier.auth'],
  [MEDIA_POLICIES, 'setting:media.policies'],
  [CALLED_COUNTRIES, 'setting:alarm.countries.'],
  [RAISED_ALARMS, 'setting:alarm.raised.'],
  [FIRST_PLAN, 'setting:first-start-plan'],
  [FIRST_THINGS, 'setting:first-start'],
  [SPOOLED_WRITE, 'spool'],
] as const;

export const STORED_KINDS = PLACES.map(([{ name, version, shape }, ...places]) => ({
  name,
  version,
  shape: { text: shape.text },
  places: places as readonly string[],
}));
