import { Readable } from 'node:stream';
import { type CsvCell, csvLine } from '../../../../base/csv.ts';
import { assert } from '../../../../base/errors.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import type { CampaignRefusal } from '../../../../domain/campaign/types.ts';
import { incomingList } from '../../contacts/body.ts';
import { uploadContacts } from '../../contacts/upload.ts';
import { accountRoute, type RawReply, type Route, uploadRoute } from '../../http/route.ts';
import {
  accountIdText,
  callUuidOf,
  campaignIdText,
  oneOf,
  sliceQuery,
  Type,
} from '../../http/schema.ts';
import { searchedNumber } from '../../http/values.ts';
import { answered, refused } from '../../refusal.ts';
import { CONTACT_STATUSES } from '../../wire/campaign.ts';
import {
  AttemptSchema,
  ContactSchema,
  RESULT_COLUMNS,
  resultCells,
  showAttempt,
  showContact,
  showUpload,
  UploadReply,
} from '../../wire/campaign-contact.ts';
import { pageQuery, pageSlice, sliceOf } from '../../wire/list.ts';
import { ACCOUNTS, campaignParams, common, ownerOf } from './scope.ts';

const CALLS_PER_PAGE = 20;
const CALLS_PER_PAGE_MAX = 200;
/** Number of rows per read of a download. */
const CHUNK_ROWS = 500;
const SEARCH_MAX = 32;

const uploadList = (root: string): Route =>
  uploadRoute({
    ...common,
    method: 'POST',
    path: `${root}/upload`,
    summary:
      'Upload contacts as CSV (form field file, or text/csv) or as JSON rows. Columns: to, from, answer_url, hangup_url; others are SIP headers. Replaces the previous list.',
    longRunning: true,
    params: campaignParams,
    reply: UploadReply,
    async run({ campaigns, settings }, input) {
      const { campaign_id: id } = input.params;
      const uploaded = await uploadContacts(campaigns, ownerOf(input), id, () =>
        incomingList(input.body, input.headers, settings.uploadLimitBytes),
      );
      if (!uploaded.ok) return uploaded;
      const { summary, headers, bad } = uploaded.value;
      return ok(showUpload(summary, headers, bad));
    },
  });

const csvFile = (name: string, lines: AsyncGenerator<string>): RawReply => ({
  contentType: 'text/csv; charset=utf-8',
  headers: { 'content-disposition': `attachment; filename="${name}"` },
  body: Readable.from(lines),
});

/** Reads the next rows after row number `after`. */
type Chunk<T> = (after: number) => Promise<Result<readonly T[], CampaignRefusal>>;

/** Yields CSV lines. The first chunk is read earlier, so that an unknown campaign is a 404 and not a broken download. */
async function* csvLines<T>(
  columns: readonly string[],
  first: readonly T[],
  next: Chunk<T>,
  rowOf: (item: T) => { readonly rowNumber: number; readonly cells: readonly CsvCell[] },
): AsyncGenerator<string> {
  yield csvLine(columns);
  let items = first;
  while (items.length > 0) {
    const rows = items.map(rowOf);
    yield rows.map(({ cells }) => csvLine(cells)).join('');
    if (items.length < CHUNK_ROWS) return;
    const more = await next(rows.at(-1)?.rowNumber ?? 0);
    assert(more.ok, 'a campaign was deleted during its download');
    items = more.value;
  }
}

const downloadBadRows = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${root}/upload/errors`,
    summary: 'Download the rejected rows of the list with row number and reason, as CSV',
    params: campaignParams,
    produces: 'text/csv',
    async run({ campaigns }, input) {
      const { campaign_id: id } = input.params;
      const next = (after: number) => campaigns.badRows(ownerOf(input), id, after, CHUNK_ROWS);
      const first = await next(0);
      if (!first.ok) return refused(first.error);
      const lines = csvLines(['row_number', 'reason'], first.value, next, (row) => ({
        rowNumber: row.rowNumber,
        cells: [row.rowNumber, row.reason],
      }));
      return ok(csvFile('errors.csv', lines));
    },
  });

const downloadResults = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${root}/results`,
    summary: 'Download the current or final result of every contact, as CSV',
    params: campaignParams,
    produces: 'text/csv',
    async run({ campaigns }, input) {
      const { campaign_id: id } = input.params;
      const next = (after: number) => campaigns.results(ownerOf(input), id, after, CHUNK_ROWS);
      const first = await next(0);
      if (!first.ok) return refused(first.error);
      const lines = csvLines(RESULT_COLUMNS, first.value, next, (result) => ({
        rowNumber: result.contact.rowNumber,
        cells: resultCells(result),
      }));
      return ok(csvFile('results.csv', lines));
    },
  });

const listContacts = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${root}/contacts`,
    summary: 'List the contacts and their statuses, in the order of the list',
    params: campaignParams,
    query: Type.Object({
      ...sliceQuery,
      status: Type.Optional(oneOf(CONTACT_STATUSES)),
      search: Type.Optional(
        Type.String({ maxLength: SEARCH_MAX, description: 'part of the number' }),
      ),
    }),
    reply: Type.Object({ objects: Type.Array(ContactSchema), total: Type.Integer() }),
    async run({ campaigns }, input) {
      const { status, search } = input.query;
      const filter = { status, search: searchedNumber(search) };
      const { campaign_id: id } = input.params;
      return answered(
        await campaigns.contacts(ownerOf(input), id, filter, sliceOf(input.query)),
        ({ items, total }) => ({ objects: items.map(showContact), total }),
      );
    },
  });

const listCalls = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${root}/calls`,
    summary: 'List all attempts, latest first, including those without a call record',
    params: campaignParams,
    query: Type.Object(pageQuery(CALLS_PER_PAGE, CALLS_PER_PAGE_MAX)),
    reply: Type.Object({
      objects: Type.Array(AttemptSchema),
      total: Type.Integer(),
      page: Type.Integer(),
      per_page: Type.Integer(),
      total_pages: Type.Integer(),
    }),
    async run({ campaigns }, input) {
      const slice = pageSlice(input.query, CALLS_PER_PAGE);
      const { campaign_id: id } = input.params;
      return answered(await campaigns.attempts(ownerOf(input), id, slice), ({ items, total }) => ({
        objects: items.map(showAttempt),
        total,
        page: slice.page,
        per_page: slice.limit,
        total_pages: Math.ceil(total / slice.limit),
      }));
    },
  });

const callParams = Type.Object({
  auth_id: accountIdText(),
  campaign_id: campaignIdText(),
  call_uuid: Type.String(),
});

const lookUpCall = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${root}/call-lookup/{call_uuid}`,
    summary: 'Get the campaign and contact of a call',
    params: callParams,
    reply: AttemptSchema,
    async run({ campaigns }, input) {
      const { campaign_id: id, call_uuid: callUuid } = input.params;
      const found = await campaigns.attempt(ownerOf(input), callUuidOf(callUuid));
      // A call of another campaign counts as unknown.
      const own = found.ok && found.value.campaignId !== id ? UNKNOWN_CALL : found;
      return answered(own, showAttempt);
    },
  });

const lookUpAnyCall = (account: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${account}/call-lookup/{call_uuid}`,
    summary: 'Get the campaign and contact of a call, for any campaign',
    params: Type.Object({ auth_id: accountIdText(), call_uuid: Type.String() }),
    reply: AttemptSchema,
    run: async ({ campaigns }, input) => {
      const callUuid = callUuidOf(input.params.call_uuid);
      return answered(await campaigns.attempt(ownerOf(input), callUuid), showAttempt);
    },
  });

const UNKNOWN_CALL = err({ kind: 'unknownAttempt' } as const);

export const contactRoutes: readonly Route[] = ACCOUNTS.flatMap((account) => {
  const root = `${account}/campaigns/{campaign_id}`;
  return [
    uploadList(root),
    downloadBadRows(root),
    listContacts(root),
    listCalls(root),
    downloadResults(root),
    lookUpCall(root),
    lookUpAnyCall(account),
  ];
});
