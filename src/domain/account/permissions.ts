/**
 * Permissions that a sub-account can be denied (dialect §3.10). Numbers, trunks and conferences always belong to the
 * main account.
 */
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
/** Permissions by name. A missing entry means allowed. */
export type Permissions = Readonly<Partial<Record<Permission, boolean>>>;

export const permits = (
  { permissions }: { readonly permissions: Permissions },
  wanted: Permission,
): boolean => permissions[wanted] !== false;
