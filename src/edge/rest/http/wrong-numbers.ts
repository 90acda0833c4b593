/** Finds null and Boolean values of number fields. The validator converts text to numbers, but also null to 0 and true to 1. */
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';

interface Shape {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
}

/** Returns a problem per number field of the schema whose value is null or Boolean. */
export function wrongNumbers(
  schema: unknown,
  value: unknown,
  path = '',
): readonly FastifySchemaValidationError[] {
  const { type, properties, items } = (schema ?? {}) as Shape;
  if (type === 'number' || type === 'integer') {
    const isWrong = value === null || typeof value === 'boolean';
    return isWrong ? [problem(type, path)] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return items === undefined
      ? []
      : value.flatMap((one, index) => wrongNumbers(items, one, `${path}/${index}`));
  return Object.entries(properties ?? {}).flatMap(([name, part]) =>
    Object.hasOwn(value, name)
      ? wrongNumbers(part, (value as Record<string, unknown>)[name], `${path}/${name}`)
      : [],
  );
}

const problem = (
  type: 'number' | 'integer',
  instancePath: string,
): FastifySchemaValidationError => ({
  keyword: 'type',
  instancePath,
  schemaPath: '#/type',
  params: { type },
  message: `must be ${type}`,
});
