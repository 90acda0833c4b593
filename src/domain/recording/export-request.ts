import { isEmail } from '../../base/email.ts';
import type { AccountId, CallUuid, RecordingId } from '../../base/ids.ts';
import type { PartyFilter } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type DurationFilters, durationWindow } from './storage-duration.ts';
import type { RecordingFilter, RecordingFormat } from './types.ts';

const DAY_US = 86_400_000_000;
/** Maximum and default date range of an export (spec: Limits). */
const MAX_RANGE_DAYS = 366;
const DEFAULT_RANGE_DAYS = 7;
/** Longest range to which additional filters apply (spec: Limits). */
const FILTERED_RANGE_DAYS = 30;
/** Maximum number of recipients of one export. */
const MAX_RECIPIENTS = 50;

/** Body of `POST …/export/recording/` in domain names. Values as sent. */
export interface ExportRequest extends PartyFilter {
  readonly accountId: AccountId;
  readonly recipients: readonly string[];
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly storageDuration: DurationFilters;
  readonly callUuid?: CallUuid | undefined;
  readonly conferenceName?: string | undefined;
  readonly format?: string | undefined;
  readonly recordingId?: RecordingId | undefined;
}

/** `message` is a plain sentence for the client. */
export type ExportRefusal =
  | { readonly kind: 'invalidExport'; readonly message: string }
  | { readonly kind: 'exportRunning' };

const invalid = (message: string) => err({ kind: 'invalidExport', message } as const);

/** Applies every validation rule of the spec. Returns the filter of recordings to export. */
export function validateExport(
  request: ExportRequest,
  nowUs: number,
): Result<RecordingFilter, ExportRefusal> {
  const recipients = checkRecipients(request.recipients);
  if (!recipients.ok) return recipients;
  const window = exportWindow(request, nowUs);
  if (!window.ok) return window;
  const { fromUs, toUs } = window.value;
  if (request.format !== undefined && !isFormat(request.format)) {
    return invalid('recording_format must be mp3 or wav');
  }
  const filter: RecordingFilter = {
    accountId: request.accountId,
    addedFromUs: fromUs,
    addedToUs: toUs,
  };
  if (toUs - fromUs > FILTERED_RANGE_DAYS * DAY_US) return ok(filter);
  return ok({
    ...filter,
    fromNumber: request.fromNumber,
    toNumber: request.toNumber,
    callUuid: request.callUuid,
    conferenceName: request.conferenceName,
    format: request.format,
    recordingId: request.recordingId,
  });
}

interface ExportWindow {
  readonly fromUs: number;
  readonly toUs: number;
}

function exportWindow(request: ExportRequest, nowUs: number): Result<ExportWindow, ExportRefusal> {
  const byDuration = Object.values(request.storageDuration).some((value) => value !== undefined);
  const byDate = request.from !== undefined || request.to !== undefined;
  if (byDuration && byDate) {
    return invalid('from/to cannot be combined with recording_storage_duration filters');
  }
  if (byDuration) {
    const window = durationWindow(request.storageDuration, nowUs);
    return window.ok ? window : invalid(window.error);
  }
  const toUs = request.to === undefined ? nowUs : parseDate(request.to);
  const fromUs =
    request.from === undefined
      ? Math.min(toUs ?? nowUs, nowUs) - DEFAULT_RANGE_DAYS * DAY_US
      : parseDate(request.from);
  if (fromUs === undefined) return invalid('from must have the format YYYY-MM-DD HH:MM:SS');
  if (toUs === undefined) return invalid('to must have the format YYYY-MM-DD HH:MM:SS');
  if (fromUs > toUs) return invalid('from must not be after to');
  if (toUs - fromUs > MAX_RANGE_DAYS * DAY_US) {
    return invalid('the date range must not exceed 1 year');
  }
  return ok({ fromUs, toUs });
}

function checkRecipients(recipients: readonly string[]): Result<void, ExportRefusal> {
  if (recipients.length === 0) return invalid('recipient.customer_account is required');
  if (recipients.length > MAX_RECIPIENTS) return invalid(`at most ${MAX_RECIPIENTS} recipients`);
  const wrong = recipients.find((address) => !isEmail(address));
  return wrong === undefined ? ok(undefined) : invalid(`invalid email format: ${wrong}`);
}

/** Parses `YYYY-MM-DD HH:MM:SS` UTC to microseconds. Returns undefined for other text. */
function parseDate(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`);
  if (!Number.isFinite(ms)) return undefined;
  // Rejects February 30, which would otherwise roll over into March.
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ') === text ? ms * 1000 : undefined;
}

const isFormat = (text: string): text is RecordingFormat => text === 'mp3' || text === 'wav';
