/** Streaming chat completions: `POST <url>/chat/completions` of OpenAI and compatible servers. */
import type { ModelSettings } from '../agent-file.ts';
import { count, isJson, type Json, list, part, textOf } from '../model/json-socket.ts';
import type { ToolDescription } from '../model/model.ts';
import type { AgentNetwork } from '../network.ts';
import { chunksWithin, type Streamed, statusOf } from './bounded.ts';

export type ChatSettings = NonNullable<ModelSettings['chat']>;

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly Json[];
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export type ChatPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly kind: 'usage'; readonly input: number; readonly output: number }
  /** The server cut the response because of its content. */
  | { readonly kind: 'filtered' }
  | { readonly kind: 'malformed' };

const MAX_REPLY_BYTES = 2 * 1024 * 1024;
/** Maximum function calls in one response. */
const MAX_CALLS = 16;

interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

/**
 * Yields the response in pieces. Function calls follow the text, complete.
 *
 * @throws Error if the request fails
 */
export async function* chat(
  settings: ChatSettings,
  request: {
    readonly messages: readonly ChatMessage[];
    readonly tools: readonly ToolDescription[];
  },
  { network, signal }: { readonly network: AgentNetwork; readonly signal: AbortSignal },
): AsyncGenerator<ChatPiece> {
  const { url, apiKey, model, maxTokens } = settings;
  const tools = request.tools.map((tool) => ({ type: 'function', function: tool }));
  const reply = await network.fetch(`${url.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({
      model,
      messages: request.messages,
      ...(tools.length > 0 && { tools }),
      ...limitOf(url, maxTokens),
      stream: true,
      stream_options: { include_usage: true },
    }),
    signal,
  });
  if (!reply.ok) throw new Error(`the chat model responded with ${statusOf(reply)}`);
  const calls: PartialCall[] = [];
  for await (const event of eventsOf(reply)) {
    if (event === undefined) yield { kind: 'malformed' };
    else {
      throwError(event);
      yield* piecesOf(event, calls);
    }
  }
  for (const call of calls) {
    if (call.id !== '' && call.name !== '') yield { kind: 'tool', ...call };
    else yield { kind: 'malformed' };
  }
}

/** The vendor's later models refuse `max_tokens`; many compatible servers know only that name. */
const limitOf = (url: string, maxTokens: number): Json =>
  new URL(url).hostname === 'api.openai.com'
    ? { max_completion_tokens: maxTokens }
    : { max_tokens: maxTokens };

/** A server that fails after its status reports the error as an event. */
function throwError({ error }: Json): void {
  if (error === undefined || error === null) return;
  const why = isJson(error) ? textOf(error['message']) : textOf(error);
  throw new Error(`the chat model reported: ${why.slice(0, 200) || 'an error'}`);
}

function* piecesOf(event: Json, calls: PartialCall[]): Generator<ChatPiece> {
  const [choice] = list(event['choices']);
  const delta = part(choice, 'delta');
  // A refusal is text for the caller.
  const text = textOf(delta['content']) + textOf(delta['refusal']);
  if (text !== '') yield { kind: 'text', text };
  if (choice?.['finish_reason'] === 'content_filter') yield { kind: 'filtered' };
  for (const piece of list(delta['tool_calls'])) addCall(calls, piece);
  if (isJson(event['usage'])) {
    const { prompt_tokens: input, completion_tokens: output } = event['usage'];
    yield { kind: 'usage', input: count(input), output: count(output) };
  }
}

function addCall(calls: PartialCall[], piece: Json): void {
  const index = typeof piece['index'] === 'number' ? piece['index'] : calls.length;
  if (!Number.isInteger(index) || index < 0 || index >= MAX_CALLS) return;
  while (calls.length <= index) calls.push({ id: '', name: '', arguments: '' });
  const call = calls[index];
  if (call === undefined) return;
  const { name, arguments: more } = part(piece, 'function');
  if (typeof piece['id'] === 'string' && piece['id'] !== '') call.id = piece['id'];
  if (typeof name === 'string') call.name += name;
  if (typeof more === 'string') call.arguments += more;
}

/** Server-sent events as JSON objects; undefined for malformed ones. */
async function* eventsOf(reply: Streamed): AsyncGenerator<Json | undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunksWithin(reply, MAX_REPLY_BYTES)) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = /^data:\s?(.*)$/.exec(line)?.[1];
      if (data === undefined || data === '') continue;
      if (data === '[DONE]') return;
      yield jsonOf(data);
    }
  }
}

function jsonOf(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
