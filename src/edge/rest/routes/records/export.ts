import { wallUs } from '../../../../base/clock.ts';
import { err, ok } from '../../../../base/result.ts';
import { isoMicros, isoOrNull } from '../../../../base/time-format.ts';
import { EXPORT_ARCHIVE_DAYS } from '../../../../domain/recording/recording.ts';
import type { ExportJob } from '../../../../domain/recording/types.ts';
import type { RouteNeeds } from '../../deps.ts';
import { INVALID_TOKEN, notFound } from '../../http/failure.ts';
import { fileReply } from '../../http/file.ts';
import { accountRoute, linkRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  apiId,
  callUuidOf,
  callUuidText,
  hinted,
  nullableText,
  nullableTimestamp,
  oneOf,
  recordingIdOf,
  recordingIdText,
  type Static,
  sliceQuery,
  Type,
  timestamp,
} from '../../http/schema.ts';
import { createSignedLinks, EXPORT_LINK_MS } from '../../links.ts';
import { answered } from '../../refusal.ts';
import { MetaSchema, metaOf, sliceOf } from '../../wire/list.ts';

const ROOT = '/api/v1/Account/{auth_id}/export/recording/';
const common = { tag: 'Recordings', errors: 'export' } as const;
const RECIPIENTS_MAX = 50;
const DAY_US = 86_400_000_000;

const text = (description: string) => Type.Optional(Type.String({ description }));
const DATE_TIME = 'YYYY-MM-DD HH:MM:SS, UTC';

const requestExport = accountRoute({
  ...common,
  mainAccountOnly: true,
  filtersInBody: true,
  method: 'POST',
  path: ROOT,
  summary: 'Queue a bulk export of recordings. Every recipient receives the link by mail',
  status: 202,
  params: Type.Object({ auth_id: accountIdText() }),
  body: Type.Object({
    recipient: hinted(
      Type.Object({
        customer_account: hinted(
          Type.Array(Type.String(), { minItems: 1, maxItems: RECIPIENTS_MAX }),
          `must be a list of 1 to ${RECIPIENTS_MAX} email addresses`,
        ),
      }),
      'must hold customer_account',
    ),
    from: text(`${DATE_TIME}; default 7 days ago`),
    to: text(`${DATE_TIME}; default now`),
    recording_storage_duration: text('exactly N days old'),
    recording_storage_duration__gte: text('N days old or older'),
    recording_storage_duration__gt: text('older than N days'),
    recording_storage_duration__lte: text('N days old or newer'),
    recording_storage_duration__lt: text('newer than N days'),
    from_number: text('allowed only for ranges of up to 30 days, like the filters below'),
    to_number: text('destination number'),
    call_uuid: Type.Optional(
      callUuidText({ description: 'also a conference or multi-party-call uuid' }),
    ),
    conference_name: text('also a multi-party-call name'),
    recording_format: text('mp3 or wav'),
    recording_id: Type.Optional(recordingIdText({ description: 'one recording' })),
  }),
  reply: Type.Object({ api_id: apiId(), status: Type.String() }),
  async run({ recordings, onExportQueued }, { accountId, body, apiId: id }) {
    const queued = await recordings.requestExport({
      accountId,
      recipients: body.recipient.customer_account,
      from: body.from,
      to: body.to,
      storageDuration: {
        exact: body.recording_storage_duration,
        gte: body.recording_storage_duration__gte,
        gt: body.recording_storage_duration__gt,
        lte: body.recording_storage_duration__lte,
        lt: body.recording_storage_duration__lt,
      },
      fromNumber: body.from_number,
      toNumber: body.to_number,
      callUuid: body.call_uuid && callUuidOf(body.call_uuid),
      conferenceName: body.conference_name,
      format: body.recording_format,
      recordingId: body.recording_id && recordingIdOf(body.recording_id),
    });
    if (queued.ok) onExportQueued();
    return answered(queued, () => ({ api_id: id, status: 'success' }));
  },
});

const ExportSchema = Type.Object({
  export_id: Type.String(),
  state: Type.String({ description: 'queued, running, done or failed' }),
  progress: Type.Integer({ description: 'per cent' }),
  recordings: Type.Integer({ description: 'number of recordings in the archive so far' }),
  attempts: Type.Integer(),
  link: nullableText(),
  link_expires_at: nullableTimestamp(),
  error: nullableText(),
  recipient: Type.Object({ customer_account: Type.Array(Type.String()) }),
  from: nullableTimestamp(),
  to: nullableTimestamp(),
  created_at: timestamp(),
  updated_at: timestamp(),
});

async function showExport(
  { recordings, settings, clock }: RouteNeeds,
  job: ExportJob,
): Promise<Static<typeof ExportSchema>> {
  const { filter, updatedUs } = job;
  const nowUs = wallUs(clock);
  const isRetained = nowUs < updatedUs + EXPORT_ARCHIVE_DAYS * DAY_US;
  const hasFile = job.status === 'done' && job.file !== undefined && isRetained;
  return {
    export_id: job.exportId,
    state: job.status,
    progress: await progressOf(recordings, job),
    recordings: job.recordings,
    attempts: job.attempts,
    link: hasFile ? createSignedLinks(settings, clock).toExport(job.accountId, job.exportId) : null,
    link_expires_at: hasFile ? isoMicros(Math.round(nowUs) + EXPORT_LINK_MS * 1000) : null,
    error: job.error ?? null,
    recipient: { customer_account: [...job.recipients] },
    from: isoOrNull(filter.addedFromUs),
    to: isoOrNull(filter.addedToUs),
    created_at: isoMicros(job.createdUs),
    updated_at: isoMicros(updatedUs),
  };
}

/** Returns the share of recordings in the archive, in per cent. 100 only after the mails are sent. */
async function progressOf(recordings: RouteNeeds['recordings'], job: ExportJob): Promise<number> {
  if (job.status === 'done') return 100;
  if (job.recordings === 0) return 0;
  const { total } = await recordings.list(job.filter, { limit: 1, offset: 0 });
  return Math.min(99, Math.floor((job.recordings * 100) / Math.max(1, total)));
}

const listExports = accountRoute({
  ...common,
  mainAccountOnly: true,
  method: 'GET',
  path: ROOT,
  summary: 'List exports, newest first, with state, progress, and download link when done',
  params: Type.Object({ auth_id: accountIdText() }),
  query: Type.Object({
    ...sliceQuery,
    state: Type.Optional(oneOf(['queued', 'running', 'done', 'failed'])),
  }),
  reply: Type.Object({ api_id: apiId(), meta: MetaSchema, objects: Type.Array(ExportSchema) }),
  async run(needs, { accountId, query, apiId: id }) {
    const slice = sliceOf(query);
    const page = await needs.recordings.listExports({ accountId, status: query.state }, slice);
    return ok({
      api_id: id,
      meta: metaOf(page, slice, `/v1/Account/${accountId}/export/recording/`, query),
      objects: await Promise.all(page.items.map((job) => showExport(needs, job))),
    });
  },
});

const getExport = accountRoute({
  ...common,
  mainAccountOnly: true,
  method: 'GET',
  path: `${ROOT}{export_id}/`,
  summary: 'Get an export',
  params: Type.Object({ auth_id: accountIdText(), export_id: Type.String() }),
  reply: Type.Object({ api_id: apiId(), ...ExportSchema.properties }),
  async run(needs, { accountId, params, apiId: id }) {
    const job = await needs.recordings.getExport(params.export_id.toLowerCase());
    if (job?.accountId !== accountId) return err(notFound('export'));
    return ok({ api_id: id, ...(await showExport(needs, job)) });
  },
});

const downloadExport = linkRoute({
  ...common,
  mainAccountOnly: true,
  method: 'GET',
  path: `${ROOT}{export_id}.zip`,
  alsoRefuses: [416],
  summary: 'Download the archive of an export, with credentials or the mailed link',
  params: Type.Object({ auth_id: accountIdText(), export_id: Type.String() }),
  query: Type.Object({ exp: Type.Optional(Type.String()), sig: Type.Optional(Type.String()) }),
  produces: 'application/zip',
  async run({ recordings, settings, clock }, { access, params, query, url, headers }) {
    const links = createSignedLinks(settings, clock);
    if (access === undefined && !links.opens(url, query)) return err(INVALID_TOKEN);
    const accountId = access?.owner.authId ?? params.auth_id;
    const job = await recordings.getExport(params.export_id.toLowerCase());
    if (job?.accountId !== accountId || job.file === undefined) return err(notFound('export'));
    return fileReply({
      folder: settings.exportsFolder,
      file: job.file,
      range: typeof headers['range'] === 'string' ? headers['range'] : undefined,
      downloadName: 'recordings.zip',
    });
  },
});

export const exportRoutes: readonly Route[] = [
  requestExport,
  listExports,
  downloadExport,
  getExport,
];
