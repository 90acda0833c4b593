/** Agent files: schema, defaults and checks of `carillon agent`. */
import { type Static, type TProperties, Type } from 'typebox';
import { Value } from 'typebox/value';
import {
  type Environment,
  FileFaults,
  formatted,
  readCheckedFile,
  urlText,
} from '../config/checked-file.ts';

const strict = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const text = (maxLength = 4096) => Type.String({ minLength: 1, maxLength });
const seconds = (value: number, maximum: number) =>
  Type.Number({ default: value, minimum: 0.1, maximum });
const price = Type.Optional(Type.Number({ minimum: 0, maximum: 100_000 }));
const HTTP = ['http', 'https'] as const;
const SOCKET = ['ws', 'wss'] as const;

const Recognizer = strict({
  type: Type.Enum(['deepgram', 'websocket', 'http']),
  url: Type.Optional(urlText(...SOCKET, ...HTTP)),
  apiKey: Type.Optional(text()),
  model: Type.Optional(text(200)),
  language: Type.String({ default: 'en', maxLength: 20 }),
});

const Chat = strict({
  url: urlText(...HTTP),
  apiKey: Type.Optional(text()),
  model: text(200),
  maxTokens: Type.Integer({ default: 400, minimum: 1, maximum: 100_000 }),
});

const Speech = strict({
  url: urlText(...HTTP),
  apiKey: Type.Optional(text()),
  model: text(200),
  voice: text(200),
  format: Type.Enum(['pcm', 'wav'], { default: 'pcm' }),
});

const Model = strict({
  type: Type.Enum(['openai-realtime', 'gemini-live', 'pipeline']),
  url: Type.Optional(urlText(...SOCKET)),
  apiKey: Type.Optional(text()),
  model: Type.Optional(text(200)),
  voice: Type.Optional(text(200)),
  dialect: Type.Enum(['current', 'beta'], { default: 'current' }),
  recognizer: Type.Optional(Recognizer),
  chat: Type.Optional(Chat),
  speech: Type.Optional(Speech),
});

const Tool = strict({
  name: formatted(
    '^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$',
    'must have 1 to 64 of the characters a-z A-Z 0-9 _ - and begin with a letter or _',
  ),
  type: Type.Enum(['http', 'transfer', 'hangup', 'digits', 'play']),
  description: text(),
  parameters: Type.Optional(Type.Object({}, { additionalProperties: true })),
  url: Type.Optional(urlText(...HTTP)),
  method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { default: 'POST' }),
  headers: Type.Record(Type.String({ maxLength: 100 }), text(), { default: {}, maxProperties: 20 }),
  timeoutSeconds: seconds(8, 60),
  to: Type.Optional(Type.Array(text(200), { minItems: 1, maxItems: 50 })),
  mode: Type.Enum(['blind', 'attended', 'warm'], { default: 'blind' }),
  callerId: Type.Optional(text(32)),
  music: Type.Optional(urlText(...HTTP)),
  file: Type.Optional(text()),
});

const Limits = strict({
  minutes: Type.Number({ default: 30, minimum: 0.1, maximum: 720 }),
  silenceSeconds: seconds(60, 3600),
  connectSeconds: seconds(5, 60),
  answerSeconds: seconds(10, 120),
  calls: Type.Integer({ default: 100, minimum: 1, maximum: 1000 }),
  toolCalls: Type.Integer({ default: 50, minimum: 0, maximum: 1000 }),
  cost: Type.Optional(Type.Number({ minimum: 0.0001, maximum: 10_000 })),
  say: Type.String({ default: 'This call has reached its limit. Goodbye.', maxLength: 1000 }),
});

const Prices = strict({
  audioInput: price,
  audioOutput: price,
  textInput: price,
  textOutput: price,
  minute: price,
});

export const AgentSchema = strict({
  name: formatted(
    '^[a-zA-Z0-9][a-zA-Z0-9_-]{0,49}$',
    'must have 1 to 50 of the characters a-z A-Z 0-9 _ - and begin with a letter or digit',
  ),
  instructions: text(100_000),
  greeting: Type.Optional(text(1000)),
  disclosure: Type.Optional(text(1000)),
  model: Model,
  tools: Type.Array(Tool, { default: [], maxItems: 64 }),
  limits: Type.Object(Limits.properties, { default: {}, additionalProperties: false }),
  prices: Type.Object(Prices.properties, { default: {}, additionalProperties: false }),
  fallback: Type.Object(
    {
      say: Type.String({
        default: 'I am sorry, I cannot help at the moment. Please call again later.',
        maxLength: 1000,
      }),
      transferTo: Type.Optional(text(200)),
    },
    { default: {}, additionalProperties: false },
  ),
  interruption: Type.Enum(['clear', 'duck', 'none'], { default: 'clear' }),
  numbers: Type.Array(text(32), { default: [], maxItems: 100 }),
  listen: Type.Object(
    {
      host: Type.String({ default: '127.0.0.1' }),
      port: Type.Integer({ default: 8090, minimum: 0, maximum: 65_535 }),
      publicUrl: Type.Optional(urlText(...HTTP)),
      password: Type.Optional(Type.String({ minLength: 12, maxLength: 200 })),
    },
    { default: {}, additionalProperties: false },
  ),
});

export type AgentFile = Static<typeof AgentSchema>;
export type AgentTool = AgentFile['tools'][number];
export type ModelSettings = AgentFile['model'];
export type RecognizerSettings = NonNullable<ModelSettings['recognizer']>;

/** Reports a fault of the file at this path. */
export type Report = (path: readonly string[], what: string) => void;

/** Environment variables for models without `apiKey`. */
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  'openai-realtime': 'OPENAI_API_KEY',
  'gemini-live': 'GEMINI_API_KEY',
};
const PIPELINE_PARTS = ['recognizer', 'chat', 'speech'] as const;
const OWN_FIELDS: Readonly<Record<AgentTool['type'], readonly string[]>> = {
  http: ['url'],
  transfer: ['to'],
  play: ['file'],
  hangup: [],
  digits: [],
};

/** Agent for a start without a file: the vendor whose key is in the environment. */
const FIRST_AGENT = {
  name: 'assistant',
  instructions:
    'You are a friendly assistant on a telephone call. Answer briefly, in one or two sentences, and without lists.',
  greeting: 'Hello, how can I help you?',
};

/**
 * Returns the agent for a start without a file.
 *
 * @throws FileFaults if the environment has no key of a vendor
 */
export function firstAgent(environment: Environment, instructions?: string): AgentFile {
  const type = Object.keys(KEY_VARIABLES).find((name) => environment[KEY_VARIABLES[name] ?? '']);
  if (type === undefined) {
    const names = Object.values(KEY_VARIABLES).join(' or ');
    throw new FileFaults([`set the environment variable ${names}, or name a file with --config`]);
  }
  const faults: string[] = [];
  const tree = { ...FIRST_AGENT, ...(instructions && { instructions }), model: { type } };
  const agent = checkAgent(Value.Default(AgentSchema, tree) as AgentFile, environment, (_, what) =>
    faults.push(what),
  );
  if (faults.length > 0) throw new FileFaults(faults);
  return agent;
}

/**
 * Reads an agent file, checks it and replaces `${NAME}` by environment variables.
 *
 * @throws FileFaults with file, line and field of every fault
 */
export function readAgentFile(file: string, environment: Environment): AgentFile {
  const checked = readCheckedFile(file, AgentSchema, environment);
  const faults: string[] = [];
  const report: Report = (path, what) => faults.push(checked.fault(path, what));
  const agent = checkAgent(checked.value, environment, report);
  if (faults.length > 0) throw new FileFaults(faults);
  return agent;
}

/** Checks the rules that the schema does not contain, and adds the keys of the environment. */
export function checkAgent(value: AgentFile, environment: Environment, report: Report): AgentFile {
  const agent = withKeys(withBaseUrl(value, environment, report), environment, report);
  checkModel(agent.model, report);
  checkTools(agent.tools, report);
  checkUrls(agent, [], report);
  checkListener(agent.listen, report);
  if (agent.limits.cost !== undefined && Object.keys(agent.prices).length === 0)
    report(['limits', 'cost'], 'needs `prices`, in the same currency');
  return agent;
}

/** `OPENAI_BASE_URL`, as the libraries of the vendor read it, is the base of the HTTP and WebSocket API. */
function withBaseUrl(agent: AgentFile, environment: Environment, report: Report): AgentFile {
  const { model } = agent;
  const base = environment['OPENAI_BASE_URL'];
  if (model.type !== 'openai-realtime' || model.url !== undefined || !base) return agent;
  if (!/^(https?|wss?):\/\//.test(base) || !URL.canParse(base)) {
    report(['model', 'url'], 'the environment variable OPENAI_BASE_URL is not a valid URL');
    return agent;
  }
  const address = base.replace(/^http/, 'ws').replace(/\/+$/, '');
  return { ...agent, model: { ...model, url: `${address}/realtime` } };
}

function withKeys(agent: AgentFile, environment: Environment, report: Report): AgentFile {
  const { model } = agent;
  const variable = KEY_VARIABLES[model.type];
  if (variable === undefined || model.apiKey !== undefined) return agent;
  const apiKey = environment[variable];
  if (apiKey) return { ...agent, model: { ...model, apiKey } };
  // A compatible local server may need no key.
  if (model.url === undefined)
    report(['model', 'apiKey'], `is missing: set it, or the environment variable ${variable}`);
  return agent;
}

function checkModel(model: ModelSettings, report: Report): void {
  for (const part of PIPELINE_PARTS) {
    if (model.type === 'pipeline' && model[part] === undefined)
      report(['model', part], 'is missing; the type pipeline needs it');
    if (model.type !== 'pipeline' && model[part] !== undefined)
      report(['model', part], 'is valid only with the type pipeline');
  }
  if (model.type === 'pipeline') {
    for (const field of ['url', 'apiKey', 'model', 'voice'] as const)
      if (model[field] !== undefined)
        report(['model', field], 'belongs to recognizer, chat or speech in a pipeline');
  }
  const { recognizer } = model;
  if (recognizer === undefined) return;
  if (recognizer.type !== 'deepgram' && recognizer.url === undefined)
    report(['model', 'recognizer', 'url'], `is missing; the type ${recognizer.type} needs it`);
  if (recognizer.type === 'deepgram' && recognizer.url === undefined && !recognizer.apiKey)
    report(['model', 'recognizer', 'apiKey'], 'is missing');
  const isHttp = recognizer.url?.startsWith('http') ?? false;
  if (recognizer.url !== undefined && isHttp !== (recognizer.type === 'http'))
    report(
      ['model', 'recognizer', 'url'],
      `must begin with ${recognizer.type === 'http' ? 'http:// or https://' : 'ws:// or wss://'}`,
    );
}

function checkTools(tools: readonly AgentTool[], report: Report): void {
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const at = ['tools', String(index)];
    if (names.has(tool.name)) report([...at, 'name'], `"${tool.name}" is used twice`);
    names.add(tool.name);
    for (const [type, fields] of Object.entries(OWN_FIELDS)) {
      for (const field of fields) {
        const isGiven = tool[field as 'url' | 'to' | 'file'] !== undefined;
        if (type === tool.type && !isGiven)
          report([...at, field], `is missing; tools of type ${type} need it`);
        if (type !== tool.type && isGiven)
          report([...at, field], `is valid only for tools of type ${type}`);
      }
    }
  }
}

/** Every client that reaches the agent can talk to the model, at the expense of the operator. */
function checkListener({ host, publicUrl, password }: AgentFile['listen'], report: Report): void {
  const isLocal = /^(127(\.\d+){3}|::1|localhost)$/.test(host) && publicUrl === undefined;
  if (!isLocal && password === undefined)
    report(['listen', 'password'], 'is missing; addresses other than loopback need it');
}

/** The pattern of the schema accepts texts that are not URLs. */
function checkUrls(node: unknown, path: readonly string[], report: Report): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, value] of Object.entries(node)) {
    const isUrl = /^(url|publicUrl|music)$/.test(name) && typeof value === 'string';
    if (isUrl && !URL.canParse(value)) report([...path, name], 'is not a valid URL');
    checkUrls(value, [...path, name], report);
  }
}
