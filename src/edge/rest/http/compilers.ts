/**
 * What checks requests and writes replies, made of a route's schemas by the first request that needs it and kept for the
 * process: there are hundreds, and to make them all takes half a second of every start.
 */
import { AjvCompiler } from '@fastify/ajv-compiler';
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import { fieldProblems } from './field-problems.ts';

type Check = ReturnType<FastifySchemaCompiler<unknown>> & { errors?: unknown };
type Write = ReturnType<FastifySerializerCompiler<unknown>>;

const OPTIONS = {
  customOptions: {
    allErrors: true,
    keywords: ['x-hint'],
    strictTypes: false as const,
    // Text becomes a number where one is due, but never a list of one.
    coerceTypes: true as const,
  },
};
/** Knows what it has made by schema: those of routes are constants. */
const makeCheck = AjvCompiler()({}, OPTIONS) as unknown as FastifySchemaCompiler<unknown>;
const makeWriter = SerializerSelector()({}, {}) as FastifySerializerCompiler<unknown>;
const writers = new WeakMap<object, Write>();
const checks = new WeakMap<object, Check>();

/** Fastify reads the errors of the last run beside the function. */
export const checkBy: FastifySchemaCompiler<unknown> = (part) => {
  let made: Check | undefined;
  const check: Check = (data) => {
    made ??= makeCheck(part) as Check;
    const isRight = made(data);
    check.errors = made.errors ?? null;
    return isRight;
  };
  return check;
};

/**
 * Checks a value outside a request by the rules of bodies. Text in it becomes what the schema wants, in place. Undefined: it is
 * right; else what is wrong, field by field.
 */
export function problemsOf(
  schema: object,
  value: unknown,
): Readonly<Record<string, string>> | undefined {
  let check = checks.get(schema);
  if (check === undefined) {
    check = makeCheck({ schema, method: '', url: '', httpPart: 'body' }) as Check;
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
