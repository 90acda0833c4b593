/** Converts the JSON Schema subset of the routes to TypeScript types. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

/** Returns the TypeScript type of a schema on one line. */
export function shapeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  if (schema.anyOf !== undefined) return union(schema.anyOf.map(shapeOf));
  if (schema.type === undefined) return schema.properties ? objectOf(schema) : 'unknown';
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
  return union(types.map((type) => typed(type, schema)));
}

function typed(type: string, schema: Schema): string {
  switch (type) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return arrayOf(schema.items ? shapeOf(schema.items) : 'unknown');
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    default:
      throw new Error(`no type of JSON Schema: ${type}`);
  }
}

function objectOf({ properties, required = [], ...rest }: Schema): string {
  if (properties === undefined) return `Readonly<Record<string, ${othersOf(rest)}>>`;
  const members = Object.entries(properties).map(
    ([name, property]) =>
      `${keyOf(name)}${required.includes(name) ? '' : '?'}: ${shapeOf(property)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

/** Type of members that the schema does not name. */
function othersOf({ additionalProperties, patternProperties = {} }: Schema): string {
  const shapes = Object.values(patternProperties).map(shapeOf);
  if (typeof additionalProperties === 'object') shapes.push(shapeOf(additionalProperties));
  return shapes.length === 0 ? 'unknown' : union(shapes);
}

const arrayOf = (shape: string): string =>
  `readonly ${shape.includes(' | ') && !shape.startsWith('{') ? `(${shape})` : shape}[]`;

export const keyOf = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

const union = (shapes: readonly string[]): string => [...new Set(shapes)].join(' | ');
