/** Describes the problems of a value, field by field, in plain sentences. */
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { hintOf } from '../../../base/schema-hint.ts';

/** Returns one sentence per field, using the schema's hint if it has one. `whole`: name of the value itself. */
export function fieldProblems(
  problems: readonly FastifySchemaValidationError[],
  schema: unknown,
  whole: string,
): Readonly<Record<string, string>> {
  const details: Record<string, string> = {};
  for (const { keyword, params, instancePath, message } of problems) {
    const missing = keyword === 'required' ? String(params['missingProperty']) : undefined;
    const steps = instancePath.split('/').filter((step) => step !== '');
    const path = missing === undefined ? steps : [...steps, missing];
    const field = path.join('.') || whole;
    const said =
      missing === undefined
        ? (exactly(keyword, params) ?? hintOf(schema, path) ?? withArticle(message))
        : 'is required';
    details[field] ??= said ?? 'is invalid';
  }
  return details;
}

/** Completes the message of a wrong type: `must be number`. */
const withArticle = (message: string | undefined): string | undefined =>
  message
    ?.replace(/^must be (?=number$|string$|boolean$)/, 'must be a ')
    .replace(/^must be (?=integer$|object$|array$)/, 'must be an ');

/** Returns a sentence for rules that are more precise than the field's hint. */
function exactly(keyword: string, params: Readonly<Record<string, unknown>>): string | undefined {
  switch (keyword) {
    case 'enum':
      return `must be one of ${(params['allowedValues'] as readonly unknown[]).join(', ')}`;
    case 'maxLength':
      return `must have at most ${String(params['limit'])} characters`;
    case 'maxItems':
      return `must have at most ${String(params['limit'])} entries`;
    default:
      return undefined;
  }
}
