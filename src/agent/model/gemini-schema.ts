/** Function declarations of Gemini Live, which accepts a subset of JSON schema (that of OpenAPI 3.0). */
import { isJson, type Json } from './json-socket.ts';
import type { ToolDescription } from './model.ts';

const FIELDS = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'items',
  'properties',
  'required',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
  'pattern',
  'default',
  'example',
  'anyOf',
  'propertyOrdering',
]);
/** Maximum nesting of a schema; deeper parts accept everything. */
const MAX_DEPTH = 20;

/** Describes a tool. The vendor refuses objects without properties, so that tools without arguments have no schema. */
export function declaration({ name, description, parameters }: ToolDescription): Json {
  const properties = parameters['properties'];
  const isEmpty = !isJson(properties) || Object.keys(properties).length === 0;
  return { name, description, ...(!isEmpty && { parameters: schemaOf(parameters, 0) }) };
}

/** Removes the fields that the vendor does not know, and rewrites lists of types and `const`. */
function schemaOf(schema: unknown, depth: number): unknown {
  if (!isJson(schema) || depth > MAX_DEPTH) return {};
  const result: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(schema)) {
    if (field === 'type' && Array.isArray(value)) Object.assign(result, typesOf(value));
    else if (field === 'const' && typeof value === 'string') result['enum'] = [value];
    else if (FIELDS.has(field)) {
      const converted = fieldOf(field, value, depth + 1);
      if (converted !== undefined) result[field] = converted;
    }
  }
  return result;
}

function fieldOf(field: string, value: unknown, depth: number): unknown {
  switch (field) {
    case 'properties':
      return isJson(value)
        ? Object.fromEntries(
            Object.entries(value).map(([name, one]) => [name, schemaOf(one, depth)]),
          )
        : undefined;
    case 'items':
      return schemaOf(value, depth);
    case 'anyOf':
      return Array.isArray(value) ? value.map((one) => schemaOf(one, depth)) : undefined;
    case 'enum':
      // Only texts are accepted. Without them, the model sees the type and the description.
      return Array.isArray(value) && value.every((one) => typeof one === 'string')
        ? value
        : undefined;
    default:
      return value;
  }
}

function typesOf(types: readonly unknown[]): Json {
  const others = types.filter((one) => one !== 'null');
  const nullable = others.length < types.length && { nullable: true };
  const [only] = others;
  return others.length === 1
    ? { type: only, ...nullable }
    : { anyOf: others.map((type) => ({ type })), ...nullable };
}
