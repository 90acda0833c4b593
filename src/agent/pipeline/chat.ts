/** Streaming chat completions: `POST <url>/chat/completions` of OpenAI and compatible servers. */
import type { ModelSettings } from '../agent-file.ts';
import { count, isJson, type Json, list, part } from '../model/json-socket.ts';
import type { ToolDescription } from '../model/model.ts';
import { chunksWithin } from './bounded.ts';

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
  signal: AbortSignal,
): AsyncGenerator<ChatPiece> {
  const { url, apiKey, model, maxTokens } = settings;
  const tools = request.tools.map((tool) => ({ type: 'function', function: tool }));
  const reply = await fetch(`${url.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({
      model,
      messages: request.messages,
      ...(tools.length > 0 && { tools }),
      max_tokens: maxTokens,
      stream: true,
      stream_options: { include_usage: true },
    }),
    signal,
  });
  if (!reply.ok) throw new Error(`the chat model responded with status ${reply.status}`);
  const calls: PartialCall[] = [];
  for await (const event of eventsOf(reply)) {
    if (event === undefined) yield { kind: 'malformed' };
    else yield* piecesOf(event, calls);
  }
  for (const call of calls) {
    if (call.id !== '' && call.name !== '') yield { kind: 'tool', ...call };
    else yield { kind: 'malformed' };
  }
}

function* piecesOf(event: Json, calls: PartialCall[]): Generator<ChatPiece> {
  const [choice] = list(event['choices']);
  const delta = part(choice, 'delta');
  const { content } = delta;
  if (typeof content === 'string' && content !== '') yield { kind: 'text', text: content };
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
async function* eventsOf(reply: Response): AsyncGenerator<Json | undefined> {
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
