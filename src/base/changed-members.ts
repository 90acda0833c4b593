/**
 * Returns the members of `after` that differ from those of `before`. An update that stores only these keeps the members that
 * another update changes at the same time. Values are compared as JSON.
 */
export const changedMembers = <T extends object>(before: T, after: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) =>
        JSON.stringify(value) !== JSON.stringify((before as Record<string, unknown>)[name]),
    ),
  ) as Partial<T>;
