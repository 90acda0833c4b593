/** Checks in every REST test that replies match their schemas: a missing, extra or wrongly typed member fails the request. */
import { Check, Errors } from 'typebox/schema';
import { ROUTES } from '../../src/edge/rest/routes.ts';

type Schema = Record<string, unknown>;

/** Returns the schema with additional properties forbidden in every object. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema as Schema).map(([key, value]) => [key, closed(value)]);
  const copy = Object.fromEntries(entries) as Schema;
  const isOpen = copy['additionalProperties'] === undefined;
  return copy['properties'] !== undefined && isOpen && typeof copy['type'] !== 'object'
    ? { ...copy, additionalProperties: false }
    : copy;
}

/** Routes that returned success in this process. */
const answeredRoutes = new Set<string>();

let watching = false;

export function watchReplies(): void {
  if (watching) return;
  watching = true;
  for (const route of ROUTES) {
    const { reply, run } = route;
    const schema = reply === undefined ? undefined : (closed(reply) as Schema);
    const watched = async (...given: Parameters<typeof run>) => {
      const result = await run.apply(route, given);
      if (!result.ok) return result;
      answeredRoutes.add(`${route.method} ${route.path}`);
      if (schema !== undefined && !Check(schema, result.value)) {
        const [, errors] = Errors(schema, result.value);
        throw new Error(`${route.path} violates its reply schema: ${JSON.stringify(errors)}`);
      }
      return result;
    };
    Object.assign(route, { run: watched });
  }
}
