/** Lists every kind of stored JSON, for the test that records their shapes. */

import { OPEN_CALL } from './sql/stored-call.ts';
import { PARAMETERS, TARGET } from './sql/stored-callback.ts';
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

export const STORED_KINDS = [
  OPEN_CALL,
  STREAMS.kind,
  QUALITY,
  TIMELINE,
  TARGET,
  PARAMETERS,
  PENDING_CHARGES,
  EXPORT_FILTER,
  HEADERS,
  MACHINE_DETECTION,
  CALL_RECORDING,
  DIAL_WINDOW,
  RETRY,
  POOL,
  ABANDONMENT,
  TEXTS,
  ACCOUNT_PERMISSIONS,
  ENDPOINT_SECRETS,
  FLOW,
  TRUNK_POLICY,
  CARRIER_POLICY,
  CARRIER_AUTH,
  MEDIA_POLICIES,
  CALLED_COUNTRIES,
  RAISED_ALARMS,
  FIRST_PLAN,
  FIRST_THINGS,
  SPOOLED_WRITE,
].map(({ name, version, shape }) => ({ name, version, shape: { text: shape.text } }));
