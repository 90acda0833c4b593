/** Changes of an object with optional members: null removes a member, an absent one stays as it is. */
export type Changes<T> = { readonly [Key in keyof T]?: T[Key] | null };

/** Returns the object with the changes. */
export function changed<T extends object>(before: T, changes: Changes<T>): T {
  const members = Object.entries({ ...before, ...changes });
  return Object.fromEntries(members.filter(([, value]) => value !== null)) as T;
}
