/**
 * Compiles the validators and serializers of a route's schemas when a request first needs them, and caches them. There are
 * hundreds; compiling all of them would take half a second of every start.
 */
import { AjvCompiler } from '@fastify/ajv-compiler';
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { fieldProblems } from './field-problems.ts';
import { lossyValues } from './lossy-values.ts';

type Check = ReturnType<FastifySchemaCompiler<unknown>> & { errors?: unknown };
type Write = ReturnType<FastifySerializerCompiler<unknown>>;

const OPTIONS = {
  customOptions: {
    allErrors: true,
    keywords: ['x-hint'],
    strictTypes: false as const,
    // Text becomes a number where the schema expects one, but never a list.
    coerceTypes: true as const,
  },
};
/** Caches compiled validators by schema object; the schemas of routes are constants. */
const makeCheck = AjvCompiler()({}, OPTIONS) as unknown as FastifySchemaCompiler<unknown>;
const makeWriter = SerializerSelector()({}, {}) as FastifySerializerCompiler<unknown>;
const writers = new WeakMap<object, Write>();
const checks = new WeakMap<object, Check>();

/** Fastify reads the errors of the last run from a property of the function. */
export const checkBy: FastifySchemaCompiler<unknown> = (part) => {
  let made: Check | undefined;
  const check: Check = (data) => {
    made ??= makeCheck(part) as Check;
    return checked(made, part.schema, check, data);
  };
  return check;
};

/** Validates the value, and leaves the errors at `check`, where Fastify reads them. */
function checked(made: Check, schema: unknown, check: Check, data: unknown): boolean {
  // Found before the validator converts null to 0 or false.
  const wrong = lossyValues(schema, data);
  const isRight = made(data) === true;
  const errors = [...wrong, ...((made.errors ?? []) as FastifySchemaValidationError[])];
  check.errors = errors.length === 0 ? null : errors;
  return isRight && wrong.length === 0;
}

/**
 * Validates a value outside a request by the rules for bodies. Converts text in place to the types of the schema. Returns
 * undefined if the value is valid, otherwise the problems by field.
 */
export function problemsOf(
  schema: object,
  value: unknown,
): Readonly<Record<string, string>> | undefined {
  let check = checks.get(schema);
  if (check === undefined) {
    check = checkBy({ schema, method: '', url: '', httpPart: 'body' }) as Check;
    checks.set(schema, check);
  }
  if (check(value) === true) return undefined;
  const errors = (check.errors ?? []) as Parameters<typeof fieldProblems>[0];
  return fieldProblems(errors, schema, 'the row');
}

export const writeBy: FastifySerializerCompiler<object> =
  ({ schema }) =>
  (value) =>
    writer(schema)(value);

export function writer(schema: object): Write {
  let write = writers.get(schema);
  if (write === undefined) {
    write = makeWriter({ schema, method: '', url: '' });
    writers.set(schema, write);
  }
  return write;
}
