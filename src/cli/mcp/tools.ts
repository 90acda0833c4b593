/** Tools of `carillon mcp`: requests to the REST API, document validation and stream tests. */
import type { Client } from '../../../packages/client/src/client.ts';
import { CAMPAIGN, CAMPAIGNS } from '../commands/campaign-parts.ts';
import { streamReport, validateDocument } from './local-tools.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
    readonly additionalProperties: false;
  };
  readonly isReadOnly: boolean;
  /** Returns text or a value to show as JSON. Errors are shown to the model. */
  run(args: Arguments): Promise<unknown>;
}

export interface McpNeeds {
  /** Client of the operator's API. */
  readonly operator: () => Client;
  /** Client of one account. */
  readonly account: () => Client;
}

const CALL = '/admin/v1/calls/{call_uuid}';
const CDR = '/api/v1/Account/{auth_id}/cdr';
const MAX_ROWS = 50;

const string = (description: string) => ({ type: 'string', maxLength: 300, description });
const CALL_UUID = { call_uuid: string('UUID of the call') };
const CAMPAIGN_ID = { campaign_id: string('ID of the campaign') };

function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, object>>,
  run: (args: Arguments) => Promise<unknown>,
  optional: readonly string[] = [],
): McpTool {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    isReadOnly: true,
    run,
  };
}

const text = (args: Arguments, name: string): string => String(args[name] ?? '');

/** All tools. With `allowWrite` false, only those that change nothing. */
export function mcpTools(needs: McpNeeds, allowWrite: boolean): readonly McpTool[] {
  const tools = [...callTools(needs), ...accountTools(needs), ...localTools()];
  if (!allowWrite) return tools;
  return [...tools, ...writingTools(needs).map((one) => ({ ...one, isReadOnly: false }))];
}

function callTools({ operator, account }: McpNeeds): readonly McpTool[] {
  const uuidOf = (args: Arguments) => ({ call_uuid: text(args, 'call_uuid') });
  return [
    tool('list_live_calls', 'Lists live and queued calls.', {}, () =>
      operator().get('/admin/v1/calls'),
    ),
    tool(
      'get_call',
      'Returns the timeline of a live or recent call: signaling, documents, callbacks, streams and warnings.',
      CALL_UUID,
      (args) => operator().get(CALL, { path: uuidOf(args) }),
    ),
    tool(
      'get_ladder',
      'Shows the SIP messages of both legs of a call as a ladder diagram.',
      CALL_UUID,
      async (args) => {
        const path = uuidOf(args);
        const query = { format: 'text' } as const;
        const reply = await operator().file(`${CALL}/messages`, { path, query });
        return (await reply.text()) || 'no SIP messages are stored for this call';
      },
    ),
    tool(
      'list_call_records',
      'Lists call records of the account, newest first, with end cause, quality and cost.',
      {
        search: string('part of a number, call UUID or name'),
        hangup_cause: string('end cause, for example NORMAL_CLEARING'),
        start_date: string('earliest start, YYYY-MM-DD'),
        end_date: string('latest start, YYYY-MM-DD'),
        limit: { type: 'integer', minimum: 1, maximum: MAX_ROWS, description: 'rows, default 20' },
      },
      ({ limit = 20, ...filters }) =>
        account().get(CDR, {
          query: { ...(filters as Record<string, string>), per_page: Number(limit) },
        }),
      ['search', 'hangup_cause', 'start_date', 'end_date', 'limit'],
    ),
    tool(
      'get_call_record',
      'Returns a call record: why, when and by whom the call ended, its streams, quality and charges.',
      CALL_UUID,
      (args) => account().get(`${CDR}/{call_uuid}`, { path: uuidOf(args) }),
    ),
    tool('get_alarms', 'Lists current faults of the service.', {}, () =>
      operator().get('/admin/v1/alarms'),
    ),
    tool('get_status', 'Returns the state of the service.', {}, () =>
      operator().get('/admin/v1/status'),
    ),
  ];
}

function accountTools({ account }: McpNeeds): readonly McpTool[] {
  const idOf = (args: Arguments) => ({ campaign_id: text(args, 'campaign_id') });
  return [
    tool(
      'get_balance',
      'Returns the balance of the account in a currency.',
      { currency: string('ISO 4217 code, for example USD') },
      (args) =>
        account().get('/api/v1/Account/{auth_id}/balance/{currency}', {
          path: { currency: text(args, 'currency') },
        }),
    ),
    tool('list_campaigns', 'Lists the campaigns of the account.', {}, () =>
      account().get(CAMPAIGNS, { query: { limit: MAX_ROWS } }),
    ),
    tool('get_campaign', 'Returns a campaign with its progress.', CAMPAIGN_ID, (args) =>
      account().get(CAMPAIGN, { path: idOf(args) }),
    ),
  ];
}

function localTools(): readonly McpTool[] {
  return [
    tool(
      'validate_document',
      'Checks an answer XML document, and returns its elements or the line, column and fault.',
      { xml: { type: 'string', maxLength: 262_144, description: 'the document' } },
      async (args) => validateDocument(text(args, 'xml')),
    ),
    tool(
      'test_stream',
      "Connects to a bot's WebSocket as the service would, speaks and listens, and reports faults. Places no call.",
      {
        url: string('ws:// or wss:// URL of the bot'),
        seconds: { type: 'number', minimum: 1, maximum: 60, description: 'duration, default 10' },
      },
      (args) => streamReport(text(args, 'url'), Number(args['seconds'] ?? 10)),
      ['seconds'],
    ),
  ];
}

function writingTools({ operator, account }: McpNeeds): readonly McpTool[] {
  const path = (args: Arguments) => ({ path: { campaign_id: text(args, 'campaign_id') } });
  return [
    tool('hang_up_call', 'Hangs up a live call.', CALL_UUID, async (args) => {
      await operator().delete(CALL, { path: { call_uuid: text(args, 'call_uuid') } });
      return 'the call was hung up';
    }),
    tool('pause_campaign', 'Pauses a campaign: places no new calls.', CAMPAIGN_ID, (args) =>
      account().post(`${CAMPAIGN}/pause`, path(args)),
    ),
    tool('resume_campaign', 'Resumes a paused campaign.', CAMPAIGN_ID, (args) =>
      account().post(`${CAMPAIGN}/resume`, path(args)),
    ),
  ];
}
