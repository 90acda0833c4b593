import { wallUs } from '../../../../base/clock.ts';
import type { AccountId, RecordingId } from '../../../../base/ids.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import type { Access } from '../../../../domain/account/account.ts';
import { agesWindow } from '../../../../domain/recording/recording.ts';
import type { RecordingFilter } from '../../../../domain/recording/types.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type Failure, failure, INVALID_TOKEN, NOT_ACTIVE } from '../../http/failure.ts';
import { fileReply } from '../../http/file.ts';
import { both, type Range, timeRangeOf, timeRangeQuery } from '../../http/range.ts';
import { type AccountInput, accountRoute, linkRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  apiId,
  callUuidOf,
  hinted,
  oneOf,
  recordingIdOf,
  recordingIdText,
  type Static,
  sliceQuery,
  Type,
  uuidFilter,
} from '../../http/schema.ts';
import { createSignedLinks } from '../../links.ts';
import { answered, refused } from '../../refusal.ts';
import { MetaSchema, metaOf, sliceOf } from '../../wire/list.ts';
import { RecordingSchema, showRecording } from '../../wire/recording.ts';
import { listedSubAccount } from '../provisioning/scope.ts';

const ROOT = '/api/v1/Account/{auth_id}/Recording/';
/** A sub-account sees recordings of its own calls; recordings of rooms belong to the main account. */
const common = { tag: 'Recordings', errors: 'resource' } as const;
const params = Type.Object({ auth_id: accountIdText(), recording_id: recordingIdText() });

const text = () => Type.Optional(Type.String());
const filtersOf = (name: typeof text) => ({
  call_uuid: uuidFilter(),
  from_number: name(),
  to_number: name(),
  conference_name: name(),
  conference_uuid: uuidFilter(),
  subaccount: Type.Optional(accountIdText()),
  mpc_name: name(),
  mpc_uuid: uuidFilter(),
  ...timeRangeQuery('add_time'),
  recording_storage_duration: text(),
  recording_storage_duration__gt: text(),
  recording_storage_duration__gte: text(),
  recording_storage_duration__lt: text(),
  recording_storage_duration__lte: text(),
});
const filters = filtersOf(text);
const FilterQuery = Type.Object(filters);
type Query = Static<typeof FilterQuery>;

/** Combines the window of `add_time` with a maximum age in days. */
function addedWindow(
  query: Query,
  nowUs: number,
): Result<Pick<RecordingFilter, 'addedFromUs' | 'addedToUs'>, Failure> {
  const added = timeRangeOf(query, 'add_time');
  if (!added.ok) return added;
  const ranges: Range[] = [added.value];
  const days = {
    exact: query.recording_storage_duration,
    gt: query.recording_storage_duration__gt,
    gte: query.recording_storage_duration__gte,
    lt: query.recording_storage_duration__lt,
    lte: query.recording_storage_duration__lte,
  };
  if (Object.values(days).some((value) => value !== undefined)) {
    const window = agesWindow(days, nowUs);
    if (!window.ok) return err(failure(400, window.error));
    ranges.push({ from: window.value.fromUs, to: window.value.toUs });
  }
  const { from, to } = both(ranges);
  return ok({ addedFromUs: from, addedToUs: to });
}

/** Converts the filters. The main account may restrict the list to one of its sub-accounts. */
function filterOf(
  { accountId, subAccount }: Pick<AccountInput, 'accountId' | 'subAccount'>,
  query: Query,
  nowUs: number,
): Result<RecordingFilter, Failure> {
  const window = addedWindow(query, nowUs);
  if (!window.ok) return window;
  const whose = listedSubAccount(subAccount, ['subaccount', query.subaccount]);
  if (!whose.ok) return whose;
  return ok({
    accountId,
    subAccount: whose.value,
    ...window.value,
    callUuid: query.call_uuid === undefined ? undefined : callUuidOf(query.call_uuid),
    fromNumber: query.from_number,
    toNumber: query.to_number,
    // A multi-party call appears as a conference here (spec: export, conference_name).
    conferenceName: query.conference_name ?? query.mpc_name,
    conferenceUuid: (query.conference_uuid ?? query.mpc_uuid)?.toLowerCase(),
  });
}

const listRecordings = accountRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List recordings, latest first',
  params: Type.Object({ auth_id: accountIdText() }),
  query: Type.Object({ ...sliceQuery, ...filters }),
  reply: Type.Object({ api_id: apiId(), meta: MetaSchema, objects: Type.Array(RecordingSchema) }),
  async run({ recordings, settings, clock }, input) {
    const { query, access, apiId: id } = input;
    const nowUs = wallUs(clock);
    const filter = filterOf(input, query, nowUs);
    if (!filter.ok) return filter;
    const slice = sliceOf(query);
    const page = await recordings.list(filter.value, slice);
    const { authId } = access.account;
    const context = { publicUrl: settings.publicUrl, nowUs, authId };
    return ok({
      api_id: id,
      meta: metaOf(page, slice, `/v1/Account/${authId}/Recording/`, query),
      objects: page.items.map((recording) => showRecording(recording, context)),
    });
  },
});

const getRecording = accountRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}{recording_id}/`,
  summary: 'Get a recording',
  params,
  reply: RecordingSchema,
  async run({ recordings, settings, clock }, input) {
    const { accountId, subAccount, params: path, access, apiId: id } = input;
    const context = {
      publicUrl: settings.publicUrl,
      nowUs: wallUs(clock),
      authId: access.account.authId,
    };
    return answered(
      await recordings.get(accountId, recordingIdOf(path.recording_id), subAccount),
      (recording) => ({ api_id: id, ...showRecording(recording, context) }),
    );
  },
});

const deleteRecording = accountRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}{recording_id}/`,
  summary: 'Delete a recording and its file',
  status: 204,
  params,
  run: async ({ recordings }, { accountId, subAccount, params: path }) =>
    answered(
      await recordings.remove(accountId, recordingIdOf(path.recording_id), subAccount),
      () => undefined,
    ),
});

/** An empty value, or null of a variable that is not set, would match the recordings of conferences, which have no numbers. */
const BulkFilters = Type.Object({
  ...filtersOf(() => Type.Optional(hinted(Type.String({ minLength: 1 }), 'must not be empty'))),
  recording_format: Type.Optional(oneOf(['mp3', 'wav'])),
  recording_id: uuidFilter<RecordingId>(),
});

/**
 * Clients send the filters in the query or the body (dialect §3.7). At least one is required; otherwise all recordings would
 * be deleted.
 */
const deleteRecordings = accountRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}BulkDelete/`,
  longRunning: true,
  filtersInBody: true,
  summary:
    'Delete all recordings that match the filters, and their files. At least one filter is required',
  params: Type.Object({ auth_id: accountIdText() }),
  query: BulkFilters,
  body: BulkFilters,
  reply: Type.Object({ api_id: apiId(), message: Type.String(), deleted: Type.Integer() }),
  async run({ recordings, clock }, input) {
    const query = { ...input.query, ...input.body };
    if (!Object.keys(BulkFilters.properties).some((name) => name in query)) {
      return err(failure(400, 'at least one filter is required'));
    }
    const filter = filterOf(input, query, wallUs(clock));
    if (!filter.ok) return filter;
    const deleted = await recordings.removeAll({
      ...filter.value,
      format: query.recording_format,
      recordingId: query.recording_id && recordingIdOf(query.recording_id),
    });
    return ok({ api_id: input.apiId, message: 'deleted', deleted });
  },
});

const subAccountOf = (access: Access | undefined): AccountId | undefined =>
  access?.account.parentAuthId === undefined ? undefined : access.account.authId;

const isActive = async (accounts: RouteNeeds['accounts'], subAccount: AccountId | undefined) =>
  subAccount === undefined || (await accounts.get(subAccount))?.status === 'active';

const linkParams = Type.Object({
  auth_id: accountIdText(),
  recording_id: recordingIdText(),
  format: Type.String({ description: 'mp3 or wav' }),
});

const downloadRecording = linkRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}{recording_id}.{format}`,
  alsoRefuses: [416],
  summary: 'Download the audio file, with credentials or a signed link',
  params: linkParams,
  query: Type.Object({ exp: text(), sig: text() }),
  produces: 'audio/mpeg',
  async run(needs, { access, params: path, query, url, headers }) {
    const { accounts, recordings, settings, clock } = needs;
    const links = createSignedLinks(settings, clock);
    if (access === undefined && !links.opens(url, query)) return err(INVALID_TOKEN);
    const accountId = access?.owner.authId ?? path.auth_id;
    const found = await recordings.get(
      accountId,
      recordingIdOf(path.recording_id),
      subAccountOf(access),
    );
    if (!found.ok) return refused(found.error);
    // Refuses a signed link if the sub-account of the call is not active.
    if (access === undefined && !(await isActive(accounts, found.value.subAccount))) {
      return err(NOT_ACTIVE);
    }
    if (found.value.format !== path.format) return refused({ kind: 'unknownRecording' });
    const range = typeof headers['range'] === 'string' ? headers['range'] : undefined;
    const { file } = found.value;
    const elsewhere = needs.recordingObjects && {
      objects: needs.recordingObjects.objects,
      key: needs.recordingObjects.keyOf(file),
    };
    return fileReply({ folder: settings.recordingsFolder, file, range, elsewhere });
  },
});

export const recordingRoutes: readonly Route[] = [
  listRecordings,
  downloadRecording,
  getRecording,
  deleteRecordings,
  deleteRecording,
];
