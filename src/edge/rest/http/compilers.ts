/**
 * What checks requests and writes replies, made of a route's schemas by the first request that needs it and kept for the
 * process: there are hundreds, and to make them all takes half a second of every start.
 */
import { AjvCompiler } from '@fastify/ajv-compiler';
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';

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
