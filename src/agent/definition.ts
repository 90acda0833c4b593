/** Definitions of agents in applications: as agent files, but without secrets, files and a web server. */
import { checkTree, type Environment, type TreeFault } from '../config/checked-file.ts';
import { type AgentFile, AgentSchema, checkAgent } from './agent-file.ts';

/** Environment variables that a definition may use. */
const VARIABLE = /^(AGENT_[A-Z0-9_]+|OPENAI_API_KEY|GEMINI_API_KEY|DEEPGRAM_API_KEY)$/;
const REFERENCE = /\$\{([A-Z][A-Z0-9_]*)\}/g;
const ONE_REFERENCE = /^\$\{[A-Z][A-Z0-9_]*\}$/;
const SECRET_HEADER = /authorization|cookie|key|token|secret|password/i;
const DEFAULT_NAME = 'agent';
const MAX_FAULTS = 20;
const KEY_REFERENCE = 'must be a reference to an environment variable, such as ${OPENAI_API_KEY}';

export type CheckedDefinition =
  | { readonly agent: AgentFile; readonly faults: readonly [] }
  | { readonly agent: undefined; readonly faults: readonly TreeFault[] };

/** Checks a definition and replaces its references. Faults have the path of the field. */
export function readDefinition(definition: unknown, environment: Environment): CheckedDefinition {
  const faults: TreeFault[] = [];
  const report = (path: readonly string[], what: string): void => {
    faults.push({ path, what });
  };
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
    report([], 'must be an object');
    return { agent: undefined, faults };
  }
  checkSecrets(definition, [], report);
  for (const name of ['listen', 'numbers'])
    if (Object.hasOwn(definition, name)) report([name], 'is valid only in an agent file');
  if (faults.length > 0) return { agent: undefined, faults: faults.slice(0, MAX_FAULTS) };
  const named = { name: DEFAULT_NAME, ...definition };
  const checked = checkTree(named, AgentSchema, environment);
  if (checked.faults.length > 0)
    return { agent: undefined, faults: checked.faults.slice(0, MAX_FAULTS) };
  const agent = checkAgent(checked.value as AgentFile, environment, report);
  for (const [index, { type }] of agent.tools.entries())
    if (type === 'play')
      report(['tools', String(index), 'type'], 'play is valid only in an agent file');
  return faults.length > 0
    ? { agent: undefined, faults: faults.slice(0, MAX_FAULTS) }
    : { agent, faults: [] };
}

type Report = (path: readonly string[], what: string) => void;

/** The definition is stored and returned to its owner, so that it must not contain secrets. */
function checkSecrets(node: unknown, path: readonly string[], report: Report): void {
  if (typeof node === 'string') {
    for (const [, name = ''] of node.matchAll(REFERENCE))
      if (!VARIABLE.test(name)) report(path, `may not use the environment variable ${name}`);
    const field = path.at(-1) ?? '';
    if (field === 'apiKey' && !ONE_REFERENCE.test(node)) report(path, KEY_REFERENCE);
    const isHeader = path.at(-2) === 'headers' && SECRET_HEADER.test(field);
    if (isHeader && !/\$\{[A-Z]/.test(node)) report(path, KEY_REFERENCE);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  for (const [name, value] of Object.entries(node)) checkSecrets(value, [...path, name], report);
}
