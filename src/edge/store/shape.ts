/** Shapes of stored JSON. Each shape checks a value and describes itself, so that a test detects every change of a shape. */

/** The shape of a JSON value that reads as `T`. */
export interface Shape<T> {
  /** Canonical description, which changes with every change of the shape. */
  readonly text: string;
  /** Returns undefined if `value` has this shape, otherwise the problem. `at` is the path of the value. */
  problem(value: unknown, at: string): string | undefined;
  /** Never set: makes shapes of different types incompatible. */
  readonly of?: (value: T) => T;
}

const shape = <T>(text: string, isRight: (value: unknown) => boolean): Shape<T> => ({
  text,
  problem: (value, at) => (isRight(value) ? undefined : `${at} is not ${text}`),
});

export const aText = <T extends string = string>(): Shape<T> =>
  shape('text', (value) => typeof value === 'string');

/** A safe integer. */
export const anInteger = <T extends number = number>(): Shape<T> =>
  shape('integer', (value) => Number.isSafeInteger(value));

export const aNumber = (): Shape<number> => shape('number', (value) => Number.isFinite(value));

export const aFlag = (): Shape<boolean> => shape('flag', (value) => typeof value === 'boolean');

export const oneOf = <const T extends readonly (string | boolean)[]>(
  ...values: T
): Shape<T[number]> =>
  shape(values.map((value) => JSON.stringify(value)).join('|'), (value) =>
    (values as readonly unknown[]).includes(value),
  );

/** Also matches an absent member. */
export const maybe = <T>(of: Shape<T>): Shape<T | undefined> => ({
  text: `${of.text}?`,
  problem: (value, at) => (value === undefined ? undefined : of.problem(value, at)),
});

export const listOf = <T>(of: Shape<T>): Shape<readonly T[]> => ({
  text: `[${of.text}]`,
  problem: (value, at) => {
    if (!Array.isArray(value)) return `${at} is not a list`;
    for (const [index, item] of value.entries()) {
      const problem = of.problem(item, `${at}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  },
});

/** A list with one shape per position. */
export const tupleOf = <T extends readonly unknown[]>(
  ...shapes: { readonly [Key in keyof T]: Shape<T[Key]> }
): Shape<readonly unknown[]> => ({
  text: `(${shapes.map(({ text }) => text).join(', ')})`,
  problem: (value, at) => {
    if (!Array.isArray(value) || value.length !== shapes.length)
      return `${at} is not a list of ${shapes.length}`;
    for (const [index, one] of shapes.entries()) {
      const problem = one.problem(value[index], `${at}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  },
});

/** A list of two texts, such as a name and its value. */
export const aPair = (): Shape<readonly [string, string]> =>
  shape(
    'pair',
    (value) =>
      Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === 'string'),
  );

/** An object with any names, whose values have one shape. */
export const dictionaryOf = <T>(of: Shape<T>): Shape<Readonly<Record<string, T>>> => ({
  text: `{*: ${of.text}}`,
  problem: (value, at) => {
    if (!isObject(value)) return `${at} is not an object`;
    for (const [name, member] of Object.entries(value)) {
      const problem = of.problem(member, `${at}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  },
});

/** Any JSON value. */
export const anything = (): Shape<unknown> => shape('anything', () => true);

/** Shapes of the members of an object. */
export type Members<T> = { readonly [Key in keyof T]-?: Shape<T[Key]> };

/** An object with these members. Further members are ignored: a newer version may have added them. */
export const struct = <T extends object>(members: Members<T>): Shape<T> => {
  const checks = Object.entries<Shape<unknown>>(members as Record<string, Shape<unknown>>);
  return {
    text: `{${checks.map(([name, { text }]) => `${name}: ${text}`).join(', ')}}`,
    problem: (value, at) => {
      if (!isObject(value)) return `${at} is not an object`;
      for (const [name, member] of checks) {
        const problem = member.problem(value[name], `${at}.${name}`);
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
};

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
