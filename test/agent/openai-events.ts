/** Server events of OpenAI Realtime with all published fields: one of each type. */
import { audio24k, type Event } from './vendor.ts';

const at = { response_id: 'resp_1', item_id: 'item_2', output_index: 0, content_index: 0 };
const item = { item_id: 'item_1', content_index: 0 };
const call = { id: 'item_3', object: 'realtime.item', type: 'function_call', call_id: 'call_1' };
const message = (status: string, content: readonly Event[]): Event => ({
  id: 'item_2',
  object: 'realtime.item',
  type: 'message',
  status,
  role: 'assistant',
  content,
});
const usage = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: { text_tokens: 119, audio_tokens: 13, image_tokens: 0, cached_tokens: 64 },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
};
const limits = [{ name: 'requests', limit: 1000, remaining: 999, reset_seconds: 60 }];

function numbered(events: readonly Event[]): readonly Event[] {
  return events.map((event, i) => ({ event_id: `event_${i + 1}`, ...event }));
}

export const SESSION_EVENTS = numbered([
  { type: 'session.created', session: { type: 'realtime', id: 'sess_1', model: 'gpt-realtime' } },
  { type: 'conversation.created', conversation: { id: 'conv_1', object: 'realtime.conversation' } },
  { type: 'session.updated', session: { type: 'realtime', id: 'sess_1' } },
]);

/** One turn of the caller and one response. `beta` are the names of the earlier API. */
const turn = (isBeta: boolean): readonly Event[] => {
  const audio = isBeta ? 'response.audio' : 'response.output_audio';
  const text = isBeta ? 'response.text' : 'response.output_text';
  const kind = isBeta ? 'audio' : 'output_audio';
  const added = isBeta ? 'conversation.item.created' : 'conversation.item.added';
  return [
    { type: 'input_audio_buffer.speech_started', audio_start_ms: 1000, item_id: 'item_1' },
    { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 2000, item_id: 'item_1' },
    { type: 'input_audio_buffer.committed', previous_item_id: null, item_id: 'item_1' },
    { type: added, previous_item_id: null, item: { id: 'item_1', type: 'message', role: 'user' } },
    { type: 'conversation.item.input_audio_transcription.delta', ...item, delta: 'Hi' },
    { type: 'conversation.item.input_audio_transcription.segment', ...item, text: 'Hi.', id: 's' },
    { type: 'conversation.item.input_audio_transcription.completed', ...item, transcript: 'Hi.' },
    {
      type: 'response.created',
      response: { object: 'realtime.response', id: 'resp_1', status: 'in_progress', output: [] },
    },
    { type: 'rate_limits.updated', rate_limits: limits },
    { type: 'response.output_item.added', ...at, item: message('in_progress', []) },
    { type: 'response.content_part.added', ...at, part: { type: kind, transcript: '' } },
    { type: `${audio}_transcript.delta`, ...at, delta: 'Hel' },
    { type: `${audio}.delta`, ...at, delta: audio24k(40) },
    { type: `${text}.delta`, ...at, delta: 'Hel' },
    { type: `${text}.done`, ...at, text: 'Hello.' },
    { type: `${audio}.done`, ...at },
    { type: `${audio}_transcript.done`, ...at, transcript: 'Hello.' },
    { type: 'response.content_part.done', ...at, part: { type: kind, transcript: 'Hello.' } },
    {
      type: 'response.output_item.done',
      ...at,
      item: message('completed', [{ type: kind, transcript: 'Hello.' }]),
    },
    { type: 'response.function_call_arguments.delta', ...at, call_id: 'call_1', delta: '{' },
    {
      type: 'response.done',
      response: {
        object: 'realtime.response',
        id: 'resp_1',
        status: 'completed',
        status_details: null,
        output: [message('completed', [{ type: kind, transcript: 'Hello.' }])],
        usage,
      },
    },
    { type: 'conversation.item.truncated', ...item, audio_end_ms: 20 },
    { type: 'conversation.item.deleted', item_id: 'item_1' },
    { type: 'conversation.item.retrieved', item: message('completed', []) },
    { type: 'input_audio_buffer.cleared' },
  ];
};

export const BETA_EVENTS = numbered(turn(true));

export const CURRENT_EVENTS = numbered([
  ...turn(false),
  { type: 'conversation.item.done', previous_item_id: null, item: message('completed', []) },
  { type: 'input_audio_buffer.timeout_triggered', audio_start_ms: 1, audio_end_ms: 2, ...item },
  { type: 'input_audio_buffer.dtmf_event_received', event: '9', received_at: 1_763_605_109 },
  { type: 'output_audio_buffer.started', response_id: 'resp_1' },
  { type: 'output_audio_buffer.stopped', response_id: 'resp_1' },
  { type: 'output_audio_buffer.cleared', response_id: 'resp_1' },
  { type: 'mcp_list_tools.in_progress', item_id: 'mcp_1' },
  { type: 'mcp_list_tools.completed', item_id: 'mcp_1' },
  { type: 'mcp_list_tools.failed', item_id: 'mcp_1' },
  { type: 'response.mcp_call_arguments.delta', ...at, delta: '{' },
  { type: 'response.mcp_call_arguments.done', ...at, arguments: '{}' },
  { type: 'response.mcp_call.in_progress', output_index: 0, item_id: 'mcp_2' },
  { type: 'response.mcp_call.completed', output_index: 0, item_id: 'mcp_2' },
  { type: 'response.mcp_call.failed', output_index: 0, item_id: 'mcp_2' },
  { type: 'response.output_item.added', ...at, item: { ...call, name: 'none', arguments: '' } },
]);
