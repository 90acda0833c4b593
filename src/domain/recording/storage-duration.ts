import { err, ok, type Result } from '../../base/result.ts';

const DAY_US = 86_400_000_000;
/** Maximum storage-duration range of an export (spec: Limits). */
const MAX_RANGE_DAYS = 30;

/** Ages in whole days, as sent (decimal strings). */
export interface DurationFilters {
  readonly exact?: string | undefined;
  readonly gte?: string | undefined;
  readonly gt?: string | undefined;
  readonly lte?: string | undefined;
  readonly lt?: string | undefined;
}

/**
 * Returns the window of `added` times for recordings of the given ages. A recording is N days old from N×24 h after
 * it was added until it is N+1 days old. The error is a plain sentence.
 */
export function durationWindow(
  filters: DurationFilters,
  nowUs: number,
): Result<{ readonly fromUs: number; readonly toUs: number }, string> {
  const days = parseDays(filters);
  if (!days.ok) return days;
  const ages = ageRange(days.value);
  if (!ages.ok) return ages;
  const { youngest, oldest } = ages.value;
  return ok({ fromUs: nowUs - (oldest + 1) * DAY_US + 1, toUs: nowUs - youngest * DAY_US });
}

/** Like `durationWindow`, for a list. The range has no maximum, and a bound may be given alone. */
export function agesWindow(
  filters: DurationFilters,
  nowUs: number,
): Result<{ readonly fromUs: number | undefined; readonly toUs: number }, string> {
  const days = parseDays(filters);
  if (!days.ok) return days;
  const { exact = 0, gt = -1, gte = 0, lt = Number.POSITIVE_INFINITY } = days.value;
  const { lte = Number.POSITIVE_INFINITY } = days.value;
  const youngest = Math.max(exact, gt + 1, gte);
  const oldest = Math.min(days.value.exact ?? Number.POSITIVE_INFINITY, lt - 1, lte);
  const fromUs =
    oldest === Number.POSITIVE_INFINITY ? undefined : nowUs - (oldest + 1) * DAY_US + 1;
  return ok({ fromUs, toUs: nowUs - youngest * DAY_US });
}

type Days = { readonly [Key in keyof DurationFilters]?: number | undefined };

function ageRange(
  days: Days,
): Result<{ readonly youngest: number; readonly oldest: number }, string> {
  const { exact, gt, gte, lt, lte } = days;
  if (gt !== undefined && gte !== undefined) {
    return err('recording_storage_duration__gt and __gte cannot be combined');
  }
  if (lt !== undefined && lte !== undefined) {
    return err('recording_storage_duration__lt and __lte cannot be combined');
  }
  const above = gte ?? (gt === undefined ? undefined : gt + 1);
  const below = lte ?? (lt === undefined ? undefined : lt - 1);
  if (exact !== undefined) {
    if (above !== undefined || below !== undefined) {
      return err('recording_storage_duration cannot be combined with its range filters');
    }
    return ok({ youngest: exact, oldest: exact });
  }
  if ((gte !== undefined && below === undefined) || (lte !== undefined && above === undefined)) {
    return err('a recording_storage_duration range filter needs its counterpart');
  }
  // `__lt` alone starts at today. `__gt` alone is unlimited, which exceeds 30 days.
  const youngest = above ?? 0;
  const oldest = below ?? Number.POSITIVE_INFINITY;
  if (oldest - youngest > MAX_RANGE_DAYS) {
    return err(`the recording_storage_duration range must not exceed ${MAX_RANGE_DAYS} days`);
  }
  if (oldest < youngest) return err('the recording_storage_duration range is empty');
  return ok({ youngest, oldest });
}

function parseDays(filters: DurationFilters): Result<Days, string> {
  const days: Record<string, number> = {};
  for (const [name, text] of Object.entries(filters)) {
    if (text === undefined) continue;
    if (!/^\d{1,5}$/.test(text)) {
      const test = name === 'exact' ? '' : `__${name}`;
      return err(`recording_storage_duration${test} must be a number of days`);
    }
    days[name] = Number(text);
  }
  return ok(days);
}
