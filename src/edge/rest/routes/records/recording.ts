import { err, ok, type Result } from '../../../../base/result.ts';
import { durationWindow } from '../../../../domain/recording/recording.ts';
import type { RecordingFilter } from '../../../../domain/recording/types.ts';
import { type Failure, failure, INVALID_TOKEN } from '../../http/failure.ts';
import { fileReply } from '../../http/file.ts';
import { accountRoute, linkRoute, type Route } from '../../http/route.ts';
import { apiId, type Static, sliceQuery, Type } from '../../http/schema.ts';
import { windowOf } from '../../http/values.ts';
import { createSignedLinks } from '../../links.ts';
import { answered, refused } from '../../refusal.ts';
import { MetaSchema, metaOf, sliceOf } from '../../wire/list.ts';
import { RecordingSchema, showRecording } from '../../wire/recording.ts';

const ROOT = '/api/v1/Account/{auth_id}/Recording/';
/** Recordings do not say which sub-account's call they are of: they are the main account's. */
const common = { tag: 'Recordings', errors: 'resource', mainAccountOnly: true } as const;
const params = Type.Object({ auth_id: Type.String(), recording_id: Type.String() });

const text = () => Type.Optional(Type.String());
const ListQuery = Type.Object({
  ...sliceQuery,
  call_uuid: text(),
  from_number: text(),
  to_number: text(),
  conference_name: text(),
  conference_uuid: text(),
  add_time__gt: text(),
  add_time__gte: text(),
  add_time__lt: text(),
  add_time__lte: text(),
  recording_storage_duration: text(),
  recording_storage_duration__gt: text(),
  recording_storage_duration__gte: text(),
  recording_storage_duration__lt: text(),
  recording_storage_duration__lte: text(),
});
type Query = Static<typeof ListQuery>;

/** Days old, or a window of `add_time`; days win when both are given. */
function addedWindow(
  query: Query,
  nowUs: number,
): Result<Pick<RecordingFilter, 'addedFromUs' | 'addedToUs'>, Failure> {
  const days = {
    exact: query.recording_storage_duration,
    gt: query.recording_storage_duration__gt,
    gte: query.recording_storage_duration__gte,
    lt: query.recording_storage_duration__lt,
    lte: query.recording_storage_duration__lte,
  };
  if (Object.values(days).some((value) => value !== undefined)) {
    const window = durationWindow(days, nowUs);
    if (!window.ok) return err(failure(400, window.error));
    return ok({ addedFromUs: window.value.fromUs, addedToUs: window.value.toUs });
  }
  const window = windowOf(
    ['add_time', query.add_time__gte ?? query.add_time__gt],
    ['add_time', query.add_time__lte ?? query.add_time__lt],
  );
  if (!window.ok) return window;
  const { fromUs, toUs } = window.value;
  const afterFrom = query.add_time__gte === undefined ? 1 : 0;
  const beforeTo = query.add_time__lte === undefined ? 1 : 0;
  return ok({
    addedFromUs: fromUs === undefined ? undefined : fromUs + afterFrom,
    addedToUs: toUs === undefined ? undefined : toUs - beforeTo,
  });
}

const listRecordings = accountRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List recordings, latest first',
  params: Type.Object({ auth_id: Type.String() }),
  query: ListQuery,
  reply: Type.Object({ api_id: apiId(), meta: MetaSchema, objects: Type.Array(RecordingSchema) }),
  async run({ recordings, settings, clock }, { accountId, query, apiId: id }) {
    const nowMs = clock.wallMs();
    const window = addedWindow(query, Math.round(nowMs * 1000));
    if (!window.ok) return window;
    const slice = sliceOf(query);
    const filter: RecordingFilter = {
      accountId,
      ...window.value,
      callUuid: query.call_uuid,
      fromNumber: query.from_number,
      toNumber: query.to_number,
      conferenceName: query.conference_name,
      conferenceUuid: query.conference_uuid,
    };
    const page = await recordings.list(filter, slice);
    const context = { publicUrl: settings.publicUrl, nowMs };
    return ok({
      api_id: id,
      meta: metaOf(page, slice, `/v1/Account/${accountId}/Recording/`, query),
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
  run: async ({ recordings, settings, clock }, { accountId, params: path, apiId: id }) =>
    answered(await recordings.get(accountId, path.recording_id), (recording) => ({
      api_id: id,
      ...showRecording(recording, { publicUrl: settings.publicUrl, nowMs: clock.wallMs() }),
    })),
});

const deleteRecording = accountRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}{recording_id}/`,
  summary: 'Delete a recording and its file',
  status: 204,
  params,
  run: async ({ recordings }, { accountId, params: path }) =>
    answered(await recordings.remove(accountId, path.recording_id), () => undefined),
});

const linkParams = Type.Object({
  auth_id: Type.String(),
  recording_id: Type.String(),
  format: Type.String({ description: 'mp3 or wav' }),
});

const downloadRecording = linkRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}{recording_id}.{format}`,
  summary: 'The audio file, by credentials or by a signed link',
  params: linkParams,
  query: Type.Object({ exp: text(), sig: text() }),
  produces: 'audio/mpeg',
  async run({ recordings, settings, clock }, { access, params: path, query, url, headers }) {
    const links = createSignedLinks(settings, clock);
    if (access === undefined && !links.opens(url, query)) return err(INVALID_TOKEN);
    const accountId = access?.owner.authId ?? path.auth_id;
    const found = await recordings.get(accountId, path.recording_id);
    if (!found.ok) return refused(found.error);
    if (found.value.format !== path.format) return refused({ kind: 'unknownRecording' });
    const range = typeof headers['range'] === 'string' ? headers['range'] : undefined;
    return fileReply({ folder: settings.recordingsFolder, file: found.value.file, range });
  },
});

export const recordingRoutes: readonly Route[] = [
  listRecordings,
  downloadRecording,
  getRecording,
  deleteRecording,
];
