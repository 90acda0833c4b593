/** Tools of an agent: their descriptions for the model, and checked arguments. */
import { fetchReason, ServiceError } from '../base/errors.ts';
import type { AgentTool } from './agent-file.ts';
import { isJson, type Json } from './model/json-socket.ts';
import type { ToolDescription } from './model/model.ts';
import type { AgentNetwork } from './network.ts';
import { textWithin } from './pipeline/bounded.ts';

const MAX_RESULT_BYTES = 16 * 1024;
const MAX_ARGUMENTS = 16 * 1024;
const DIGITS = /^[0-9*#A-DwW]{1,100}$/;

const NO_PARAMETERS = { type: 'object', properties: {} };

export function described(tool: AgentTool): ToolDescription {
  const { name, description } = tool;
  return { name, description, parameters: parametersOf(tool) };
}

function parametersOf({ type, parameters, to = [] }: AgentTool): Json {
  switch (type) {
    case 'http':
      return { type: 'object', properties: {}, ...parameters };
    case 'transfer':
      return {
        type: 'object',
        properties: {
          to: { type: 'string', enum: to, description: 'destination' },
          reason: { type: 'string', description: 'one sentence for the colleague' },
        },
        required: ['to'],
      };
    case 'digits':
      return {
        type: 'object',
        properties: { digits: { type: 'string', description: 'keys to send: 0-9 * #' } },
        required: ['digits'],
      };
    case 'hangup':
    case 'play':
      return NO_PARAMETERS;
  }
}

/** Parses the arguments that the model wrote. The error is shown to the model. */
export function argumentsOf(text: string): Json | string {
  if (text.length > MAX_ARGUMENTS) return 'error: the arguments are too long';
  try {
    const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
    return isJson(value) ? value : 'error: the arguments must be a JSON object';
  } catch {
    return 'error: the arguments are not valid JSON';
  }
}

/** Returns the destination if the file allows it. */
export const destinationOf = ({ to = [] }: AgentTool, args: Json): string | undefined =>
  to.length === 1 && args['to'] === undefined ? to[0] : to.find((one) => one === args['to']);

export const digitsOf = ({ digits }: Json): string | undefined =>
  typeof digits === 'string' && DIGITS.test(digits) ? digits : undefined;

/** Calls the URL of an HTTP tool. Never throws; failures are texts for the model. */
export async function callHttp(
  { url = '', method, headers, timeoutSeconds }: AgentTool,
  args: Json,
  { network, signal }: { readonly network: AgentNetwork; readonly signal: AbortSignal },
): Promise<string> {
  try {
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const target = new URL(url);
    // Two header fields of the same name would become one field with both values.
    const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
    if (!hasBody)
      for (const [name, value] of Object.entries(args))
        target.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    const reply = await network.fetch(target, {
      method,
      headers: { ...(hasBody && !isTyped && { 'content-type': 'application/json' }), ...headers },
      ...(hasBody && { body: JSON.stringify(args) }),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
    });
    const body = await textWithin(reply, MAX_RESULT_BYTES);
    return reply.ok ? body || 'ok' : `error: status ${reply.status}: ${body.slice(0, 500)}`;
  } catch (error) {
    if (error instanceof ServiceError) return `error: the address is refused: ${error.message}`;
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return isLate
      ? `error: no response within ${timeoutSeconds} s`
      : `error: the request failed: ${fetchReason(error)}`;
  }
}
