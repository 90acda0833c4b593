/** What a sub-account may be kept from (dialect §3.10). Numbers, trunks and conferences are the main account's anyway. */
export const PERMISSIONS = [
  'calls',
  'cdr',
  'recordings',
  'applications',
  'endpoints',
  'balance',
  'numbers',
  'trunks',
  'conferences',
  'campaigns',
  'refer',
] as const;
export type Permission = (typeof PERMISSIONS)[number];
/** Absent: allowed. */
export type Permissions = Readonly<Partial<Record<Permission, boolean>>>;

export const permits = (
  { permissions }: { readonly permissions: Permissions },
  wanted: Permission,
): boolean => permissions[wanted] !== false;
