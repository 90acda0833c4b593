/** Hints of JSON schemas: the sentence about an invalid value, after the name of its field. */
const HINT = 'x-hint';

interface Hinted {
  readonly properties?: Readonly<Record<string, Hinted>>;
  readonly items?: Hinted;
  readonly [HINT]?: string;
}

/** Adds a hint. */
export const hinted = <S extends object>(schema: S, hint: string): S => ({
  ...schema,
  [HINT]: hint,
});

/** Returns the hint of the field at `path`; undefined without one. */
export function hintOf(schema: unknown, path: readonly string[]): string | undefined {
  let at = schema as Hinted | undefined;
  for (const step of path)
    at = at?.properties?.[step] ?? (/^\d+$/.test(step) ? at?.items : undefined);
  return at?.[HINT];
}
