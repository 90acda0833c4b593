/**
 * Writes an invoice as an A4 PDF. The standard PDF fonts contain Latin letters only. For other letters a font of the machine
 * is embedded (`invoices.font`, or DejaVu Sans if installed); without one they appear as `?`.
 */
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { ShownInvoice } from './invoice.ts';

const MARGIN = 56;
const RIGHT = 595 - MARGIN;
const BOTTOM = 842 - MARGIN;
const ROW = 18;
/** Right edge of the number columns. */
const COUNT_END = 400;

type Line = ShownInvoice['charges'][number];

/** Loads the large PDF library only on first use. */
export async function invoicePdf(invoice: ShownInvoice, font = ''): Promise<Readable> {
  const { default: PDFDocument } = await import('pdfkit');
  const document = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    info: {
      Title: `Invoice ${invoice.invoice_number}`,
      // Uses a fixed date, so that the same invoice always gives the same file.
      CreationDate: new Date(invoice.period_end),
    },
  });
  write(document, invoice, lettering(invoice, font));
  document.end();
  return document as unknown as Readable;
}

type Document = InstanceType<typeof import('pdfkit')>;

/** Fonts, and the replacement of letters that they lack. */
interface Lettering {
  readonly plain: string;
  readonly bold: string;
  readonly shown: (text: string) => string;
}

const DEJAVU = '/usr/share/fonts/truetype/dejavu';
const OTHER_LETTERS = /[^\u0020-\u007e\u00a0-\u00ff€]/u;

function lettering(invoice: ShownInvoice, font: string): Lettering {
  const { seller, account_name: name, charges, credits } = invoice;
  const texts = [...seller, name, ...[...charges, ...credits].map((line) => line.description)];
  const standard = { plain: 'Helvetica', bold: 'Helvetica-Bold', shown: latin };
  if (!texts.some((text) => OTHER_LETTERS.test(text))) return standard;
  const plain = font === '' ? `${DEJAVU}/DejaVuSans.ttf` : font;
  const bold = font === '' ? `${DEJAVU}/DejaVuSans-Bold.ttf` : font;
  if (![plain, bold].every((file) => existsSync(file))) return standard;
  return { plain, bold, shown: (text) => text };
}

function write(document: Document, invoice: ShownInvoice, letters: Lettering): void {
  const { currency, preliminary } = invoice;
  const { plain, bold, shown } = letters;
  const amount = (units: number): string =>
    `${units.toFixed(6).replace(/0{1,4}$/, '')} ${currency}`;
  document
    .font(bold)
    .fontSize(20)
    .text(preliminary ? 'Preliminary invoice' : 'Invoice');
  document.font(plain).fontSize(10).moveDown(0.5);
  for (const line of invoice.seller) document.text(shown(line));
  document.moveDown();
  const last = invoice.period_end.slice(0, 10);
  const head = [
    ['Number', invoice.invoice_number],
    ['Account', `${shown(invoice.account_name)} (${invoice.account_id})`],
    ['Period', `${invoice.period_start.slice(0, 10)} to ${last} (UTC)`],
    ['Balance at the beginning', amount(invoice.opening_balance)],
  ] as const;
  for (const [name, value] of head) row(document, name, '', value);
  const part = (title: string, lines: readonly Line[], total: number): void => {
    document.moveDown();
    document.font(bold);
    row(document, title, 'Count', 'Amount');
    document.font(plain);
    rule(document);
    for (const { description, count, amount: units } of lines)
      row(document, shown(description), String(count), amount(units));
    if (lines.length === 0) row(document, 'None', '', amount(0));
    rule(document);
    document.font(bold);
    row(document, 'Total', '', amount(total));
    document.font(plain);
  };
  part('Charges', invoice.charges, invoice.total_charges);
  part('Payments and credits', invoice.credits, invoice.total_credits);
  document.moveDown();
  document.font(bold);
  row(document, 'Balance at the end', '', amount(invoice.closing_balance));
}

function row(document: Document, name: string, count: string, value: string): void {
  if (document.y + ROW > BOTTOM) document.addPage();
  const { y } = document;
  document.text(name, MARGIN, y, { width: COUNT_END - MARGIN - 80, height: ROW, ellipsis: true });
  if (count !== '') document.text(count, COUNT_END - 80, y, { width: 80, align: 'right' });
  document.text(value, COUNT_END - 120, y, { width: RIGHT - COUNT_END + 120, align: 'right' });
  document.x = MARGIN;
  document.y = y + ROW;
}

function rule(document: Document): void {
  const { y } = document;
  document
    .moveTo(MARGIN, y - 4)
    .lineTo(RIGHT, y - 4)
    .lineWidth(0.5)
    .stroke();
}

const latin = (text: string): string => text.replaceAll(/[^\u0020-\u007e\u00a0-\u00ff€]/gu, '?');
