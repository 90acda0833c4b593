/** Converts the JSON Schema subset of the routes to Python types: `TypedDict` for objects with named members. */
import type { Schema } from './shape.ts';

/** Reserved words of Python: a member with such a name needs the functional syntax. */
const KEYWORDS =
  /^(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

export interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: string;
}

/** Definitions of a Python module, in the order of their use. Equal objects share a definition. */
export class PythonTypes {
  readonly definitions: string[] = [];
  readonly #nameOf = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** Returns the type of a schema. Objects in it get names that begin with `name`. */
  of(schema: Schema, name: string): string {
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined) return literal(schema.enum);
    if (schema.anyOf !== undefined) {
      return union(schema.anyOf.map((part, i) => this.of(part, `${name}${i === 0 ? '' : i + 1}`)));
    }
    if (schema.type === undefined) return schema.properties ? this.#object(schema, name) : 'Any';
    const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
    return union(types.map((type) => this.#typed(type, schema, name)));
  }

  /** Defines a `TypedDict` with these members, or reuses one, and returns its name. */
  dictionary(members: readonly Member[], name: string): string {
    const key = JSON.stringify(members);
    const known = this.#nameOf.get(key);
    if (known !== undefined) return known;
    const free = this.#free(name);
    this.#nameOf.set(key, free);
    const required = members.filter(({ isRequired }) => isRequired);
    const optional = members.filter(({ isRequired }) => !isRequired);
    if (required.length === 0) this.definitions.push(define(free, optional, false));
    else if (optional.length === 0) this.definitions.push(define(free, required, true));
    else {
      this.definitions.push(
        define(`_${free}Required`, required, true),
        define(`_${free}Optional`, optional, false),
        `class ${free}(_${free}Required, _${free}Optional):\n    pass\n`,
      );
    }
    return free;
  }

  #free(name: string): string {
    for (let n = 1; ; n += 1) {
      const free = n === 1 ? name : `${name}${n}`;
      if (this.#taken.has(free)) continue;
      this.#taken.add(free);
      return free;
    }
  }

  #typed(type: string, schema: Schema, name: string): string {
    switch (type) {
      case 'object':
        return this.#object(schema, name);
      case 'array':
        return `List[${schema.items ? this.of(schema.items, `${name}Item`) : 'Any'}]`;
      case 'string':
        return 'str';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'boolean':
        return 'bool';
      case 'null':
        return 'None';
      default:
        throw new Error(`no type of JSON Schema: ${type}`);
    }
  }

  #object({ properties, required = [], ...rest }: Schema, name: string): string {
    const named = Object.entries(properties ?? {});
    if (named.length === 0) return `Dict[str, ${this.#others(rest, name)}]`;
    const members = named.map(([member, schema]) => ({
      name: member,
      isRequired: required.includes(member),
      type: this.of(schema, `${name}${camel(member)}`),
    }));
    return this.dictionary(members, name);
  }

  /** Type of members that the schema does not name. */
  #others({ additionalProperties, patternProperties = {} }: Schema, name: string): string {
    const types = Object.values(patternProperties).map((schema) => this.of(schema, `${name}Value`));
    if (typeof additionalProperties === 'object') {
      types.push(this.of(additionalProperties, `${name}Value`));
    }
    return types.length === 0 ? 'Any' : union(types);
  }
}

function define(name: string, members: readonly Member[], isTotal: boolean): string {
  const total = isTotal ? '' : ', total=False';
  const isPlain = members.every(
    (member) => /^[A-Za-z_]\w*$/.test(member.name) && !KEYWORDS.test(member.name),
  );
  if (!isPlain) {
    const lines = members.map(
      (member) => `        ${JSON.stringify(member.name)}: ${member.type},`,
    );
    return `${name} = TypedDict(\n    "${name}",\n    {\n${lines.join('\n')}\n    }${total},\n)\n`;
  }
  const lines = members.map((member) => `    ${member.name}: ${member.type}`);
  return `class ${name}(TypedDict${total}):\n${lines.join('\n')}\n`;
}

/** Converts `app_id` and `do-not-call` to `AppId` and `DoNotCall`. */
export const camel = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

function literal(values: readonly unknown[]): string {
  const texts = values.map((value) =>
    typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value),
  );
  return `Literal[${texts.join(', ').replaceAll('null', 'None')}]`;
}

export function union(types: readonly string[]): string {
  const different = [...new Set(types)];
  const others = different.filter((type) => type !== 'None');
  const one = others.length === 1 ? (others[0] ?? '') : `Union[${others.join(', ')}]`;
  if (others.length === 0) return 'None';
  if (others.includes('Any')) return 'Any';
  return others.length === different.length ? one : `Optional[${one}]`;
}
