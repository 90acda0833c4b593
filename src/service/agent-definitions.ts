/** Definitions of agents in requests of the REST API. */
import { readDefinition } from '../agent/definition.ts';
import { isDeeper } from '../base/depth.ts';
import type { EgressGuard } from '../base/egress.ts';
import type { AccountId, AppId, Random } from '../base/ids.ts';
import { err, ok, type Result } from '../base/result.ts';
import { type Environment, shownPath, type TreeFault } from '../config/checked-file.ts';
import { parseSource } from '../config/source.ts';
import { AGENT_ORIGIN } from '../edge/webhook/agent-applications.ts';

/** Name of the source in its faults. */
const YAML = 'the YAML';
const AT_LINE = /the YAML:(\d+):/;
/** Maximum length of a definition as JSON, in characters. */
const MAX_LENGTH = 64 * 1024;
/** Maximum nesting of a definition. Functions that descend into a deeper one would exhaust the stack. */
const MAX_DEPTH = 100;
/** Length of the random part of an agent's address. */
const TOKEN_BYTES = 16;

/** Agents of applications, for the REST API. */
export const agentAccess = ({
  random,
  environment,
  isAllowed,
  egress,
}: {
  readonly random: Random;
  readonly environment: Environment;
  readonly isAllowed: (accountId: AccountId) => boolean;
  readonly egress: Pick<EgressGuard, 'refuses'>;
}) => ({
  isAllowed,
  read: (definition: unknown) => readAgent(definition, environment, egress),
  urlOf: (appId: AppId) =>
    `${AGENT_ORIGIN}/${appId}-${Buffer.from(random.bytes(TOKEN_BYTES)).toString('hex')}`,
});

/** Checks an object, or YAML. Returns its JSON with references instead of secrets, or the faults by field. */
function readAgent(
  given: unknown,
  environment: Environment,
  egress: Pick<EgressGuard, 'refuses'>,
): Result<string, Readonly<Record<string, string>>> {
  let definition = given;
  if (typeof given === 'string') {
    if (given.length > MAX_LENGTH) return err({ agent: TOO_LONG });
    const source = parseSource(given, YAML);
    if (typeof source === 'string')
      return err({ agent: source.replace(AT_LINE, `${YAML}, line $1:`) });
    definition = source.tree;
  }
  if (isDeeper(definition, MAX_DEPTH)) return err({ agent: TOO_DEEP });
  const text = JSON.stringify(definition);
  if (text.length > MAX_LENGTH) return err({ agent: TOO_LONG });
  const { agent, faults } = readDefinition(definition, environment);
  if (agent === undefined) return err(byField(faults));
  const refused = [...refusals(agent, [], egress)];
  return refused.length > 0 ? err(byField(refused)) : ok(text);
}

/** URLs that the agent could not reach. Names are checked at each connection. */
function* refusals(
  node: unknown,
  path: readonly string[],
  egress: Pick<EgressGuard, 'refuses'>,
): Generator<TreeFault> {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, value] of Object.entries(node)) {
    const at = [...path, name];
    const what = name === 'url' && typeof value === 'string' ? egress.refuses(value) : undefined;
    if (what === undefined) yield* refusals(value, at, egress);
    else yield { path: at, what };
  }
}

const TOO_DEEP = `must be nested at most ${MAX_DEPTH} levels deep`;
const TOO_LONG = `must have at most ${MAX_LENGTH} characters`;

const byField = (faults: readonly TreeFault[]): Readonly<Record<string, string>> =>
  Object.fromEntries(faults.map(({ path, what }) => [shownPath(['agent', ...path]), what]));
