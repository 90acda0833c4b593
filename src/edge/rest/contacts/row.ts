/** Checks one row of a contact list (CSV or JSON) and converts it to a campaign contact. */
import { err, ok, type Result } from '../../../base/result.ts';
import type { UploadRow } from '../../../domain/campaign/types.ts';
import { headerValueProblem } from '../wire/sip-headers.ts';

/** A cell with the name of its column. */
export interface Cell {
  readonly column: string;
  readonly text: string;
}

/** Columns with a meaning. Every other column is a SIP header of the call (dialect §3.11). */
const KNOWN_COLUMNS = ['to', 'from', 'answer_url', 'hangup_url'] as const;
export type KnownColumn = (typeof KNOWN_COLUMNS)[number];
export const isKnownColumn = (name: string): name is KnownColumn =>
  (KNOWN_COLUMNS as readonly string[]).includes(name);
export type KnownCells = Readonly<Partial<Record<KnownColumn, string>>>;

/** Maximum length of number text: longer than any number with punctuation. */
const NUMBER_TEXT_MAX = 64;
const URL_MAX = 2048;
const HTTP_URL = /^https?:\/\/[^\s/?#]+\S*$/i;

const DAMAGED = 'has an invalid character (U+FFFD): export the list again as UTF-8';
/** Unpaired surrogates would be stored as U+FFFD. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\ufffd');

export const refusedRow = (rowNumber: number, reason: string): UploadRow => ({ rowNumber, reason });

/**
 * Converts a row. `headers`: cells whose names are already checked. The campaign checks numbers, because it knows the
 * account's country.
 */
export function readRow(rowNumber: number, known: KnownCells, headers: readonly Cell[]): UploadRow {
  const refused = (column: string, problem: string) =>
    refusedRow(rowNumber, `${column} ${problem}`);
  for (const [column, text] of Object.entries(known)) {
    if (!isStorable(text)) return refused(column, DAMAGED);
  }
  const to = known.to?.trim() ?? '';
  if (to === '') return refused('to', 'is empty');
  const from = known.from?.trim() ?? '';
  for (const [column, text] of [['to', to] as const, ['from', from] as const]) {
    if (text.length > NUMBER_TEXT_MAX) return refused(column, 'is not a phone number');
  }
  const answerUrl = url(known.answer_url);
  if (!answerUrl.ok) return refused('answer_url', answerUrl.error);
  const hangupUrl = url(known.hangup_url);
  if (!hangupUrl.ok) return refused('hangup_url', hangupUrl.error);
  const retained: (readonly [string, string])[] = [];
  for (const { column, text } of headers) {
    const value = text.trim();
    if (value === '') continue;
    const problem = isStorable(value) ? headerValueProblem(value) : DAMAGED;
    if (problem !== undefined) return refused(column, problem);
    retained.push([column, value]);
  }
  return {
    rowNumber,
    to,
    from: from === '' ? undefined : from,
    answerUrl: answerUrl.value,
    hangupUrl: hangupUrl.value,
    headers: retained,
  };
}

function url(text: string | undefined): Result<string | undefined, string> {
  const written = text?.trim();
  if (written === undefined || written === '') return ok(undefined);
  if (written.length > URL_MAX) return err(`has more than ${URL_MAX} characters`);
  return HTTP_URL.test(written) && URL.canParse(written)
    ? ok(written)
    : err('is not an absolute http or https URL');
}
