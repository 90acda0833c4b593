/** Columns of a ledger in CSV. The file loads nothing else, because the command line imports it at its start. */
export const ENTRY_COLUMNS = [
  'created_at',
  'id',
  'type',
  'amount',
  'currency',
  'description',
  'reference',
  'reference_type',
  'status',
] as const;
