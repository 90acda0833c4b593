/** Routes for the personal data of one telephone number in all accounts. */
import { Readable } from 'node:stream';
import { ok } from '../../../base/result.ts';
import type { PersonalDataItem } from '../../../domain/privacy/privacy.ts';
import type { RouteNeeds } from '../deps.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { Type } from '../http/schema.ts';
import { e164Digits, e164Field } from '../http/values.ts';
import { createSignedLinks, type SignedLinks } from '../links.ts';
import { answered } from '../refusal.ts';
import { showLogEntry } from '../wire/call.ts';
import { showContact } from '../wire/campaign-contact.ts';
import { showCdr } from '../wire/cdr.ts';
import { mapped, rowLines } from '../wire/rows.ts';

const ROOT = '/admin/v1/personal-data';
const common = { tag: 'Operator: personal data', errors: 'admin', longRunning: true } as const;
// The audit log keeps paths without queries, so that it does not contain the number.
const query = Type.Object({ number: e164Field() });
const digits = (number: string): string => e164Digits(number) ?? number;

const counts = {
  calls: Type.Integer(),
  recordings: Type.Integer(),
  contacts: Type.Integer({ description: 'contacts of campaigns' }),
  mentions: Type.Integer({
    description: 'requests to customers, audit entries and other records with the number in a text',
  }),
};

const find = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'Count the records that contain a telephone number, in all accounts',
  query,
  reply: Type.Object({
    ...counts,
    transcriptions: Type.Integer(),
    running_calls: Type.Integer(),
    do_not_call_lists: Type.Integer({ description: 'lists with this number; erasure keeps them' }),
  }),
  async run({ personalData }, { query: { number } }) {
    const found = await personalData.find(digits(number));
    const { runningCalls, doNotCallLists, ...rest } = found;
    return ok({ ...rest, running_calls: runningCalls, do_not_call_lists: doNotCallLists });
  },
});

const exportAll = adminRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}/export`,
  summary:
    'Export the records of a telephone number, one JSON object per line, with links to recordings',
  query,
  produces: 'application/x-ndjson',
  async run({ personalData, settings, clock }, { query: { number } }) {
    const links = createSignedLinks(settings, clock);
    const rows = mapped(personalData.export(digits(number)), (item) => shown(item, links));
    return ok({
      contentType: 'application/x-ndjson; charset=utf-8',
      body: Readable.from(rowLines({ columns: [], rows }, 'ndjson')),
    });
  },
});

const erase = adminRoute({
  ...common,
  method: 'DELETE',
  path: ROOT,
  alsoRefuses: [409],
  summary:
    'Erase a telephone number from all records: recordings, transcriptions, timelines and contacts. Times and amounts of calls remain',
  query,
  reply: Type.Object(counts),
  run: async ({ personalData }: Pick<RouteNeeds, 'personalData'>, { query: { number } }) =>
    answered(await personalData.erase(digits(number)), (erased) => erased),
});

function shown(item: PersonalDataItem, links: SignedLinks): Readonly<Record<string, unknown>> {
  switch (item.kind) {
    case 'call': {
      const timeline = item.timeline?.lines.map(showLogEntry) ?? [];
      return { type: 'call', ...showCdr(item.record), timeline };
    }
    case 'recording': {
      const { recordingId, accountId, callUuid, fromNumber, toNumber, format } = item.recording;
      return {
        type: 'recording',
        recording_id: recordingId,
        account_id: accountId,
        call_uuid: callUuid ?? null,
        from_number: fromNumber,
        to_number: toNumber,
        format,
        url: links.toRecording(item.recording),
        transcriptions: item.transcriptions.map(({ text }) => text),
      };
    }
    case 'contact': {
      const { accountId, campaignId, contact } = item.contact;
      return {
        type: 'contact',
        account_id: accountId,
        campaign_id: campaignId,
        ...showContact(contact),
      };
    }
    case 'mention':
      return { type: item.mention.place, ...item.mention.texts };
  }
}

export const personalDataRoutes: readonly Route[] = [find, exportAll, erase];
