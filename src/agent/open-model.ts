/** Opens the model of an agent file. */
import type { Clock } from '../base/clock.ts';
import type { AgentFile } from './agent-file.ts';
import { GeminiLive } from './model/gemini-live.ts';
import type { Model, ModelEvents, ModelOptions } from './model/model.ts';
import { OpenAiRealtime } from './model/openai-realtime.ts';
import type { AgentNetwork } from './network.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { described } from './tools.ts';

/** `contentType` of the stream for the model. */
export const inputOf = ({ model }: AgentFile): Model['input'] =>
  model.type === 'openai-realtime' ? 'audio/x-mulaw;rate=8000' : 'audio/x-l16;rate=16000';

export function openModel(
  agent: AgentFile,
  { clock, network }: { readonly clock: Clock; readonly network: AgentNetwork },
  events: ModelEvents,
): Model {
  const { model, limits, instructions, tools, interruption } = agent;
  const options: ModelOptions = {
    instructions,
    tools: tools.map(described),
    connectMs: limits.connectSeconds * 1000,
    clock,
    network,
    interruptible: interruption !== 'none',
  };
  switch (model.type) {
    case 'openai-realtime':
      return new OpenAiRealtime(model, options, events);
    case 'gemini-live':
      return new GeminiLive(model, options, events);
    case 'pipeline':
      return new Pipeline(model, options, events);
  }
}
