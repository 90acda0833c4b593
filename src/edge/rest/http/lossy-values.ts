/** Finds values whose conversion would change a meaning. The validator converts text, but also null to 0 and false, and true to 1. */
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';

interface Shape {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
}

/** Returns a problem per number field whose value is null or Boolean, and per Boolean field whose value is null. */
export function lossyValues(
  schema: unknown,
  value: unknown,
  path = '',
): readonly FastifySchemaValidationError[] {
  const { type, properties, items } = (schema ?? {}) as Shape;
  if (type === 'number' || type === 'integer') {
    const isWrong = value === null || typeof value === 'boolean';
    return isWrong ? [problem(type, path)] : [];
  }
  if (type === 'boolean') return value === null ? [problem(type, path)] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return items === undefined
      ? []
      : value.flatMap((one, index) => lossyValues(items, one, `${path}/${index}`));
  return Object.entries(properties ?? {}).flatMap(([name, part]) =>
    Object.hasOwn(value, name)
      ? lossyValues(part, (value as Record<string, unknown>)[name], `${path}/${name}`)
      : [],
  );
}

const problem = (
  type: 'number' | 'integer' | 'boolean',
  instancePath: string,
): FastifySchemaValidationError => ({
  keyword: 'type',
  instancePath,
  schemaPath: '#/type',
  params: { type },
  message: `must be ${type}`,
});
