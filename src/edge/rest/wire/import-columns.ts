/**
 * Columns of the tables that can be imported from CSV files: the fields of the request that creates a row. This
 * file has no imports, because the command line loads it at its start.
 */
export const RATE_COLUMNS = [
  'direction',
  'prefix',
  'per_minute',
  'pulse_seconds',
  'currency',
  'account_id',
] as const;

export const NUMBER_COLUMNS = [
  'e164',
  'country',
  'region',
  'setup_fee',
  'monthly_fee',
  'currency',
  'carrier',
  'account_id',
] as const;

/** Fields of an account, and its first credit. */
export const ACCOUNT_COLUMNS = [
  'name',
  'currency',
  'opening_credit',
  'country',
  'concurrent_calls_limit',
  'cps_limit',
  'credit_limit',
  'credit_limit_type',
  'is_postpaid',
  'low_balance_threshold',
  'low_balance_email',
  'daily_spend_limit',
] as const;
